package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"approver.example"
)

// asked is a question of Claude Code with these suggestions.
func asked(t *testing.T, tool, mode, input, suggestions string) Event {
	t.Helper()
	ev, err := Claude{}.Decode(fmt.Appendf(nil, `{"session_id":"s","cwd":"/home/dev/project","permission_mode":%q,`+
		`"transcript_path":"/users/dev/.claude/projects/p/s.jsonl","hook_event_name":"PermissionRequest",`+
		`"tool_name":%q,"tool_input":%s,"permission_suggestions":%s}`,
		mode, tool, input, suggestions))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// The suggestions that Claude Code 2.1.330 sent, and what a card says of them.
func TestClaudeSuggestions(t *testing.T) {
	for suggestion, want := range map[string]string{
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}`: "session: acceptEdits · claude asks no more " +
			"about edits and simple file commands in the project (mode acceptEdits): until this session ends",
		`{"type":"addDirectories","directories":["/home/dev/project"],"destination":"session"}`: "session: " +
			"/home/dev/project · claude works in /home/dev/project as in the project: until this session ends",
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm run *"}],"behavior":"allow","destination":` +
			`"localSettings"}`: "localSettings: Bash(npm run *) · claude asks no more about Bash(npm run *): kept in " +
			".claude/settings.local.json of the project",
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test *"},{"toolName":"Bash",` +
			`"ruleContent":"ls"}],"behavior":"allow","destination":"userSettings"}`: "userSettings · claude asks no " +
			"more about Bash(npm test *), Bash(ls): kept in ~/.claude/settings.json, for all projects of this user",
		`{"type":"addRules","rules":[{"toolName":"mcp__m__touch"}],"behavior":"allow","destination":"localSettings"}`: "" +
			"localSettings: mcp__m__touch · claude asks no more about mcp__m__touch: kept in .claude/settings.local.json of " +
			"the project",
		`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//etc/**"}],"behavior":"allow","destination":` +
			`"session"}`: "session: Read(//etc/**) · claude asks no more about Read(//etc/**): until this session ends",
		`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//home/dev/project/**"},{"toolName":"Edit",` +
			`"ruleContent":"/src/**"}],"behavior":"allow","destination":"session"}`: "session · claude asks no more about " +
			"Read(//home/dev/project/**), Edit(/src/**): until this session ends",
		`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"~/notes/**"},{"toolName":"WebFetch",` +
			`"ruleContent":"domain:go.dev"}],"behavior":"allow","destination":"session"}`: "session · claude asks no more " +
			"about Read(~/notes/**), WebFetch(domain:go.dev): until this session ends",
		`{"type":"addRules","rules":[{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`: "" +
			"session: WebSearch · claude asks no more about WebSearch: until this session ends",
	} {
		ev := asked(t, "Bash", "default", `{"command":"x"}`, "["+suggestion+"]")
		if !ev.Prompt.Asks || len(ev.Prompt.Choices) != 1 {
			t.Errorf("%s: %+v", suggestion, ev.Prompt)
			continue
		}
		if c := ev.Prompt.Choices[0]; c.Label+" · "+c.Detail != want {
			t.Errorf("%s\n got %s · %s\nwant %s", suggestion, c.Label, c.Detail, want)
		}
	}
}

