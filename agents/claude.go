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

// Claude is the dialect of Claude Code's command hooks.
//
// PreToolUse is decided. PermissionRequest, which comes when Claude Code is
// about to ask its own user, is decided in the same way and answered in its own
// shape. PostToolUse and PostToolUseFailure report that a call ran. ConfigChange
// asks whether settings that changed during a session are taken. PostToolBatch ends the
// calls of a turn, with those that Claude Code itself refused. The events
// in claudeNotices are answered with silence. Any other event is refused: it
// may be one whose silence permits something.
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

// Bounds of what an agent says of itself, in bytes. All of it is kept, compared and
// written into logs. An id of Claude Code has 36 bytes; a path that Linux takes has less
// than 4096.
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

// claudeForeign are keys that Claude Code does not send and agents with a
// similar dialect do. Their fields do not mean quite the same.
var claudeForeign = [...]struct{ key, agent string }{
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

func (c Claude) decode(payload []byte) (Event, error) {
	o, err := parseObject(payload)
	if err != nil {
		return Event{}, err
	}
	for _, f := range claudeForeign {
		if _, ok := o[f.key]; ok {
			return Event{}, fmt.Errorf("it has the key %q, like one of %s: run the hook with that agent's name in --agent", f.key, f.agent)
		}
	}
	ev := Event{Agent: c.Name()}
	if ev.Name, err = o.need("hook_event_name", maxID); err != nil {
		return Event{}, err
	}
	for _, name := range claudeNotices {
		if ev.Name == name {
			ev.Kind = Notice
			return ev, nil
		}
	}
	if ev.Name == "ConfigChange" {
		if err := c.settings(&ev, o); err != nil {
			return Event{}, err
		}
		ev.Call.Raw = bytes.Clone(payload)
		return ev, nil
	}
	if ev.Name == "PostToolBatch" {
		if err := c.over(&ev, o); err != nil {
			return Event{}, err
		}
		return ev, nil
	}
	kind, ok := claudeKinds[ev.Name]
	if !ok {
		return Event{}, fmt.Errorf("the event %s is not known: take approver out of the hooks of that event", quote(ev.Name))
	}
	if ev.Call, ev.Content, err = c.call(o); err != nil {
		return Event{}, err
	}
	ev.Call.Raw = bytes.Clone(payload)
	if err := o.optional(maxID, map[string]*string{"permission_mode": &ev.Mode, "agent_id": &ev.Subagent, "tool_use_id": &ev.UseID}); err != nil {
		return Event{}, err
	}
	// Without its id, a call that ran cannot be matched to what was decided.
	if ev.UseID == "" && kind != Prompted {
		return Event{}, errors.New(`"tool_use_id" is missing or empty`)
	}
	if kind == Ran {
		if err := c.outcome(&ev, o); err != nil {
			return Event{}, err
		}
	}
	ev.Kind = kind
	return ev, nil
}

// claudeSources are what a ConfigChange may be of. The word is not believed: what
// counts is what stands in the files.
var claudeSources = [...]string{"user_settings", "project_settings", "local_settings", "policy_settings", "skills"}

// settings reads a ConfigChange.
func (c Claude) settings(ev *Event, o object) (err error) {
	ev.Call.Agent = c.Name()
	if ev.Call.Session, err = o.need("session_id", maxID); err != nil {
		return err
	}
	if ev.Call.Dir, err = c.dir(o); err != nil {
		return err
	}
	source, err := o.need("source", maxID)
	if err != nil {
		return err
	}
	if !slices.Contains(claudeSources[:], source) {
		return fmt.Errorf(`"source" is %s, which is not known`, quote(source))
	}
	if ev.Changed, err = o.need("file_path", maxPath); err != nil {
		return err
	}
	if !filepath.IsAbs(ev.Changed) || strings.ContainsRune(ev.Changed, 0) {
		return fmt.Errorf(`"file_path" is %s, not an absolute path`, quote(ev.Changed))
	}
	var transcript string
	if err := o.optional(maxPath, map[string]*string{"transcript_path": &transcript}); err != nil {
		return err
	}
	// It lies in projects/ of the folder with the user's settings, wherever that is.
	if home, _, ok := strings.Cut(transcript, "/projects/"); ok && filepath.IsAbs(home) && !strings.ContainsRune(home, 0) {
		ev.Home = filepath.Clean(home)
	}
	ev.Call.Tool, ev.Call.Paths = ev.Name, []string{ev.Changed}
	ev.Kind = Settings
	return nil
}

// dir reads the folder that the agent works in.
func (Claude) dir(o object) (string, error) {
	dir, err := o.need("cwd", maxPath)
	if err == nil && (!filepath.IsAbs(dir) || strings.ContainsRune(dir, 0)) {
		err = fmt.Errorf(`"cwd" is %s, not an absolute path`, quote(dir))
	}
	return dir, err
}

// outcome reads what became of a call that ran.
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

// claudeOutputOf is the text of a tool's response: both streams of a shell, the
// texts of a list of contents, a string; or else the JSON without what is only
// about the call.
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

func (c Claude) call(o object) (call approver.ToolCall, content Content, err error) {
	call.Agent = c.Name()
	if call.Session, err = o.need("session_id", maxID); err != nil {
		return call, content, err
	}
	if call.Dir, err = c.dir(o); err != nil {
		return call, content, err
	}
	if call.Tool, err = o.need("tool_name", MaxPayload); err != nil {
		return call, content, err
	}
	if !isToolName(call.Tool) {
		return call, content, fmt.Errorf(`"tool_name" is %s: letters, digits and -_.:/@ are expected, at most 256`, quote(call.Tool))
	}
	raw, ok := o["tool_input"]
	if !ok || !isObject(raw) {
		return call, content, errors.New(`"tool_input" is missing or not an object`)
	}
	if !wellFormed(raw) {
		return call, content, errors.New(`"tool_input" has half of a surrogate pair, which is no character`)
	}
	var input object
	if err := json.Unmarshal(raw, &input); err != nil {
		return call, content, fmt.Errorf(`"tool_input": %w`, err)
	}
	call.Args = raw
	if err := fillClaude(&call, input); err != nil {
		return call, content, fmt.Errorf(`"tool_input" of %s: %w`, call.Tool, err)
	}
	return call, claudeContent(call.Tool, input), nil
}

func isToolName(s string) bool {
	for i := range len(s) {
		b := s[i]
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-_.:/@", b) >= 0:
		default:
			return false
		}
	}
	return len(s) <= 256
}

