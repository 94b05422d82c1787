package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// cursor is the adapter of Cursor, its editor and its command line. It was written from Cursor's hooks
// page and from what others report of it, see docs/agents/cursor.md, and not run.
//
// Cursor sends preToolUse for every tool, and one more event for a shell command, an MCP tool and a
// file that is read. A Prompted is asked about once with the call that it is of. A hook with failClosed
// blocks on an empty answer, so there is a document in each.
var cursor = cursorAdapter{&hooked{
	name: "cursor", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: cursorEvent("preToolUse", denyFlat)},
		// Some versions send no preToolUse for a file that is read.
		{kind: Prompted, installed: true, call: cursorFile, Event: cursorEvent("beforeReadFile", denyFlat)},
		{kind: Prompted, call: cursorCommand, Event: cursorEvent("beforeShellExecution", denyFlat)},
		{kind: Prompted, call: cursorServer, Event: cursorEvent("beforeMCPExecution", denyFlat)},
		{kind: Prompted, call: cursorFile, Event: cursorEvent("beforeTabFileRead", denyFlat)},
		{kind: Prompted, call: cursorSubagent, Event: cursorEvent("subagentStart", denyFlat)},
		{kind: Ran, installed: true, Event: cursorEvent("postToolUse", `{"additional_context":`)},
		{kind: Ran, installed: true, Event: cursorEvent("postToolUseFailure", `{"additional_context":`)},
		{kind: Notice, quiet: `{"continue":true}`,
			Event: cursorEvent("beforeSubmitPrompt", `{"continue":false,"user_message":`)},
	},
	// The after* say again what postToolUse says, without the id of the call.
	notices: cursorNotices,
	quiet:   "{}",
	keys:    keys{event: "hook_event_name", tool: "tool_name", input: "tool_input", use: "tool_use_id"},
	tools: vocabulary{
		{tools: "Shell run_terminal_cmd", as: "Bash", dir: "working_directory cwd"},
		{tools: "Write WriteFile", as: "Write", keys: "path=file_path contents=content"},
		{tools: "StrReplace search_replace", as: "Edit", keys: "path=file_path"},
		{tools: "MultiEdit", as: "MultiEdit", keys: "path=file_path"},
		{tools: "Read ReadFile read_file", as: "Read", keys: "path=file_path target_file=file_path"},
		{tools: "Grep", as: "Grep"},
		{tools: "LS list_dir", as: "LS", keys: "target_directory=path relative_workspace_path=path"},
		{tools: "EditNotebook", as: "NotebookEdit", keys: "target_notebook=notebook_path new_string=new_source"},
		{tools: "WebFetch", as: "WebFetch"},
		{tools: "WebSearch web_search", as: "WebSearch", keys: "search_term=query"},
		{tools: "Task", as: "Agent", keys: "task=prompt"},
	},
	described: []string{"Bash"},
	returned:  []facts.Field{{Key: "tool_output", Short: `"null"`}, {Key: "error_message", Short: `"not read"`}},
	place:     cursorPlace,
	alias:     cursorAlias,
	asked:     cursorAsked,
	outcome:   cursorOutcome,
	permit:    cursorPermit,
	modifies:  true, merges: true,
	install: &installation{
		files: settings.Files{
			Agent: "cursor", Title: "Cursor", Folder: ".cursor", File: "hooks.json",
			Managed: machineFolder("/etc/cursor", "/Library/Application Support/Cursor"), ManagedFile: "hooks.json",
			Unread: "it runs no hooks of a folder that is not trusted",
		},
		layout: settings.Layout{Agent: "cursor", Flat: true, New: "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"},
		unit:   time.Second, timeout: "timeout",
		hook: func(l hookLine) any {
			return struct {
				Command    string `json:"command"`
				Timeout    int    `json:"timeout"`
				FailClosed bool   `json:"failClosed,omitempty"`
			}{l.command, l.timeout, l.guards}
		},
		switches: cursorSwitches,
		advice: []settings.Finding{
			{Harmless: true, Text: "Cursor's cloud agents do not read the hooks of a user: their calls are not asked about"},
			{Harmless: true, Text: "Cursor takes an answer without an objection as an approval and may not ask its own user"},
		},
	},
}}

// denyFlat is a blocking document up to the reason, a text for the user, which the model reads too.
const denyFlat = `{"permission":"deny","user_message":`