// A choice is offered only if the card can say all of it, and if it does not open what decides about
// agents. Everything else is left out, and the call can still be let go once.
func TestClaudeSuggestionsNotOffered(t *testing.T) {
	rule := func(tool, content string) string {
		text, _ := json.Marshal(map[string]string{"toolName": tool, "ruleContent": content})
		return `{"type":"addRules","rules":[` + string(text) + `],"behavior":"allow","destination":"localSettings"}`
	}
	dir := func(path string) string {
		return `{"type":"addDirectories","directories":["` + path + `"],"destination":"session"}`
	}
	mode := func(mode, to string) string {
		return `{"type":"setMode","mode":"` + mode + `","destination":"` + to + `"}`
	}
	// The one behind it has another text, because a suggestion that says the same is left out anyway.
	good, other := rule("Bash", "npm run *"), rule("Bash", "make *")
	for _, suggestion := range []string{
		`null`, `7`, `"x"`, `[]`, `{}`, `{"type":"removeRules"}`,
		strings.Replace(good, "addRules", "replaceRules", 1), strings.Replace(good, "addRules", "removeRules", 1),
		strings.Replace(good, `"allow"`, `"deny"`, 1), strings.Replace(good, `"allow"`, `"ask"`, 1),
		strings.Replace(good, "localSettings", "cliArg", 1), strings.Replace(good, "localSettings", "policySettings", 1),
		strings.Replace(good, "localSettings", "", 1),
		strings.Replace(good, `"behavior"`, `"mode":"acceptEdits","behavior"`, 1),
		strings.Replace(good, `"ruleContent"`, `"scope":"all","ruleContent"`, 1),
		strings.Replace(good, `"rules":[`, `"rules":[{},`, 1), strings.Replace(good, `"rules":[`, `"rules":[null,`, 1),
		strings.Replace(good, `"toolName"`, `"ToolName"`, 1),
		`{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}`,
		rule("Bash", ""), rule("Bash", "*"), rule("Bash", ":*"), rule("Bash", " * "), rule("Write", "**"),
		rule("Edit", "/**"),
		rule("Edit", "//**"), rule("mcp__m", ""), rule("mcp__m__", ""), rule("mcp__m__*", ""), rule("mcp____x", ""),
		rule("*", ""), rule("", "ls"), rule("mcp", ""), rule("mcp__m__*x", ""), rule("xmcp__m__touch", ""),
		rule("mcp__m__touch", "*"), rule("WebSearch", "*"), rule("WebSearch", " "),
		strings.Replace(good, "npm", `n\ud800m`, 1),
		rule("Edit", "/.claude/**"), rule("Edit", "~/.CLAUDE/settings.json"), rule("Read", "//home/dev/.approver/**"),
		rule("Read", "//home/**"), rule("Read", "//home/dev/**"), rule("Edit", "//home/dev"), rule("Edit", "//h*/**"),
		rule("Edit", "//{home,etc}/**"), rule("Edit", "//users/dev/**"), rule("Read", "//home/dev/project/../**"),
		rule("Edit", "~"), rule("Edit", "~/**"), rule("Edit", "~/dev/**"), rule("Edit", "../**"), rule("Edit", "./**"),
		rule("Edit", "?*"), rule("Edit", "{*}"), rule("WebFetch", "domain:*"), dir("/users/dev"), dir("/users"),
		rule("Bash", "approver-hook *"), rule("Bash", strings.Repeat("x", 300)), rule("Ba sh", "ls"),
		dir("/"), dir("//"), dir("/home"), dir("/home/dev"), dir("/home/dev/"), dir("/home/dev/project/.."), dir("relative"),
		dir("/home/dev/.claude"), dir("/home/dev/project/.claude/x"), dir("/srv/.approver"),
		`{"type":"addDirectories","directories":[],"destination":"session"}`,
		mode("bypassPermissions", "session"), mode("auto", "session"), mode("dontAsk", "session"), mode("default", "session"),
		mode("acceptEdits", "localSettings"), mode("acceptEdits", "userSettings"), mode("", "session"),
	} {
		ev := asked(t, "Bash", "default", `{"command":"x"}`, "["+suggestion+","+other+","+other+"]")
		if all := ev.Prompt.Choices; !ev.Prompt.Asks || len(all) != 1 || all[0].Label != "localSettings: Bash(make *)" {
			t.Errorf("%s: %+v", suggestion, ev.Prompt)
		}
	}
	for _, all := range []string{`null`, `{}`, `"x"`, `7`} {
		if ev := asked(t, "Bash", "default", `{"command":"x"}`, all); !ev.Prompt.Asks || len(ev.Prompt.Choices) != 0 {
			t.Errorf("%s: %+v", all, ev.Prompt)
		}
	}
	// All that is offered is on the card.
	const around = len("claude asks no more about Bash(): kept in .claude/settings.local.json of the project")
	const label = len("localSettings: Bash()")
	for n, want := range map[int]string{
		approver.MaxChoiceLabel - label: "localSettings: Bash(", approver.MaxChoiceLabel - label + 1: "localSettings",
		approver.MaxChoiceDetail - around: "localSettings", approver.MaxChoiceDetail - around + 1: "",
	} {
		ev := asked(t, "Bash", "default", `{"command":"x"}`, "["+rule("Bash", strings.Repeat("x", n))+"]")
		switch all := ev.Prompt.Choices; {
		case want == "" && len(all) > 0:
			t.Errorf("a rule of %d bytes is offered as %+v", n, all)
		case want != "" && (len(all) != 1 || strings.TrimRight(all[0].Label, "x)") != want):
			t.Errorf("a rule of %d bytes is offered as %+v, not %q", n, all, want)
		}
	}
	var many []string
	for i := range 9 {
		many = append(many, rule("Bash", fmt.Sprintf("npm run %d", i)))
	}
	if ev := asked(t, "Bash", "default", `{"command":"x"}`, "["+strings.Join(many, ",")+"]"); len(ev.Prompt.Choices) !=
		approver.MaxChoices {
		t.Errorf("%d choices are offered", len(ev.Prompt.Choices))
	}
}

