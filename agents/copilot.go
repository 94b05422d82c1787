package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/internal/keystrokes"
)

// A copilotAdapter is the adapter of GitHub Copilot: of Copilot CLI, and of the agent hooks of Visual
// Studio Code, which read the same files. It follows GitHub's hooks reference, the types of the
// Copilot SDK, the source of Visual Studio Code's hooks, and what version 1.0.102 of the CLI was
// measured to do.
//
// The name of an event in the settings decides the form of the payload: preToolUse gets
// Copilot's own keys, and PreToolUse gets keys and tool names like Claude Code's. The CLI reads
// repositories' settings of Claude Code, whose hooks get the latter form. Its answers have Copilot's
// own keys in both: a Claude Code document at preToolUse is no answer, and the call runs.
type copilotAdapter struct{ *hooked }

// copilot has everything but what to do with results.
var copilot = copilotAdapter{&hooked{
	name: "copilot",
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "preToolUse", Before: denyCopilot, After: "}"}},
		{kind: Decide, Event: facts.Event{Name: "PreToolUse", Before: denyCopilot, After: "}"}},
		{kind: Prompted, call: copilotAsks, Event: facts.Event{Name: "permissionRequest", Before: denyAsked, After: "}"}},
		{kind: Prompted, call: copilotAsks, Event: facts.Event{Name: "PermissionRequest", Before: denyAsked, After: "}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "postToolUse", Before: block, After: "}"}},
		{kind: Ran, Event: facts.Event{Name: "PostToolUse", Before: block, After: "}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "postToolUseFailure", Before: copilotNote, After: "}"}},
		{kind: Ran, Event: facts.Event{Name: "PostToolUseFailure", Before: copilotNote, After: "}"}},
	},
	notices: "sessionStart SessionStart sessionEnd SessionEnd userPromptSubmitted UserPromptSubmit agentStop " +
		"Stop subagentStart SubagentStart subagentStop SubagentStop PreCompact Notification",
	keys: copilotKeys, tools: copilotTools, form: copilotForm, event: copilotEvent, place: copilotPlace,
	unpack: copilotUnpack, alias: copilotAlias, asked: copilotAsked,
	described: []string{"Bash", "PowerShell"},
	returned: []facts.Field{
		{Key: "toolResult", Short: "{}"}, {Key: "tool_result", Short: "{}"}, {Key: "tool_response", Short: "null"},
		{Key: "error", Short: `"not read"`},
	},
	permit: permitCopilot, modifies: true,
	outcome: copilotOutcome, moment: copilotMoment, recipe: canary.Copilot,
	install: copilotInstall,
}}

// Parts of Copilot's blocking documents, up to the reason.
const (
	denyCopilot = `{"permissionDecision":"deny","permissionDecisionReason":`
	denyAsked   = `{"behavior":"deny","message":`
	copilotNote = `{"additionalContext":`
)

// The keys of Copilot's forms. Only Visual Studio Code has an id of the call.
var (
	copilotKeys = keys{session: "sessionId", dir: "cwd", tool: "toolName", input: "toolArgs",
		response: "toolResult", subagent: "agentId"}
	copilotSnake = keys{event: "hook_event_name", session: "session_id", dir: "cwd", tool: "tool_name",
		input: "tool_input", response: "tool_result", subagent: "agent_id"}
	codeKeys = keys{event: "hook_event_name", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input",
		response: "tool_response", subagent: "agent_id", use: "tool_use_id"}
	codeOlder = keys{event: "hookEventName", session: "sessionId", dir: "cwd", tool: "tool_name", input: "tool_input",
		response: "tool_response", use: "tool_use_id"}
)

// copilotForm returns the keys and the tools of a payload.
func copilotForm(o object) (keys, vocabulary) {
	switch {
	case o.hasAll("hookEventName"):
		return codeOlder, codeTools
	case o.hasAll("hook_event_name tool_use_id"):
		return codeKeys, codeTools
	case o.hasAll("hook_event_name"):
		return copilotSnake, copilotTools
	}
	return copilotKeys, copilotTools
}