// A role says what an argument is in our words.
type role uint8

const (
	isText role = iota // only checked to be a string
	isCommand
	isPath
	isURL
	isClaim   // a shell tool's description of the call, which does nothing
	isPattern // a file glob: names a place if it leads out of the directory
)

// An argument of a tool. Those that must be there are what makes the call.
type argument struct {
	tools string // names, separated by spaces
	key   string
	role  role
	must  bool
}

// claudeTools are the tools whose arguments are known. An argument that is not
// listed is left to Args.
var claudeTools = [...]argument{
	{"Bash PowerShell Monitor", "command", isCommand, true},
	{"Bash PowerShell Monitor", "description", isClaim, false},
	{"Task Agent", "description", isText, false},
	{"Write Edit MultiEdit Read", "file_path", isPath, true},
	{"Write", "content", isText, true},
	{"Edit", "old_string", isText, true},
	{"Edit", "new_string", isText, true},
	{"NotebookEdit NotebookRead", "notebook_path", isPath, true},
	{"NotebookEdit", "new_source", isText, false},
	{"LS", "path", isPath, true},
	{"Glob Grep", "path", isPath, false},
	{"Glob", "pattern", isPattern, true},
	{"Grep", "pattern", isText, true},
	{"WebFetch", "url", isURL, true},
	{"WebFetch", "prompt", isText, false},
	{"WebSearch", "query", isText, true},
	{"Task Agent", "prompt", isText, true},
}

// commonKeys are read where the tool is not known, as those of an MCP server:
// they can only show more to the rules that judge the call. Their types are the
// server's affair. A description is not among them: to a server it may be an
// argument like any other, so it stays among those.
var commonKeys = [...]argument{
	{key: "command", role: isCommand},
	{key: "cmd", role: isCommand},
	{key: "path", role: isPath},
	{key: "file", role: isPath},
	{key: "file_path", role: isPath},
	{key: "filePath", role: isPath},
	{key: "filename", role: isPath},
	{key: "directory", role: isPath},
	{key: "source", role: isPath},
	{key: "destination", role: isPath},
	{key: "paths", role: isPath},
	{key: "files", role: isPath},
	{key: "url", role: isURL},
	{key: "uri", role: isURL},
	{key: "urls", role: isURL},
}

// fillClaude reads the arguments of a call into command, paths and URLs.
func fillClaude(call *approver.ToolCall, input object) error {
	known := false
	for _, a := range claudeTools {
		if !hasWord(a.tools, call.Tool) {
			continue
		}
		known = true
		value, ok, err := input.text(a.key)
		switch {
		case err != nil:
			return err
		case !ok && a.must:
			return fmt.Errorf("%q is missing", a.key)
		case value == "" && a.must && a.role != isText:
			return fmt.Errorf("%q is empty", a.key)
		}
		if err := a.put(call, value); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	for _, a := range commonKeys {
		values := input.texts(a.key)
		if a.role == isCommand {
			values = input.words(a.key)
		}
		for _, value := range values {
			if err := a.put(call, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasWord(words, word string) bool {
	for w := range strings.SplitSeq(words, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// put files the value under its role. A NUL ends a string for the system and
// not for a rule, so no command, path or URL may have one.
func (a argument) put(call *approver.ToolCall, value string) error {
	if value == "" {
		return nil
	}
	if a.role != isText && a.role != isClaim && strings.ContainsRune(value, 0) {
		return fmt.Errorf("%q contains a NUL character", a.key)
	}
	switch a.role {
	case isCommand:
		if call.Command != "" {
			value = call.Command + "\n" + value
		}
		call.Command = value
	case isPath:
		call.Paths = append(call.Paths, value)
	case isURL:
		call.URLs = append(call.URLs, value)
	case isClaim:
		call.Claimed = value
	case isPattern:
		switch {
		case filepath.IsAbs(value), strings.HasPrefix(value, "~"):
			call.Paths = append(call.Paths, value)
		case strings.Contains(value, ".."):
			for _, from := range call.Paths[:min(len(call.Paths), 1)] { // the folder that is searched
				value = from + "/" + value
			}
			call.Paths = append(call.Paths, value)
		}
	case isText:
	}
	return nil
}