// What Claude Code's plan mode refuses is asked nowhere else, and so is a question that wants more
// than a yes.
func TestClaudeQuestionsLeft(t *testing.T) {
	const suggestions = `[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`
	for _, c := range []struct {
		tool, mode, input string
		asks              bool
		choices           int
	}{
		{"Bash", "default", `{"command":"x"}`, true, 1},
		{"Bash", "", `{"command":"x"}`, true, 1},
		{"Bash", "plan", `{"command":"x"}`, false, 0},
		{"Write", "plan", `{"file_path":"/p/x","content":"x"}`, false, 0},
		{"Read", "plan", `{"file_path":"/p/x"}`, true, 0},
		{"ExitPlanMode", "plan", `{"plan":"# do"}`, true, 0},
		{"AskUserQuestion", "default", `{"questions":[]}`, false, 0},
	} {
		if p := asked(t, c.tool, c.mode, c.input, suggestions).Prompt; p.Asks != c.asks || len(p.Choices) != c.choices {
			t.Errorf("%s in mode %q: %+v", c.tool, c.mode, p)
		}
	}
	pre, err := os.ReadFile("testdata/claude/shell-needs-permission-pre.json")
	if err != nil {
		t.Fatal(err)
	}
	if ev, err := (Claude{}).Decode(pre); err != nil || ev.Prompt != nil {
		t.Errorf("PreToolUse is a question: %+v, %v", ev.Prompt, err)
	}
}

// A yes with a choice tells Claude Code to remember exactly what the card showed. One that shows
// something else stops the call.
func TestClaudeEncodesChoices(t *testing.T) {
	const entry = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm run *"}],"behavior":"allow",` +
		`"destination":"localSettings"}`
	ev := asked(t, "Bash", "default", `{"command":"npm run x"}`, "["+entry+"]")
	yes := func(c approver.Choice) approver.Verdict {
		return approver.Verdict{Decision: approver.Allow, By: approver.ByPeople, Approval: &approver.Yes{Choice: c}}
	}
	const allowed = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"`
	for name, c := range map[string]struct {
		ev   Event
		v    approver.Verdict
		want string
		exit int
	}{
		"once":       {ev, yes(approver.Choice{}), allowed + "}}}\n", 0},
		"the choice": {ev, yes(ev.Prompt.Choices[0]), allowed + `,"updatedPermissions":[` + entry + "]}}}\n", 0},
		"another":    {ev, yes(approver.Choice{Label: ev.Prompt.Choices[0].Label, Detail: "x"}), `"behavior":"deny"`, 2},
		"of another agent's question": {Event{Kind: Prompted, Agent: "claude", Name: "PermissionRequest"},
			yes(ev.Prompt.Choices[0]), `"behavior":"deny"`, 2},
		"of a question that was not read": {Event{Kind: Prompted, Agent: "claude", Name: "PermissionRequest",
			Prompt: &Prompt{Asks: true, Choices: ev.Prompt.Choices}}, yes(ev.Prompt.Choices[0]), `"behavior":"deny"`, 2},
		"another plan": {asked(t, "ExitPlanMode", "plan", `{"plan":"# do"}`, "[]"),
			approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"plan":"# less"}`)},
			allowed + `,"updatedInput":{"plan":"# less"}}}}` + "\n", 0},
		"not by people": {ev, approver.Verdict{Decision: approver.Allow, By: "policy",
			Approval: &approver.Yes{Choice: ev.Prompt.Choices[0]}}, allowed + "}}}\n", 0},
		"the end of a plan": {asked(t, "ExitPlanMode", "plan", `{"plan":"# do"}`, "[]"), yes(approver.Choice{}),
			allowed + `,"updatedInput":{"plan":"# do"}}}}` + "\n", 0},
		"no":      {ev, approver.Verdict{Reason: "denied by Ada"}, `{"behavior":"deny","message":"denied by Ada"}`, 2},
		"silence": {ev, approver.Verdict{Decision: approver.Pass}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := Claude{}.Encode(c.ev, c.v)
			if a.Exit() != c.exit || !strings.Contains(string(a.Stdout), c.want) || c.exit == 0 && string(a.Stdout) != c.want {
				t.Errorf("exit %d: %s", a.Exit(), a.Stdout)
			}
			if strings.Contains(string(a.Stdout), "interrupt") {
				t.Error("it interrupts the agent")
			}
		})
	}
}

// Whatever the suggestions are, every choice that is offered fits on a card, says where it is kept, and
// is sent as it came.
func FuzzClaudeSuggestions(f *testing.F) {
	f.Add(`[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`)
	f.Add(`[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm run *"}],"behavior":"allow","destination":` +
		`"localSettings"},{"type":"addDirectories","directories":["/p"],"destination":"session"}]`)
	f.Fuzz(func(t *testing.T, suggestions string) {
		ev := Event{Call: approver.ToolCall{Tool: "Bash", Dir: "/home/dev/project"}}
		p := claudeAsks(ev, object{"permission_suggestions": json.RawMessage(suggestions)})
		if !p.Asks || len(p.Choices) > approver.MaxChoices || len(p.Choices) != len(p.updates) {
			t.Fatalf("%+v", p)
		}
		for i, c := range p.Choices {
			if c.Label == "" || len(c.Label) > approver.MaxChoiceLabel || len(c.Detail) > approver.MaxChoiceDetail ||
				!strings.Contains(c.Detail, ": ") {
				t.Errorf("%+v", c)
			}
			if got, err := p.update(c); err != nil || string(got) != string(p.updates[i]) || !json.Valid(got) {
				t.Errorf("%s, %v", got, err)
			}
		}
	})
}