// copilotTools are the tools of the CLI, with their names in both of its forms. An edit in a
// permissionRequest, whatever its tool, is a path with a diff, and is judged as a file that gets this
// text.
var copilotTools = vocabulary{
	{tools: "bash Bash", as: "Bash"},
	{tools: "powershell PowerShell", as: "PowerShell"},
	// Of older versions: what is typed into a running shell. Under the second names, with keys in it.
	{tools: "write_bash", as: "Bash", typed: "input"},
	{tools: "write_powershell", as: "PowerShell", typed: "input"},
	{tools: "write_bash_keys", as: "write_bash", typed: "input"},
	{tools: "write_powershell_keys", as: "write_powershell", typed: "input"},
	{tools: "create Write", as: "Write", keys: "path=file_path file_text=content"},
	{tools: "edit", as: "Write", when: "diff", keys: "diff=content"}, // in a permissionRequest
	{tools: "edit Edit", as: "Edit", keys: "path=file_path old_str=old_string new_str=new_string"},
	{tools: "view Read", as: "Read", keys: "path=file_path"},
	{tools: "grep rg Grep", as: "Grep"},
	{tools: "glob Glob", as: "Glob"},
	{tools: "web_fetch WebFetch", as: "WebFetch"},
	{tools: "web_search WebSearch", as: "WebSearch"},
	{tools: "task Agent", as: "Agent"},
	{tools: "skill", as: "Skill"},
	{tools: "ask_user AskUserQuestion", as: "AskUserQuestion"},
	{tools: "exit_plan_mode", as: "ExitPlanMode"},
	{tools: "apply_patch", as: "apply_patch"},
}

// codeTools are those of Visual Studio Code that do the same as known ones.
var codeTools = vocabulary{
	{tools: "run_in_terminal", as: "Bash"},
	{tools: "create_file", as: "Write", keys: "filePath=file_path"},
	{tools: "replace_string_in_file", as: "Edit", keys: "filePath=file_path oldString=old_string newString=new_string"},
	{tools: "read_file", as: "Read", keys: "filePath=file_path"},
	{tools: "edit_notebook_file", as: "NotebookEdit",
		keys: "filePath=notebook_path newCode=new_source editType=edit_mode"},
	{tools: "list_dir", as: "LS"},
	{tools: "apply_patch", as: "apply_patch"},
}

// copilotAsks returns the call in a permissionRequest.
func copilotAsks(o object) (tool string, args json.RawMessage, err error) {
	tool, err = o.need("toolName", maxTool)
	return tool, o["toolInput"], err
}

// copilotAlias returns the known name of an MCP tool. Copilot joins the names of the server and of the
// tool with a hyphen, which both can have, and with a slash in a permissionRequest. No tool of its own
// has one of these. The server's name ends at the first, so that no word of the tool's is lost.
//
// A tool that types into a shell has another name here if it types what nobody can read as a command: keys,
// and a line that another call ends. One character that answers a question is no part of a command.
func copilotAlias(tool string, args object) (string, error) {
	if hasWord("write_bash write_powershell", tool) {
		for _, text := range args.texts("input") {
			if _, keys := keystrokes.Commands(text); keys != "" {
				return tool + "_keys", nil
			}
		}
	}
	server, name, _ := strings.Cut(strings.ReplaceAll(tool, "/", "-"), "-")
	if server == "" || name == "" {
		return tool, nil
	}
	return mcpName(server, name)
}

// copilotUnpack reads arguments that are a text: the patch of apply_patch, which is called Edit in the
// second form, and, of older versions, the JSON of an object.
func copilotUnpack(tool string, raw json.RawMessage) (string, json.RawMessage, error) {
	text, _, err := object{"": raw}.text("")
	if err != nil {
		return "", nil, errors.New("the arguments are neither an object nor a text")
	}
	if tool == "apply_patch" || tool == "Edit" {
		args, err := encoded(map[string]string{"input": text}, "")
		return "apply_patch", bytes.TrimSpace(args), err
	}
	if _, err := parseObject([]byte(text)); err != nil {
		return "", nil, fmt.Errorf("the arguments, a text: %w", err)
	}
	return tool, json.RawMessage(strings.TrimSpace(text)), nil
}

