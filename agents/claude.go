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
		// The first is of 2.1.330, the second of older versions too.
		Alone: []facts.Variable{{Name: "CLAUDE_CODE_SESSION_ATTENDED", Value: "0"},
			{Name: "CLAUDE_CODE_ENTRYPOINT", Value: "sdk-cli"}},
		Events: []facts.Event{
			{Name: "PreToolUse", Before: denyTool, After: "}}"},
			{Name: "PermissionRequest", Before: denyPrompt, After: "}}}"},
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
	maxTool = MaxPayload // a longer name than maxID has an error of its own
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
	if err := foreign(o, c.Name()); err != nil {
		return ev, err
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
	if err := c.call(&ev, o); err != nil {
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
	if kind == Prompted {
		p := c.prompt(ev, o)
		ev.Prompt = &p
	}
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

// call reads what the agent is about to run.
func (c Claude) call(ev *Event, o object) (err error) {
	if err := c.place(&ev.Call, o); err != nil {
		return err
	}
	if ev.Native, err = o.need("tool_name", maxTool); err != nil {
		return err
	}
	raw, ok := o["tool_input"]
	if !ok || !isObject(raw) {
		return errors.New(`"tool_input" is missing or not an object`)
	}
	ev.Content, err = vocabulary(nil).read(&ev.Call, ev.Native, raw)
	return err
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
	ev.Output = outputOf(response)
	return nil
}
