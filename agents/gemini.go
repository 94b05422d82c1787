package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
)

// A geminiAgent is the adapter of the Gemini CLI. It follows the hooks pages in its package and what
// version 0.61.0 was measured to do.
//
// BeforeTool comes before the agent's own rules and its question to its user. So an "allow" does not skip
// these: the call still runs only if they let it. AfterTool comes after every call that ran, also if it
// failed. A call has no id.
type geminiAgent struct{ *hooked }

var gemini = geminiAgent{&hooked{
	name: "gemini", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "BeforeTool", Before: denyWord, After: "}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "AfterTool", Before: denyWord, After: "}"}},
	},
	// The tools that a model asks for come to BeforeTool.
	notices: "BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection SessionStart SessionEnd " +
		"Notification PreCompress",
	keys: keys{event: "hook_event_name", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input",
		response: "tool_response"},
	tools: vocabulary{
		{tools: "run_shell_command", as: "Bash", keys: "is_background=run_in_background", dir: "dir_path directory"},
		{tools: "write_file", as: "Write"},
		{tools: "replace edit", as: "Edit", keys: "allow_multiple=replace_all"},
		{tools: "read_file", as: "Read", keys: "absolute_path=file_path path=file_path"},
		{tools: "read_many_files", as: "read_many_files", keys: "include=paths"},
		{tools: "list_directory", as: "LS", keys: "dir_path=path"},
		{tools: "glob", as: "Glob", keys: "dir_path=path"},
		{tools: "grep_search search_file_content", as: "Grep", keys: "dir_path=path include_pattern=glob include=glob"},
		{tools: "google_web_search", as: "WebSearch"},
		{tools: "invoke_agent", as: "Agent", keys: "agent_name=subagent_type"},
		{tools: "activate_skill", as: "Skill", keys: "name=skill"},
		{tools: "write_todos", as: "TodoWrite"},
		{tools: "enter_plan_mode", as: "EnterPlanMode"},
		{tools: "exit_plan_mode", as: "ExitPlanMode"},
		{tools: "ask_user", as: "AskUserQuestion"},
	},
	described: []string{"Bash"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}},
	call:      geminiCall,
	check:     geminiCheck,
	adds:      geminiAddresses,
	outcome:   geminiOutcome,
	permit:    permitGemini,
	modifies:  true, // by its documents it merges arguments, and version 0.61.0 puts the changed ones in their place
	merges:    true,
	recipe:    canary.Gemini,
	install:   geminiInstallation,
}}

// geminiCheck refuses paths that Gemini changes before it opens them. Of a path that does not lead to a
// file, its tool replace takes the one file of the workspace whose name ends so. It refuses a pattern to
// search for that begins with a hyphen, too: without ripgrep, the pattern is an argument of git or grep, and
// such a one is an option. One of git's options runs a program.
func geminiCheck(tool string, raw json.RawMessage) error {
	if err := plainPaths(tool, raw); err != nil {
		return err
	}
	var args object
	if err := json.Unmarshal(raw, &args); err != nil {
		return err
	}
	for _, path := range args.texts("file_path") {
		if hasWord("replace edit", tool) && !filepath.IsAbs(path) {
			return fmt.Errorf("%q is %s: write the whole path from the root", "file_path", quote(path))
		}
	}
	for _, pattern := range args.texts("pattern") {
		if hasWord("grep_search search_file_content", tool) && strings.HasPrefix(pattern, "-") {
			return fmt.Errorf("%q is %s, which is an option of the program that searches: begin it with [-]", "pattern",
				quote(pattern))
		}
	}
	return nil
}

