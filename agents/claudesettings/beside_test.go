package claudesettings_test

import (
	"strings"
	"testing"

	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
)

// A hook stood in the front matter of a user's agent, of a skill that came with a clone,
// or in a plugin: the installed command once more with "async", which took the place of
// the good one, or another program that put other input in place of what was approved.
// Doctor looked at settings only and said that all is well. It names them now.
func TestHooksBesideTheSettings(t *testing.T) {
	_, want := written(t)
	good := strings.TrimSuffix(strings.TrimPrefix(string(want.Hooks["PreToolUse"][0].Hooks[0]), "{"), "}")
	json := func(hook string) string { return `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{` + hook + `}]}]}}` }
	md := func(hook string) string {
		return "---\nname: x\nhooks:\n  PreToolUse:\n  - matcher: '*'\n    hooks:\n    - {" + hook + "}\n---\nbody\n"
	}
	other := `"type":"command","command":"/x/guard"`
	for name, c := range map[string]struct {
		path, text, want string
		harmless         bool
	}{
		"agent, async": {path: "/h/agents/x.md", text: md(good + `,"async":true`), want: "async"},
		"agent, windows lines": {path: "/h/agents/x.md", text: strings.ReplaceAll(md(good+`,"async":true`), "\n", "\r\n"),
			want: "async"},
		"skill, another hook": {path: "/h/skills/x/SKILL.md", text: md(other), want: "another PreToolUse hook",
			harmless: true},
		"plugin, async": {path: "/h/plugins/cache/a/b/1/hooks/hooks.json", text: json(good + `,"asyncRewake":true`),
			want: "async"},
		"plugin, another hook": {path: "/h/hooks/hooks.json", text: json(other), want: "another PreToolUse hook",
			harmless: true},
		"agent, broken": {path: "/h/agents/x.md", text: "---\nhooks: [\napprover-hook --agent claude\n---\n",
			want: "cannot be read"},
		"agent, odd": {path: "/h/agents/x.md", text: "---\nhooks: 7\n---\n", want: "cannot be read",
			harmless: true},
		"plugin, all escaped": {path: "/h/hooks/hooks.json",
			text: `{"Hooks":0,"\u0068ooks":{"PreToolUse":[{"\u0068ooks":[{"type":"command",` +
				`"command":"/x/\u0061pprover-\u0068ook --agent claude"}]}]}}`, want: "cannot be read"},
		"plugin, marked": {path: "/h/hooks/hooks.json", text: "\ufeff" + json(good+`,"async":true`), want: "async"},
		"agent, marked":  {path: "/h/agents/x.md", text: "\ufeff" + md(good+`,"async":true`), want: "async"},
		"agent, broken, escaped": {path: "/h/agents/x.md", text: "---\n\"\\x68ooks\": [\n\"\\x61pprover\"\n---\n",
			want: "cannot be read"},
		"agent, merged, quoted": {path: "/h/agents/x.md",
			text: "---\nname: x\n\"<<\": {hooks: {PreToolUse: [{matcher: \"*\", hooks: [{type: command, command: " +
				"\"approver-hook --agent claude\", async: true}]}]}}\n---\n", want: "cannot be read"},
		"agent, merged, single": {path: "/h/agents/x.md",
			text: "---\n'<<': {hooks: {PreToolUse: [{hooks: [{type: command, command: approver-hook}]}]}}\n---\n",
			want: "cannot be read"},
		"agent, merged within": {path: "/h/agents/x.md",
			text: "---\nhooks: {PreToolUse: [{matcher: \"*\", \"<<\": {hooks: [{type: command, command: approver-hook, " +
				"async: true}]}}]}\n---\n", want: "cannot be read"},
		"agent, merged anchor": {path: "/h/agents/x.md",
			text: "---\na: &a {hooks: {PreToolUse: [{hooks: [{type: command, command: approver-hook, async: true}]}]}}\n" +
				"\"<<\": *a\n---\n", want: "cannot be read"},
		"agent, merged plainly": {path: "/h/agents/x.md",
			text: "---\na: &a {hooks: {PreToolUse: [{hooks: [{type: command, command: \"approver-hook --agent claude\", " +
				"async: true}]}]}}\n<<: *a\n---\n", want: "another hook of approver"},
		"agent, a tag": {path: "/h/agents/x.md",
			text: "---\n!!merge x: {hooks: {PreToolUse: [{hooks: [{type: command, command: approver-hook, async: true}]}]}}\n" +
				"---\n", want: "cannot be read"},
		"agent, a line goes on": {path: "/h/agents/x.md", text: "---\nd: [\n\"ho\\\noks\": {}\n---\n",
			want: "cannot be read"},
		"agent, as Claude writes": {path: "/h/agents/x.md",
			text: "---\nname: x\ndescription: Use this agent when: a review! Examples:\\n\\n<example>user: " +
				"\"hi\"\\n</example>\n---\n"},
		"agent, praises hooks":   {path: "/h/agents/x.md", text: "---\nname: x\ndescription: knows hooks well!\n---\n"},
		"agent, honest, broken":  {path: "/h/agents/x.md", text: "---\nname: x\ndescription: use: this [\n---\n"},
		"agent, the same hook":   {path: "/h/agents/x.md", text: md(good)},
		"agent without hooks":    {path: "/h/agents/x.md", text: "---\nname: x\ndescription: hooks\n---\nhooks:\n"},
		"text about approver":    {path: "/h/agents/x.md", text: "# approver-hook --agent claude\nhooks: x"},
		"plugin of other events": {path: "/h/hooks/hooks.json", text: `{"hooks":{"Stop":[{"hooks":[{` + other + `}]}]}}`},
	} {
		found := claudesettings.Beside(settings.Source{Path: c.path, Text: []byte(c.text)}, want)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: %v", name, found)
		case c.want != "" &&
			(len(found) != 1 || !strings.Contains(found[0].String(), c.want) || found[0].Harmless != c.harmless ||
				found[0].Fix == ""):
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := claudesettings.Beside(settings.Source{Path: "/x.md", Missing: true}, want); len(found) > 0 {
		t.Error(found)
	}
}

// Claude Code was entered as a server of tools for Claude Code. Its own calls, and those of
// agents that it starts, ask no hook.
func TestServersThatAreAgents(t *testing.T) {
	for text, want := range map[string]bool{
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}}}`:                                      true,
		`{"mcpServers":{"x":{"command":"/usr/local/bin/claude","args":["--debug","mcp","serve","--verbose"]}}}`: true,
		`{"mcpServers":{"x":{"command":"npx","args":["-y","@anthropic-ai/claude-code@latest","mcp","serve"]}}}`: true,
		`{"mcpServers":{"x":{"command":"sh","args":["-c","exec claude mcp serve"]}}}`:                           true,
		`{"mcpServers":{"x":{"command":"node","args":["/l/@anthropic-ai/claude-code/cli.js","mcp","serve"]}}}`:  true,
		`{"mcpServers":{"x":{"command":"codex","args":["mcp-server"]}}}`:                                        true,
		`{"projects":{"/w":{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}}}}}`:                  true,
		`{"mcpServers":{"a":7,"x":{"command":"claude","args":["mcp","serve"]}},"projects":{"/w":8}}`:            true,
		// What encoding/json reads otherwise hid the server: a key in other letters, a value of
		// another kind elsewhere, the mark of the byte order.
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"],"Command":"true"}}}`:                            true,
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"],"Args":[]}}}`:                                   true,
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"],"ARGS":7}}}`:                                    true,
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}},"MCPServers":{"x":{}}}`:                       true,
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}},"mcp\u017fervers":{"x":1}}`:                   true,
		`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}},"projects":8}`:                                true,
		`{"mcpServers":{},"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}}}`:                             true,
		`{"\u006dcpServers":{"x":{"command":"cl\u0061ude","args":["m\u0063p","serve"]}}}`:                              true,
		`{"mcpServers":{"x":{"command":"true","command":"claude","args":["mcp","serve"]}}}`:                            true,
		"\ufeff" + `{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}}}`:                                  true,
		`{"mcpServers":{"x":{"Command":"claude","args":["mcp","serve"]}}}`:                                             false,
		`{"mcpServers":{"x":{"command":"npx","args":["-y","@modelcontextprotocol/server-github"]}}}`:                   false,
		`{"mcpServers":{"claude":{"command":"node","args":["server.js","serve"]}}}`:                                    false,
		`{"mcpServers":{"x":{"type":"http","url":"https://example.com/claude/mcp/serve"}},"projects":{"/w":{"a":[]}}}`: false,
		`{"mcpServers":[]}`: false,
		`{`:                 false,
	} {
		found := claudesettings.Servers(settings.Source{Path: "/p/.mcp.json", Text: []byte(text)})
		if (len(found) == 1) != want || want && (found[0].Harmless || !strings.Contains(found[0].Text, "MCP server x")) {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func FuzzBeside(f *testing.F) {
	f.Add("---\nhooks: {PreToolUse: [{hooks: [{type: command, command: x}]}]}\n---\n", true)
	f.Add(`{"mcpServers":{"x":{"command":"claude","args":["mcp","serve"]}}}`, false)
	_, want := written(f)
	f.Fuzz(func(t *testing.T, text string, md bool) {
		path := "/x.json"
		if md {
			path = "/x.md"
		}
		for _, one := range claudesettings.Beside(settings.Source{Path: path, Text: []byte(text)}, want) {
			if one.Text == "" || one.Path != path {
				t.Errorf("%+v", one)
			}
		}
	})
}
