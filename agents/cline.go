package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// A clineAgent is the adapter of the Cline CLI. It follows what version 3.0.65 was measured to do, and
// the source that it brings. It reads one document, whatever the exit code is. "cancel" stops not only
// the call but the whole task, and neither the model nor the user is told the reason, which is only in
// Cline's log. Nothing lets a call run without Cline's own question, if it has one.
//
// A hook that takes longer than clineMost is killed, and the call runs.
type clineAgent struct{ *hooked }

// clineMost is the longest time that Cline waits for a hook.
const clineMost = 2 * time.Minute

// clineScript is the text of a hook, which must not end without an answer: Cline runs the call after
// every answer that is not understood, and after none.
const clineScript = `#!/bin/sh
# approver's hook for Cline, written by: approver install cline
# It asks approver before each tool call. Do not change it: approver would raise an alarm.
answer=$(` + settings.Slot + `) || answer=
case $answer in
'{"cancel":'*'}') ;;
*) answer='{"cancel":true,"errorMessage":"the approver hook ended without an answer, so the task was stopped"}' ;;
esac
printf '%s\n' "$answer"
`

// denyCline is a blocking document up to the reason.
const denyCline = `{"cancel":true,"errorMessage":`

// clineForm returns the form of the script of an event.
func clineForm(event string) settings.Script {
	return settings.Script{Agent: "cline", Template: clineScript, Event: event}
}

const (
	clineBefore = "tool_call"
	clineAfter  = "tool_result"
)

var cline = clineAgent{&hooked{
	name: "cline", patience: 100 * time.Second,
	events: []hookEvent{
		{kind: Decide, installed: true,
			Event: facts.Event{Name: clineBefore, Before: denyCline, After: "}", DocumentOnly: true}},
		{kind: Ran, // its script is a companion of the first one
			Event: facts.Event{Name: clineAfter, Before: denyCline, After: "}", DocumentOnly: true}},
	},
	notices: "agent_start agent_resume agent_abort agent_end agent_error prompt_submit session_shutdown",
	keys:    keys{event: "hookName", session: "taskId", tool: "name", input: "input", use: "id"},
	tools: vocabulary{
		{tools: "run_commands", as: "Bash", list: "commands", when: "commands"},
		{tools: "run_commands", as: "Bash", list: "command", when: "command"},
		{tools: "run_commands", as: "Bash", list: "cmd"},
		{tools: "editor", as: "Edit", when: "old_text", keys: "path=file_path old_text=old_string new_text=new_string"},
		{tools: "editor", as: "Write", keys: "path=file_path new_text=content"},
		{tools: "spawn_agent", as: "Agent", keys: "task=prompt"},
		{tools: "skills", as: "Skill"},
		{tools: "ask_question", as: "AskUserQuestion"},
	},
	returned: []facts.Field{{Key: "postToolUse", Short: "null"}},
	inner:    true, place: clinePlace, outcome: clineOutcome, permit: permitCline, modifies: true,
	recipe: canary.Cline,
	install: &installation{
		files: settings.Files{
			Agent: "cline", Title: "Cline", Folder: ".cline", File: "hooks/PreToolUse", Home: "CLINE_DIR",
		},
		layout: clineForm(clineBefore), most: clineMost,
		hook:  func(l hookLine) any { return clineForm(l.event).Hook(l.command) },
		bound: true,
		advice: []settings.Finding{{Harmless: true, Text: "a single start of cline with CLINE_DIR or another HOME runs " +
			"without the hook, and so does one in a project whose .env or bunfig.toml says so; and a hook in a project " +
			"(.clinerules/hooks) can change a call after approver has decided it"}},
	},
}}

// Companions implements [Accompanied]: the script for what calls returned, which runs what the script
// before tools runs.
func (c clineAgent) Companions(path string, _, becomes []byte) []Companion {
	after := filepath.Join(filepath.Dir(path), "PostToolUse")
	return []Companion{{
		Path: after, Lacking: always("what calls return is not checked, nor recorded"), Mode: 0o700,
		Change: func(old []byte) ([]byte, error) {
			hooks, err := c.ReadHooks(path, becomes)
			if err != nil {
				return nil, err
			}
			form, want := clineForm(clineAfter), settings.Hooks{}
			for _, m := range hooks[clineBefore] {
				raw, err := json.Marshal(form.Hook(clineReport(settings.CommandOf(m.Hooks[0]))))
				if err != nil {
					return nil, err
				}
				want[clineAfter] = []settings.Matcher{{Hooks: []json.RawMessage{raw}}}
			}
			return form.With(after, old, want)
		},
	}}
}

// clineReport returns the command for what calls returned that belongs to the one before tools.
func clineReport(before settings.Command) string {
	line := settings.ShellWord(before.Program()) + " --agent cline"
	if socket := before.Socket(); socket != "" {
		line += " --socket " + settings.ShellWord(socket)
	}
	return line + fmt.Sprintf(" --event %s --deadline %ds", clineAfter, int(reportDeadline.Seconds()))
}

// clinePlace reads where a call is made: Cline runs commands in the first of its folders.
func clinePlace(call *approver.ToolCall, o object) (err error) {
	if call.Session, err = o.need("taskId", maxID); err != nil {
		return err
	}
	roots := o.texts("workspaceRoots")
	if len(roots) == 0 {
		return errors.New(`"workspaceRoots" has no folder`)
	}
	if call.Dir = roots[0]; !isFolder(call.Dir) {
		return errors.New(`"workspaceRoots" has no absolute path`)
	}
	return nil
}

// clineOutcome reads what a call returned.
func clineOutcome(ev *Event, in object) error {
	output, ok := in["output"]
	if !ok {
		output = json.RawMessage("null")
	}
	ev.Response, ev.Output = output, outputOf(output)
	failure, _, err := in.text("error")
	if ev.Failure = failure; failure != "" && ev.Output == "" {
		ev.Output = failure
	}
	return err
}

// permitCline returns an answer that does not stop the task.
func permitCline(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := struct {
		Cancel  bool            `json:"cancel"`
		Context string          `json:"context,omitempty"`
		Input   json.RawMessage `json:"overrideInput,omitempty"`
	}{Input: args}
	if v.Decision == approver.Warn {
		out.Context = warning(v)
	}
	return out
}
