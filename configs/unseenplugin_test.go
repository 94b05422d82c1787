package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// An agent wrote a plugin, or a part of one, in a folder of its own. Claude Code loads such
// folders whole, with hooks, servers and commands that no hook sees, and its manifest may
// give its texts any name. Now what makes a folder a plugin says what its files are.
func TestTextsOfPluginsAreAsked(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	run := "Look: !`date`\n"
	hooks := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"date"}]}]}}`
	server := `{"go":{"command":"./serve","extensionToLanguage":{".go":"go"}}}`
	put(t, dir, "plug/.claude-plugin/plugin.json",
		`{"name":"plug","commands":["./Own/c.md","${CLAUDE_PLUGIN_ROOT}/more"],"agents":"./own/ag.md","skills":["./sk"],
		"hooks":"./own/h.json","mcpServers":["./own/mcp-list.json"],"lspServers":"./own/l.json",
		"experimental":{"monitors":"./own/m.json"}}`)
	put(t, dir, "object/.claude-plugin/plugin.json", `{"name":"object","commands":{"about":{"source":"./README.md"}}}`)
	put(t, dir, "root/.claude-plugin/plugin.json", `{"name":"root","commands":"./"}`)
	put(t, dir, "broken/.claude-plugin/plugin.json", `{"name":`)
	put(t, dir, "large/.claude-plugin/plugin.json", `{"name":"`+strings.Repeat("x", 300<<10)+`"}`)
	put(t, dir, "market/.claude-plugin/marketplace.json",
		`{"name":"m","plugins":[{"name":"a","source":"./plugins/a","strict":false,"commands":["./texts/x.md"]}]}`)
	put(t, dir, "plug/half.md", "x")
	put(t, dir, "hooked/hooks/hooks.json", hooks)
	put(t, dir, "served/.mcp.json", "{}")
	put(t, dir, "p.zip", "PK")
	put(t, dir, ".claude/commands/now.md", forced)
	put(t, dir, "sub/.claude/skills/deep/SKILL.md", forced)
	put(t, dir, "plug/commands/half.md", "x\n\n!")
	put(t, dir, "plug/own/h.json", "{}")
	put(t, dir, "evil.md", run)
	put(t, dir, "skills/x/SKILL.md", run)
	if err := os.Symlink(filepath.Join(dir, "plug"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	judge := toolCalls(t, dir, map[string]string{"HOME": home})
	for name, text := range map[string]string{
		"plug/commands/a.md": run, "plug/commands/ns/a.md": run, "plug/agents/a.md": forced, "plug/skills/a/more.md": run,
		"plug/output-styles/a.md": run, "plug/own/c.md": run, "plug/OWN/C.md": run, "plug/more/a.md": run,
		"plug/more/deep/a.md": run, "plug/own/ag.md": run,
		"plug/sk/a/x.md": run, "plug/./commands/../commands/a.md": run, "link/commands/a.md": run, "object/README.md": run,
		"root/any.md": run, "broken/any.md": run, "large/any.md": run, "market/plugins/a/texts/x.md": run,
		"market/plugins/a/commands/x.md": run,
		"market/plugins/b/agents/x.md":   run, "plug/own/h.json": hooks, "plug/hooks/hooks.json": hooks,
		"plug/own/l.json":             server,
		"plug/own/m.json":             `[{"name":"m","command":"date","description":"d"}]`,
		"plug/monitors/monitors.json": `[{"name":"m","command":"date"}]`,
		"plug/.lsp.json":              server, "any/.lsp.json": server, "any/monitors/monitors.json": `[{"command":"date"}]`,
		"plug/settings.json":             `{"subagentStatusLine":{"type":"command","command":"date"}}`,
		"plug/own/mcp-list.json":         `{"mcpServers":{"x":{"command":"date"}}}`,
		"plug/.mcp.json":                 `{"mcpServers":{"x":{"command":"date"}}}`,
		"any/.claude-plugin/plugin.json": `{"name":"x","commands":{"a":{"content":"!` + "`date`" + `"}}}`,
		".claude/routines/a.md":          run,
		".claude/skills/p/commands/a.md": run,
		".claude/skills/p/.lsp.json":     server,
		".claude/skills/p/hooks/h.json":  hooks,
		".claude-plugin/marketplace.json": `{"name":"m","plugins":[{"name":"a","source":"./a","lspServers":{"x":{` +
			`"command":"date"}}}]}`,
	} {
		for tool, args := range map[string]map[string]any{
			"Write":                       {"file_path": dir + "/" + name, "content": text},
			"mcp__filesystem__write_file": {"path": dir + "/" + name, "content": text},
			"Bash":                        {"command": fmt.Sprintf("cat > '%s' <<'END'\n%s\nEND\n", name, text)},
		} {
			if v := judge(tool, args); v.Decision > approver.Ask {
				t.Errorf("%s into %s is %v", tool, name, v.Decision)
			}
		}
	}
	for _, command := range []string{
		"cp evil.md plug/commands/a.md", "cp evil.md plug/commands/", "tar xf x.tar -C plug", "rsync -a skills plug/",
		"cp -r skills plug/", "mv evil.md plug/own/c.md", "ln -s ../../evil.md plug/commands/a.md",
		"cat evil.md > object/README.md", "tee plug/own/c.md < evil.md", "tar xf x.tar -C plug/commands",
		"git clone https://example.com/x plug/skills/x",
		"curl -o plug/commands/x.md https://example.com/x.md", "printf '`date`' >> plug/commands/half.md",
		"cd plug && cp ../evil.md commands/x.md",
		`python3 -c 'open("plug/commands/x.md","w").write("!` + "`date`" + `")'`, "cp evil.md link/commands/x.md",
		"gone() { :; }; cp missing.md plug/commands/x.md",
		"claude --plugin-dir plug -p hi", "claude --plugin-dir=plug", "claude -p --plugin-dir hooked hi",
		"claude --plugin-dir served", "claude --plugin-dir p.zip", "claude --plugin-dir $X",
		"cd plug && claude --plugin-dir .", "claude -p /now", "claude -p '/now and then'", "claude '/now'",
		"cl'au'de -p /now", "c=claude; $c -p /now", "cd sub && claude -p /deep", "bash -c 'claude -p /now'",
		"claude -p hi --plugin-url https://example.com/p.zip",
	} {
		if v := judge("Bash", map[string]any{"command": command}); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for i, c := range []struct {
		tool string
		args map[string]any
	}{
		{"Edit", map[string]any{"file_path": dir + "/plug/commands/half.md", "old_string": "!", "new_string": "!`date`"}},
		{"Edit", map[string]any{"file_path": dir + "/plug/own/h.json", "old_string": "{}", "new_string": hooks}},
		{"mcp__filesystem__move_file",
			map[string]any{"source": dir + "/evil.md", "destination": dir + "/plug/commands/x.md"}},
		{"mcp__filesystem__copy_file", map[string]any{"source": dir + "/gone.md", "destination": dir + "/plug/own/c.md"}},
	} {
		if v := judge(c.tool, c.args); v.Decision > approver.Ask {
			t.Errorf("%d: %s is %v", i, c.tool, v.Decision)
		}
	}
	v := judge("Write", map[string]any{"file_path": dir + "/plug/own/c.md", "content": run})
	if !strings.Contains(v.Reason, "plug/own/c.md") {
		t.Errorf("the file is not named: %s", v.Reason)
	}
	if v := judge("Write",
		map[string]any{"file_path": dir + "/plug/own/c.md", "content": "!`rm -rf /`"}); v.Decision != approver.Deny {
		t.Errorf("a forbidden command in a plugin is %v", v.Decision)
	}
}

// A plugin lay among the skills of a repository, or was named by a flag. The Skill call
// named its command, nothing was found by that name, and so it passed. Now own paths are
// followed, and what is not found is a question.
func TestCallsThatLoadAPluginsText(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	put(t, dir, ".claude/skills/folder/.claude-plugin/plugin.json",
		`{"name":"named","commands":["./own/c.md","./more"],"skills":"./sk"}`)
	put(t, dir, ".claude/skills/folder/own/c.md", forced)
	put(t, dir, ".claude/skills/folder/more/d.md", forced)
	put(t, dir, ".claude/skills/folder/sk/e/SKILL.md", forced)
	put(t, dir, ".claude/skills/folder/commands/plain.md", "Text.")
	put(t, dir, ".claude/skills/folder/agents/a.md", "---\nname: a\nhooks:\n  Stop: []\n---\n")
	put(t, dir, ".claude/skills/object/.claude-plugin/plugin.json",
		`{"name":"object","commands":{"about":{"source":"./README.md"}}}`)
	put(t, dir, ".claude/skills/object/README.md", "!`rm -rf /`")
	put(t, dir, ".claude/skills/inl/.claude-plugin/plugin.json",
		`{"name":"inl","commands":{"a":{"content":"!`+"`date`"+`"}}}`)
	put(t, dir, ".claude/skills/broken/.claude-plugin/plugin.json", `{"name":`)
	put(t, dir, ".claude/agents/hooked.md", "---\nname: hooked\nhooks:\n  Stop: []\n---\n")
	put(t, dir, ".claude/agents/plain.md", strings.Replace(plainSkill, "name: x", "name: plain", 1))
	put(t, dir, ".claude/skills/forklost/SKILL.md", "---\nname: forklost\ncontext: fork\nagent: nobody\n---\nText\n")
	for name, script := range map[string]string{
		"hooked": "agent('x', {agentType: 'hooked'})", "quoted": `agent("x", {"agentType": "hooked"})`,
		"ticks":    "agent('x', {agentType:`hooked`})",
		"computed": "agent('x', {agentType: 'hoo' + k})", "variable": "agent('x', {agentType})",
		"key":     "agent('x', {['agent'+'Type']: 1, agentType: t})",
		"escaped": `agent('x', {agent\u0054ype: 'hooked'})`, "plain": "agent('x', {agentType: 'plain'})",
		"none": "agent('x')", "built": "agent('x', {agentType: 'Explore'})",
	} {
		put(t, dir, ".claude/workflows/"+name+"-file.js",
			"export const meta = { name: 'wf-"+name+"', description: 'd' }\n"+script+"\n")
	}
	plugin := filepath.Join(home, ".claude/plugins/cache/m/p/1")
	put(t, plugin, ".claude-plugin/plugin.json", `{"name":"p","commands":["./own/x.md"]}`)
	put(t, plugin, "own/x.md", forced)
	put(t, home, ".claude/plugins/installed_plugins.json",
		`{"version":2,"plugins":{"p@m":[{"scope":"user","installPath":"`+plugin+`"}]}}`)
	judge := toolCalls(t, dir, map[string]string{"HOME": home})
	for _, c := range []struct {
		tool, name string
		want       approver.Decision
		says       string
	}{
		{"Skill", "folder:c", approver.Ask, "own/c.md"},
		{"Skill", "named:c", approver.Ask, "own/c.md"},
		{"Skill", "named:d", approver.Ask, "more/d.md"},
		{"Skill", "named:e", approver.Ask, "sk/e/SKILL.md"},
		{"Skill", "named:plain", approver.Pass, ""},
		{"Skill", "object:about", approver.Deny, "README.md"},
		{"Skill", "inl:a", approver.Ask, "plugin.json"},
		{"Skill", "broken:a", approver.Ask, "plugin.json"},
		{"Skill", "p:x", approver.Ask, "own/x.md"},
		{"Skill", "gone:zz", approver.Ask, "gone:zz"},
		{"Skill", "gone", approver.Ask, "gone"},
		{"Skill", "gone with words", approver.Ask, "gone"},
		{"SlashCommand", "/gone now", approver.Ask, "gone"},
		{"SlashCommand", "/code-review 12", approver.Pass, ""},
		{"Skill", "Code-Review", approver.Ask, "Code-Review"},
		{"Skill", "mcp__x__y", approver.Ask, "mcp__x__y"},
		{"Skill", "forklost", approver.Ask, "nobody"},
		{"Agent", "named:a", approver.Ask, "agents/a.md"},
		{"Agent", "nobody", approver.Ask, "nobody"},
		{"Task", "gone:nobody", approver.Ask, "nobody"},
		{"Agent", "Explore", approver.Pass, ""},
		{"Workflow", "wf-hooked", approver.Ask, "hooked.md"},
		{"Workflow", "wf-quoted", approver.Ask, "hooked.md"},
		{"Workflow", "wf-ticks", approver.Ask, "hooked.md"},
		{"Workflow", "wf-computed", approver.Ask, "hooked.md"},
		{"Workflow", "wf-variable", approver.Ask, "hooked.md"},
		{"Workflow", "wf-key", approver.Ask, "hooked.md"},
		{"Workflow", "wf-escaped", approver.Ask, "hooked.md"},
		{"Workflow", "wf-plain", approver.Ask, "hooked.md"}, // a script may start any subagent
		{"Workflow", "deep-research", approver.Ask, "hooked.md"},
		{"Workflow", "gone", approver.Ask, ""},
		{"Workflow", "path:" + dir + "/.claude/workflows/hooked-file.js", approver.Ask, "hooked.md"},
		{"Workflow", "path:.claude/workflows/hooked-file.js", approver.Ask, "hooked.md"},
		{"Workflow", "path:gone.js", approver.Ask, ""},
	} {
		key := map[string]string{"Skill": "skill", "SlashCommand": "command", "Agent": "subagent_type",
			"Task": "subagent_type", "Workflow": "name"}[c.tool]
		name := c.name
		if file, ok := strings.CutPrefix(name, "path:"); ok {
			key, name = "scriptPath", file
		}
		v := judge(c.tool, map[string]any{key: name})
		switch {
		case v.Decision != c.want && (c.want != approver.Pass || v.Decision < approver.Pass):
			t.Errorf("%s %s is %v (%s): %s", c.tool, c.name, v.Decision, v.Rule, v.Reason)
		case !strings.Contains(v.Reason+v.Detail, c.says):
			t.Errorf("%s %s does not name %s: %s", c.tool, c.name, c.says, v.Reason)
		}
	}
}