// copilotNotices are the events without a call, by a key that only they have.
var copilotNotices = [...]struct{ key, event string }{
	{"prompt", "userPromptSubmitted"}, {"source", "sessionStart"}, {"reason", "sessionEnd"},
	{"response", "subagentStop"}, {"stopReason", "agentStop"}, {"agentName", "subagentStart"},
}

// copilotEvent returns the name of the event, which Copilot's own form has only in a permissionRequest.
func copilotEvent(o object) (string, error) {
	k, _ := copilotForm(o)
	switch {
	case o.hasAll("hookName"):
		return o.need("hookName", maxID)
	case k.event != "":
		return o.need(k.event, maxID)
	case o.hasAll("toolResult"):
		return "postToolUse", nil
	case o.hasAll("toolArgs error"):
		return "postToolUseFailure", nil
	case o.hasAll("toolName toolArgs"):
		return "preToolUse", nil
	case o.hasAll("toolName"), o.hasAll("serverName"):
		return "", errors.New("it is about a tool, but not of an event that is known: take approver out of the hooks of " +
			"that event")
	}
	for _, n := range copilotNotices {
		if o.hasAll(n.key) {
			return n.event, nil
		}
	}
	return "", errors.New("it is not of an event that is known: take approver out of the hooks of that event")
}

// copilotPlace reads the session and the folder. The calls of a sub-agent have its own id as the session,
// except in a permissionRequest, which has its parent's.
func copilotPlace(call *approver.ToolCall, o object) (err error) {
	k, _ := copilotForm(o)
	if call.Dir, err = o.absolute(k.dir); err != nil {
		return err
	}
	if call.Session, err = o.need(k.session, maxID); err != nil || !o.hasAll("hookName") {
		return err
	}
	var agent, other string
	if err := o.optional(maxID, map[string]*string{"agentId": &agent, "agent_id": &other}); err != nil {
		return err
	}
	for _, id := range []string{agent, other} {
		if id != "" {
			call.Session = id
		}
	}
	return nil
}

// copilotMoment returns when the hooks of a call were started. All hooks of a call have the same.
func copilotMoment(o object) (moment string, err error) {
	raw := o["timestamp"]
	if len(raw) == 0 || raw[0] != '"' {
		var ms int64
		if err := json.Unmarshal(raw, &ms); err != nil {
			return "", errors.New(`"timestamp" is missing or no time`)
		}
		return strconv.FormatInt(ms, 10), nil
	}
	text, err := o.need("timestamp", maxID)
	if err != nil {
		return "", err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "", fmt.Errorf(`"timestamp" is %s, which is no time`, quote(text))
	}
	return strconv.FormatInt(at.UnixMilli(), 10), nil
}

// copilotOutcome reads what a call returned.
func copilotOutcome(ev *Event, o object) (err error) {
	k, _ := copilotForm(o)
	response, ok := o[k.response]
	switch {
	case o.hasAll("error") && !ok:
		ev.Failure, err = o.need("error", MaxPayload)
		ev.Output = ev.Failure
		return err
	case !ok:
		return fmt.Errorf("%s is missing", quote(k.response))
	}
	ev.Response, ev.Output = response, outputOf(response)
	var result copilotResult
	if json.Unmarshal(response, &result) == nil && result.text() != nil {
		ev.Output = *result.text()
	}
	return nil
}

// copilotAsked returns what a permissionRequest shows of a call: only the command of a shell, and the path of
// a file that is written, because the diff depends on what is in the file.
func copilotAsked(ev Event, _ object) Content {
	var args object
	if json.Unmarshal(ev.Call.Args, &args) != nil {
		return Content{}
	}
	switch ev.Call.Tool {
	case "Bash", "PowerShell":
		return contentOf(ev.Call.Tool, object{"command": args["command"]})
	case "Write", "Edit":
		return contentOf("Write", object{"file_path": args["file_path"]})
	}
	return Content{}
}