// cursorEvent is an event with its blocking document, up to the reason.
func cursorEvent(name, before string) facts.Event {
	return facts.Event{Name: name, Before: before, After: "}", DocumentOnly: true}
}

// A cursorAdapter is the adapter with what to do with results.
type cursorAdapter struct{ *hooked }

// cursorPlace reads the session and the folder. Cursor says the folder of a call only for some.
func cursorPlace(call *approver.ToolCall, o object) (err error) {
	if call.Session, err = o.need("conversation_id", maxID); err != nil {
		return err
	}
	dir, _, err := o.short("cwd", maxPath)
	if err != nil {
		return err
	}
	if roots := o.texts("workspace_roots"); dir == "" && len(roots) > 0 {
		dir = roots[0]
	}
	if dir == "" {
		return nil
	}
	if !isFolder(dir) {
		return fmt.Errorf("the folder is %s, not an absolute path", quote(dir))
	}
	call.Dir = dir
	return nil
}

// cursorAlias tells apart what Cursor calls Write: a new text of a file, and a change of it. Of an MCP
// tool it does not say the server.
func cursorAlias(tool string, args object) (string, error) {
	if name, ok := strings.CutPrefix(tool, "MCP:"); ok {
		return mcpName(unknownServer, name)
	}
	if tool != "Write" || args.hasAll("content") || args.hasAll("contents") {
		return tool, nil
	}
	switch {
	case args.hasAll("old_string new_string"):
		return "StrReplace", nil
	case args.hasAll("edits"):
		return "MultiEdit", nil
	}
	return tool, nil
}

// cursorCall returns the reader of a call of a tool: its arguments are some keys of the payload, under other
// names: own=new, separated by spaces.
func cursorCall(tool, keys string) func(o object) (string, json.RawMessage, error) {
	return func(o object) (string, json.RawMessage, error) {
		out := map[string]json.RawMessage{}
		for pair := range strings.FieldsSeq(keys) {
			own, name, _ := strings.Cut(pair, "=")
			if raw, ok := o[own]; ok {
				out[name] = raw
			}
		}
		args, err := json.Marshal(out)
		return tool, args, err
	}
}

// The calls in the events that say less than preToolUse.
var (
	cursorCommand  = cursorCall("Shell", "command=command")
	cursorFile     = cursorCall("Read", "file_path=file_path")
	cursorSubagent = cursorCall("Task", "task=prompt subagent_type=subagent_type")
)

// cursorServer reads a call of an MCP tool. Its arguments are a text of JSON.
func cursorServer(o object) (tool string, args json.RawMessage, err error) {
	if tool, err = o.need("tool_name", maxTool); err != nil {
		return "", nil, err
	}
	text, ok, err := o.text("tool_input")
	switch {
	case err != nil && isObject(o["tool_input"]): // older versions send an object
		args = o["tool_input"]
	case err != nil:
		return "", nil, err
	case !ok:
		return "", nil, errors.New(`"tool_input" is missing`)
	default:
		args = json.RawMessage(text)
	}
	if _, err := parseObject(args); err != nil {
		return "", nil, fmt.Errorf(`"tool_input": %w`, err)
	}
	return "MCP:" + strings.TrimPrefix(tool, "MCP:"), args, nil
}

// cursorAsked digests what both events about a call say of it, within one answer of the agent.
func cursorAsked(ev Event, o object) (c Content) {
	turn, _, err := o.short("generation_id", maxID)
	var args object
	if err != nil || turn == "" || json.Unmarshal(ev.Call.Args, &args) != nil {
		return c
	}
	shown := object{"generation_id": o["generation_id"]}
	switch {
	case ev.Call.Tool == "Bash":
		shown["command"] = args["command"]
	case ev.Call.Tool == "Read":
		shown["file_path"] = args["file_path"]
	case ev.Call.Tool == "Agent":
		shown["prompt"] = args["prompt"]
	case isServerTool(ev.Call.Tool):
		shown["tool_input"] = ev.Call.Args
	default:
		return c
	}
	return contentOf(ev.Call.Tool, shown)
}