// geminiCall reads the tool. That of an MCP server has a name that is made of both names, in which the
// end of the server's cannot be seen; they are separate in mcp_context.
func geminiCall(o object) (tool string, args json.RawMessage, err error) {
	if tool, err = o.need("tool_name", maxTool); err != nil {
		return "", nil, err
	}
	args = o["tool_input"]
	raw, served := o["mcp_context"]
	rest, named := strings.CutPrefix(tool, "mcp_")
	switch {
	case served:
		context, err := parseObject(raw)
		if err != nil {
			return "", nil, fmt.Errorf(`"mcp_context": %w`, err)
		}
		var server, own string
		if server, err = context.need("server_name", maxID); err == nil {
			own, err = context.need("tool_name", maxID)
		}
		if err != nil {
			return "", nil, fmt.Errorf(`"mcp_context": %w`, err)
		}
		tool, err = mcpName(server, own)
		return tool, args, err
	case named: // a server whose settings are gone
		tool, err = mcpName(unknownServer, rest)
	}
	return tool, args, err
}

// geminiAddresses adds the addresses of web_fetch, which are in the text of its prompt.
func geminiAddresses(ev *Event) error {
	if ev.Native != "web_fetch" {
		return nil
	}
	var input object
	if err := json.Unmarshal(ev.Call.Args, &input); err != nil {
		return err
	}
	for _, text := range input.texts("prompt") {
		for word := range strings.FieldsFuncSeq(text, isBlank) {
			if strings.Contains(word, "://") && !slices.Contains(ev.Call.URLs, word) {
				ev.Call.URLs = append(ev.Call.URLs, word)
			}
		}
	}
	if slices.ContainsFunc(ev.Call.URLs, func(u string) bool { return strings.ContainsRune(u, 0) }) {
		return errors.New("an address contains a NUL character")
	}
	return nil
}

// geminiOutcome reads what a call returned. Of one that failed, the model reads only the error.
func geminiOutcome(ev *Event, o object) error {
	if err := partsOf(ev, o); err != nil {
		return err
	}
	var failed struct{ Error *struct{ Message string } }
	if json.Unmarshal(o["tool_response"], &failed) != nil || failed.Error == nil {
		return nil
	}
	ev.Failure = failed.Error.Message
	if ev.Failure == "" {
		ev.Failure = "it failed and did not say why"
	}
	text, err := encoded(ev.Failure, "")
	ev.Response, ev.Output = json.RawMessage(strings.TrimSuffix(string(text), "\n")), ev.Failure
	return err
}

// A geminiOutput is a document that the Gemini CLI reads. Field order is the order of the output.
type geminiOutput struct {
	Decision string          `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	System   string          `json:"systemMessage,omitempty"`
	Specific *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event   string          `json:"hookEventName"`
	Input   json.RawMessage `json:"tool_input,omitempty"`
	Context string          `json:"additionalContext,omitempty"`
}

// permitGemini returns the document of an answer that does not block. Before a call, only the agent's
// user can be told something.
func permitGemini(ev Event, v approver.Verdict, args json.RawMessage) any {
	switch {
	case v.Decision == approver.Warn:
		text := warning(v)
		out := &geminiOutput{System: "approver: " + text}
		if ev.Kind == Ran {
			out.Specific = &geminiSpecific{Event: ev.Name, Context: text}
		}
		return out
	case v.Decision == approver.Modify:
		return &geminiOutput{Decision: "allow", Reason: allowed(v),
			Specific: &geminiSpecific{Event: ev.Name, Input: args}}
	case v.Decision == approver.Allow && ev.Kind == Decide:
		return &geminiOutput{Decision: "allow", Reason: allowed(v)}
	}
	return nil
}

// Reading implements [Returner]. The reason of a deny stands in the place of what a call returned.
func (g geminiAgent) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord(ownTexts, ev.Call.Tool) {
		return Reading{}
	}
	return Reading{Reads: true, Replaces: len(ev.Response) > 0, From: origin(ev)}
}

// EncodeResult implements [Returner].
func (g geminiAgent) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(g, ev, r, func(r Result) (any, error) {
		if r.isZero() {
			return nil, nil
		}
		text, context, err := replaced(ev, r)
		out := geminiOutput{Reason: text, System: r.Notice}
		if text != "" {
			out.Decision = "deny"
		}
		if context != "" {
			out.Specific = &geminiSpecific{Event: ev.Name, Context: context}
		}
		return out, err
	})
}
