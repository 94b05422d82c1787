package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/facts"
)

// Claude is the [Adapter] of Claude Code, for its command hooks.
//
// PreToolUse is decided. PermissionRequest, which comes when Claude Code is about to ask its own
// user, is decided in the same way, and its answer has another form. PostToolUse and
// PostToolUseFailure report that a call ran. ConfigChange asks whether to use settings that changed
// during a session. PostToolBatch ends the calls of a turn, including those that Claude Code itself
// refused.
type Claude struct{}

// claude reads the payloads. The answers have more than those of other agents.
var claude = &hooked{
	name: "claude", title: "Claude Code", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, Event: facts.Event{Name: "PreToolUse", Before: denyTool, After: "}}"}},
		{kind: Prompted, Event: facts.Event{Name: "PermissionRequest", Before: denyPrompt, After: "}}}"}},
		{kind: Ran, Event: facts.Event{Name: "PostToolUse", Before: block, After: "}"}},
		{kind: Ran, failure: "error", Event: facts.Event{Name: "PostToolUseFailure", Before: noteFailure, After: "}}"}},
		{kind: Settings, read: claudeSettings, Event: facts.Event{Name: "ConfigChange", Before: block, After: "}"}},
		{kind: Over, read: claudeOver, Event: facts.Event{Name: "PostToolBatch"}},
	},
	notices: "SessionStart SessionEnd UserPromptSubmit Stop StopFailure SubagentStart SubagentStop Notification " +
		"PreCompact PostCompact Setup PermissionDenied InstructionsLoaded CwdChanged FileChanged TaskCreated " +
		"TaskCompleted TeammateIdle",
	keys:      usualKeys,
	described: []string{"Bash", "PowerShell", "Monitor"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}, {Key: "error", Short: `"not read"`}},
	// The first is of 2.1.330, the second of older versions too.
	alone: []facts.Variable{{Name: "CLAUDE_CODE_SESSION_ATTENDED", Value: "0"},
		{Name: "CLAUDE_CODE_ENTRYPOINT", Value: "sdk-cli"}},
	prompt: claudeAsks,
}

// Name returns "claude".
func (Claude) Name() string { return claude.Name() }

// Facts implements [Adapter].
func (Claude) Facts() facts.Agent { return claude.Facts() }

// Decode reads a hook payload of Claude Code.
func (Claude) Decode(payload []byte) (Event, error) { return claude.Decode(payload) }

// Rewrite implements [Adapter].
func (Claude) Rewrite(payload []byte, args json.RawMessage) (Event, error) {
	return claude.Rewrite(payload, args)
}

// Report implements [Reporter].
func (Claude) Report(payload []byte, event string) (ev Event, is bool, err error) {
	return claude.Report(payload, event)
}

// claudeSources are the sources of a ConfigChange. The word is not trusted: only the content of the
// files counts.
var claudeSources = [...]string{"user_settings", "project_settings", "local_settings", "policy_settings", "skills"}

// claudeSettings reads a ConfigChange.
func claudeSettings(ev *Event, o object) (err error) {
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
	return nil
}