// cursorOutcome reads what a call returned. Of a shell it is a text of JSON with the output.
func cursorOutcome(ev *Event, o object) (err error) {
	if ev.Name == "postToolUseFailure" {
		if ev.Failure, _, err = o.text("error_message"); err != nil {
			return err
		}
		if ev.Output = ev.Failure; ev.Failure == "" {
			ev.Failure = "it failed"
		}
		return nil
	}
	response, ok := o["tool_output"]
	if !ok {
		return nil
	}
	ev.Response, ev.Output = response, outputOf(response)
	var shell struct{ Output *string }
	if json.Unmarshal([]byte(ev.Output), &shell) == nil && shell.Output != nil {
		ev.Output = *shell.Output
	}
	if raw := json.RawMessage(ev.Output); isServerTool(ev.Call.Tool) && isObject(raw) && json.Valid(raw) {
		ev.Response = raw
	}
	return nil
}

// Reading implements [Returner]. Cursor takes another result only of an MCP tool, and only a text or a
// list of texts. To every other one, something can be added.
func (c cursorAdapter) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord(claudeOwn, ev.Call.Tool) && ev.Failure == "" {
		return Reading{}
	}
	content := ev.Response
	if o, err := parseObject(content); err == nil {
		content = o["content"]
	}
	_, all := texts(content)
	return Reading{Reads: true, From: origin(ev),
		Replaces: isServerTool(ev.Call.Tool) && ev.Failure == "" && len(content) > 0 && all}
}

// A cursorResult is the answer to a call that ran.
type cursorResult struct {
	Output  json.RawMessage `json:"updated_mcp_tool_output,omitempty"`
	Context string          `json:"additional_context,omitempty"`
}

// EncodeResult implements [Returner].
func (c cursorAdapter) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(c, ev, r, func(r Result) (any, error) {
		return cursorResult{Output: r.Response, Context: r.Context}, nil
	})
}

type cursorAnswer struct {
	Permission string          `json:"permission,omitempty"`
	Input      json.RawMessage `json:"updated_input,omitempty"`
	Message    string          `json:"agent_message,omitempty"`
}

// cursorPermit returns the document that lets a call run. Cursor has none for no opinion: without a
// permission, a hook with failClosed blocks.
func cursorPermit(ev Event, v approver.Verdict, args json.RawMessage) any {
	if ev.Kind == Ran {
		return nil
	}
	out := cursorAnswer{Permission: "allow", Input: args}
	if v.Decision == approver.Warn {
		out.Message = warning(v)
	}
	return out
}

// cursorNotices are the events about no call, and cursorEvents all that Cursor knows.
const (
	cursorNotices = "sessionStart sessionEnd afterShellExecution afterMCPExecution afterFileEdit afterTabFileEdit " +
		"afterAgentResponse afterAgentThought subagentStop preCompact stop workspaceOpen"
	cursorEvents = "preToolUse beforeReadFile beforeShellExecution beforeMCPExecution beforeTabFileRead subagentStart " +
		"postToolUse postToolUseFailure beforeSubmitPrompt " + cursorNotices
)

// cursorSwitches finds what makes Cursor drop a whole file: a version that is no number, an event that
// it does not know, and two slashes in a text, which it takes for a comment.
func cursorSwitches(s settings.Source, keys map[string]json.RawMessage) (found []settings.Finding) {
	others := s.Place == settings.Project && !strings.Contains(string(s.Text), " --agent cursor") // the user's hooks stay
	say := func(text string) {
		found = append(found, settings.Finding{Harmless: others, Path: s.Path, Text: s.Path + ": " + text,
			Fix: "correct it in " + s.Path})
	}
	if keys == nil { // the file is empty, and install writes all of it
		return nil
	}
	var version int
	switch raw, ok := keys["version"]; {
	case !ok: // install writes it
		if say(`there is no "version", so Cursor drops the file`); !others {
			found[0].Fix = ""
		}
	case json.Unmarshal(raw, &version) != nil || version < 1:
		say(fmt.Sprintf(`"version" is %s and not 1, so Cursor drops the file`, raw))
	}
	var events map[string]json.RawMessage
	_ = json.Unmarshal(keys["hooks"], &events) // what is no object is for the layout to say
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if !hasWord(cursorEvents, event) {
			say("Cursor does not know the event " + quote(event) + ", and drops the file")
		}
	}
	for _, raw := range keys {
		if strings.Contains(string(raw), "//") {
			say("its command line takes two slashes in a text for a comment, and drops the file")
			break
		}
	}
	return found
}
