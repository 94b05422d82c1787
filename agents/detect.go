package agents

import (
	"errors"
	"fmt"
	"strings"
)

// A mark is a sign in the outermost keys of a payload that it is of an agent, whatever the hook's
// flags say. One agent reads the hooks of another: Copilot reads a repository's settings of Claude
// Code, and so does Cursor.
type mark struct {
	agent string
	keys  string // that must all be there, separated by spaces
	not   string // that must not be there
	// event, if set, must be one of these values of hook_event_name, separated by spaces.
	event string
	// path, if set, must be in the path of the transcript.
	path string
}

// marks are tried in this order. None of these keys can be set by a model: they are beside the
// tool's arguments, not in them.
var marks = [...]mark{
	{agent: "windsurf", keys: "agent_action_name"},
	{agent: "cline", keys: "hookName taskId"},
	{agent: "cursor", keys: "hook_event_name conversation_id"},
	{agent: "copilot", keys: "sessionId timestamp", not: "hook_event_name"},
	{agent: "gemini", keys: "hook_event_name",
		event: "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection PreCompress"},
	{agent: "gemini", keys: "hook_event_name timestamp transcript_path", not: "permission_mode",
		event: "SessionStart SessionEnd Notification"},
	{agent: "codex", keys: "hook_event_name turn_id"},
	{agent: "copilot", keys: "hook_event_name timestamp session_id cwd", not: "permission_mode"}, // Qwen Code has a mode
	{agent: "qwen", keys: "hook_event_name timestamp"},
	{agent: "droid", keys: "hook_event_name permission_mode", path: "/.factory/"},
	// goose may say the folder as cwd, too; Crush has no ids of calls, and no event without a tool.
	{agent: "goose", keys: "event session_id tool_call_id", not: "hook_event_name"},
	{agent: "goose", keys: "event session_id matcher_context", not: "hook_event_name"},
	{agent: "goose", keys: "event session_id working_dir", not: "tool_name"},
	{agent: "crush", keys: "event session_id cwd", not: "hook_event_name"},
	{agent: "goose", keys: "event session_id", not: "hook_event_name"},
	{agent: "kiro", keys: "hook_event_name cwd", event: "agentSpawn userPromptSubmit preToolUse postToolUse stop"},
	{agent: "claude", keys: "hook_event_name tool_use_id"},
	{agent: "claude", keys: "hook_event_name prompt_id"},
}

// dialectOf returns the agent whose marks a payload has, or "" if it has none.
func dialectOf(o object) string {
	if agent, ok, err := o.text(pluginKey); ok && err == nil {
		return agent // a plugin of approver's says which agent it is in
	}
	event, _, _ := o.text("hook_event_name")
	transcript, _, _ := o.text("transcript_path")
	for _, m := range marks {
		if o.hasAll(m.keys) && (m.not == "" || !o.hasAll(m.not)) && strings.Contains(transcript, m.path) &&
			(m.event == "" || hasWord(m.event, event)) {
			return m.agent
		}
	}
	return ""
}

// A foreignError says that a payload has the marks of another agent than the one that was to read it.
type foreignError struct{ agent string }

func (e foreignError) Error() string {
	return "it has the keys of one of " + e.agent + ": run the hook with that agent's name in --agent"
}

// foreign returns a [foreignError] if a payload has the marks of another agent.
func foreign(o object, name string) error {
	if other := dialectOf(o); other != "" && other != name {
		return foreignError{other}
	}
	return nil
}

// Read decodes a payload for the agent of the hook's flag, or for the agent whose marks it has. a is
// the adapter that writes the answer, also with an error; it is nil if the flag names no agent.
func Read(flag string, payload []byte) (a Adapter, ev Event, err error) {
	a, ok := For(flag)
	if !ok {
		return nil, Event{}, fmt.Errorf("unknown agent %q: this approver knows %v", flag, Names())
	}
	ev, err = a.Decode(payload)
	var other foreignError
	if !errors.As(err, &other) {
		return a, ev, err
	}
	real, ok := For(other.agent)
	if !ok {
		return a, Event{}, err
	}
	ev, err = real.Decode(payload)
	return real, ev, err
}
