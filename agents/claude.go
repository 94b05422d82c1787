package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/agents/facts"
)

// Claude is the [Adapter] of Claude Code, for its command hooks.
//
// PreToolUse is decided. PermissionRequest, which comes when Claude Code is about to ask its own
// user, is decided in the same way, and its answer has another form. PostToolUse and
// PostToolUseFailure report that a call ran. ConfigChange asks whether to use settings that changed
// during a session. PostToolBatch ends the calls of a turn, including those that Claude Code itself
// refused. The answer to the events in claudeNotices is empty. Any other event is refused, because
// an empty answer to it may permit something.
type Claude struct{}

// Name returns "claude".
func (Claude) Name() string { return "claude" }

// Facts implements [Adapter].
func (c Claude) Facts() facts.Agent {
	return facts.Agent{
		Name: c.Name(), Patience: claudePatience,
		Shell: "Bash", Described: []string{"Bash", "PowerShell", "Monitor"},
		Returned: []facts.Field{{Key: "tool_response", Short: "null"}, {Key: "error", Short: `"not read"`}},
		Events: []facts.Event{
			{Name: "PreToolUse", Before: denyTool, After: "}}"},
			{Name: "PermissionRequest", After: "}}}",
				Before: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`},
			{Name: "PostToolUse", Before: block, After: "}", Meaning: facts.Report},
			{Name: "PostToolUseFailure", After: "}}", Meaning: facts.Report,
				Before: `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`},
			{Name: "ConfigChange", Before: block, After: "}", Meaning: facts.Settings},
		},
	}
}

// Limits of ids and paths in a payload, in bytes. They are kept, compared and written to logs. An
// id of Claude Code has 36 bytes, and a path on Linux has less than 4096.
const (
	maxID   = 256
	maxPath = 4096
)

// claudeKinds are the events that carry a call.
var claudeKinds = map[string]Kind{
	"PreToolUse":         Decide,
	"PermissionRequest":  Prompted,
	"PostToolUse":        Ran,
	"PostToolUseFailure": Ran,
}

// claudeNotices are the events for which an empty answer changes nothing.
var claudeNotices = [...]string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
	"Notification", "PreCompact", "PostCompact", "Setup", "PermissionDenied", "InstructionsLoaded",
	"CwdChanged", "FileChanged", "TaskCreated", "TaskCompleted", "TeammateIdle",
}

// claudeOtherKeys are keys that Claude Code does not send, but agents with a similar protocol do. The
// meaning of their fields is slightly different.
var claudeOtherKeys = [...]struct{ key, agent string }{
	{"turn_id", "codex"},
	{"tool_call_id", "qwen"},
	{"toolName", "copilot"},
	{"hookName", "cline"},
	{"conversation_id", "cursor"},
	{"agent_action_name", "windsurf"},
}

// Decode reads a hook payload of Claude Code.
func (c Claude) Decode(payload []byte) (Event, error) {
	ev, err := c.decode(payload)
	if err != nil {
		return Event{}, fmt.Errorf("the payload is not what Claude Code sends to a hook: %w", err)
	}
	return ev, nil
}

// Rewrite implements [Adapter].
func (c Claude) Rewrite(payload []byte, args json.RawMessage) (Event, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(payload, &body); err != nil {
		return Event{}, err
	}
	body["tool_input"] = args
	changed, err := json.Marshal(body)
	if err != nil {
		return Event{}, err
	}
	return c.Decode(changed)
}

// decode reads a payload. With an error, the event is not whole.
func (c Claude) decode(payload []byte) (ev Event, err error) {
	o, err := parseObject(payload)
	if err != nil {
		return ev, err
	}
	for _, f := range claudeOtherKeys {
		if _, ok := o[f.key]; ok {
			return ev, fmt.Errorf("it has the key %q, like one of %s: run the hook with that agent's name in --agent",
				f.key, f.agent)
		}
	}
	ev.Agent = c.Name()
	if ev.Name, err = o.need("hook_event_name", maxID); err != nil {
		return ev, err
	}
	kind, ok := claudeKinds[ev.Name]
	switch {
	case ok:
	case slices.Contains(claudeNotices[:], ev.Name):
		ev.Kind = Notice
		return ev, nil
	case ev.Name == "ConfigChange":
		err = c.settings(&ev, o)
		ev.Call.Raw = bytes.Clone(payload)
		return ev, err
	case ev.Name == "PostToolBatch":
		err = c.over(&ev, o)
		return ev, err
	default:
		return ev, fmt.Errorf("the event %s is not known: take approver out of the hooks of that event", quote(ev.Name))
	}
	if ev.Call, ev.Content, err = c.call(o); err != nil {
		return ev, err
	}
	ev.Call.Raw = bytes.Clone(payload)
	if err := o.optional(maxID,
		map[string]*string{"permission_mode": &ev.Mode, "agent_id": &ev.Subagent, "tool_use_id": &ev.UseID}); err != nil {
		return ev, err
	}
	// Without its id, a call that ran cannot be matched to what was decided.
	if ev.UseID == "" && kind != Prompted {
		return ev, errors.New(`"tool_use_id" is missing or empty`)
	}
	ev.Kind = kind
	if kind == Ran {
		err = c.outcome(&ev, o)
	}
	return ev, err
}

// claudeSources are the sources of a ConfigChange. The word is not trusted: only the content of the
// files counts.
var claudeSources = [...]string{"user_settings", "project_settings", "local_settings", "policy_settings", "skills"}

// settings reads a ConfigChange.
func (c Claude) settings(ev *Event, o object) (err error) {
	if err := c.place(&ev.Call, o); err != nil {
		return err
	}
	source, err := o.need("source", maxID)
	if err != nil {
		return err
	}
	if !slices.Contains(claudeSources[:], source) {
		return fmt.Errorf(`"source" is %s, which is not known`, quote(source))
	}
	if ev.Changed, err = o.absolute("file_path"); err != nil {
		return err
	}
	var transcript string
	if err := o.optional(maxPath, map[string]*string{"transcript_path": &transcript}); err != nil {
		return err
	}
	// The transcript is in projects/ in the folder of the user's settings, wherever that is.
	if home, _, ok := strings.Cut(transcript, "/projects/"); ok && filepath.IsAbs(home) && !strings.ContainsRune(home, 0) {
		ev.Home = filepath.Clean(home)
	}
	ev.Call.Tool, ev.Call.Paths = ev.Name, []string{ev.Changed}
	ev.Kind = Settings
	return nil
}

// place reads the session, and the folder that the agent works in.
func (c Claude) place(call *approver.ToolCall, o object) (err error) {
	call.Agent = c.Name()
	if call.Session, err = o.need("session_id", maxID); err != nil {
		return err
	}
	call.Dir, err = o.absolute("cwd")
	return err
}

// outcome reads the result of a call that ran.
func (Claude) outcome(ev *Event, o object) (err error) {
	if ev.Name == "PostToolUseFailure" {
		ev.Failure, err = o.need("error", MaxPayload)
		ev.Output = ev.Failure
		return err
	}
	response, ok := o["tool_response"]
	if !ok {
		return errors.New(`"tool_response" is missing`)
	}
	ev.Response = response
	ev.Output = claudeOutputOf(response)
	return nil
}

// claudeOutputOf returns the text of a tool's response: both streams of a shell, the texts of a
// list of contents, or a string. Of another response it returns the JSON without the duration.
func claudeOutputOf(response json.RawMessage) string {
	var text string
	if json.Unmarshal(response, &text) == nil {
		return text
	}
	var contents []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(response, &contents) == nil {
		for _, c := range contents {
			if c.Text == nil {
				return string(response)
			}
			text += *c.Text + "\n"
		}
		return text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(response, &fields) != nil {
		return string(response)
	}
	var stdout, stderr string
	if raw, ok := fields["stdout"]; ok && json.Unmarshal(raw, &stdout) == nil {
		if raw, ok := fields["stderr"]; !ok || json.Unmarshal(raw, &stderr) == nil {
			return strings.TrimSuffix(stdout+"\n"+stderr, "\n")
		}
	}
	delete(fields, "durationMs")
	delete(fields, "durationSeconds")
	out, err := json.Marshal(fields) // keys in their order
	if err != nil {
		return string(response)
	}
	return string(out)
}
