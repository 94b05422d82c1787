package configs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// Honest texts for agents, as people write them: none of them runs anything, so none is a
// question, in whichever folder it lies. ”' stands for the fence, and ' for a backtick.
func TestPlainTextsAsPeopleWriteThem(t *testing.T) {
	texts := map[string]string{
		"headings with code":        "# The 'make' targets\n\n## 'build'!\n\nRuns the build.\n",
		"marks in prose":            "Stop! Read 'README.md' first! Then go on.\n",
		"a mark before a fence":     "Watch out!\n'''bash\nmake test\n'''\n",
		"fences of shell":           "'''bash\nnpm ci\nnpm test\n'''\n\n'''sh\nmake\n'''\n",
		"a fence with a mark in it": "'''bash\n#!/bin/bash\nif ! make; then exit 1; fi\n'''\n",
		"an image":                  "![a picture](docs/a.png) and ![b]('x')\n",
		"a callout":                 "> [!NOTE]\n> Use 'git status'.\n\n> [!WARNING]\n> Not on 'main'!\n",
		"negation in code":          "Use 'if (!ready)' and '!important' in CSS.\n",
		"a glob that excludes":      "Patterns: 'src/**', '!src/gen/**', and '!*.md'.\n",
		"history expansion":         "In bash, '!!' repeats and '!$' is the last word.\n",
		"arguments": "---\ndescription: Fix an issue\nargument-hint: [number]\n---\n" +
			"Fix issue $ARGUMENTS, then run 'make test'.\n",
		"numbered arguments": "Compare $1 with $2, and say $ARGUMENTS[0] first.\n",
		"allowed tools": "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)\n" +
			"description: Commit\n---\nCommit what is staged.\n",
		"a model and a color": "---\nname: reviewer\ndescription: \"Reviews code: style, tests, hooks\"\n" +
			"tools: Read, Grep, Glob\nmodel: sonnet\ncolor: blue\n---\nYou review.\n",
		"hooks in a description": "---\nname: react\ndescription: Knows React hooks, servers and commands\n---\n" +
			"Use hooks: 'useState', 'useEffect'.\n",
		"a word list":              "---\nname: a\nkeywords:\n  - git hooks\n  - mcp servers\n---\nText\n",
		"servers by name":          "---\nname: a\nmcpServers:\n  - github\n  - linear\n---\nText\n",
		"a section about hooks":    "# Hooks\n\nhooks:\n  - pre-commit\n\nmcpServers: none\n",
		"YAML in a fence":          "'''yaml\nhooks:\n  Stop: []\nmcpServers:\n  x:\n    command: date\n'''\n",
		"JSON in a fence":          "'''json\n{\"hooks\": {\"Stop\": []}}\n'''\n",
		"a table":                  "| command | does |\n|---|---|\n| 'ls' | lists! |\n| '!x' | negates |\n",
		"a list of commands":       "1. 'git fetch'\n2. 'git rebase origin/main'\n3. Done!\n",
		"files that are mentioned": "Look at @src/main.go and @docs/a.md!\n",
		"a rule's globs":           "---\npaths:\n  - \"src/**/*.ts\"\n  - \"!src/gen/**\"\n---\nUse 'const'.\n",
		"a marked word":            "This is **important!** 'x' and _new!_ 'y'.\n",
		"a question and a mark":    "Really?! 'yes'. No way!'no'\n",
		"a line of dashes":         "Text\n\n---\n\nhooks: are described below\n\n---\n",
		"HTML":                     "<!-- a comment with 'code' -->\n<details open>!</details>\n",
		"nested fences":            "''''md\n'''bash\nls\n'''\n''''\n",
		"a currency":               "It costs $5, or ${PRICE}!\n",
		"other letters":            "Achtung! Führe 'make' aus. 注意!'make'\n",
		"a template":               "Title: <title>\n\nBody: {{body}}!\n'{{x}}'\n",
	}
	if len(texts) < 25 {
		t.Errorf("only %d texts", len(texts))
	}
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	put(t, dir, "plug/.claude-plugin/plugin.json", `{"name":"plug","commands":["./own/c.md"],"author":{"name":"Ada"}}`)
	judge := toolCalls(t, dir, map[string]string{"HOME": home})
	for name, text := range texts {
		text = strings.ReplaceAll(text, "'", "`")
		for _, file := range []string{
			".claude/skills/x/SKILL.md", ".claude/commands/x.md", ".claude/agents/x.md", ".claude/rules/x.md",
			".claude/output-styles/x.md",
			"plug/commands/x.md", "plug/own/c.md", "plug/README.md",
		} {
			if v := judge("Write", map[string]any{"file_path": dir + "/" + file, "content": text}); v.Decision <= approver.Ask {
				t.Errorf("%s in %s is %v: %s", name, file, v.Decision, v.Reason)
			}
		}
		put(t, dir, ".claude/commands/loaded.md", text)
		if v := judge("Skill", map[string]any{"skill": "loaded", "args": "12 main"}); v.Decision <= approver.Ask {
			t.Errorf("%s that is loaded is %v: %s", name, v.Decision, v.Reason)
		}
	}
}

// Files beside texts, in a plugin or not, are files.
func TestPlainFilesOfPlugins(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	put(t, dir, "plug/.claude-plugin/plugin.json",
		`{"name":"plug","description":"hooks and servers","homepage":"https://example.com"}`)
	put(t, dir, "docs/guide.md", "A skill runs !`date`.\n")
	put(t, dir, "plain/skills/x/SKILL.md", plainSkill)
	judge := toolCalls(t, dir, map[string]string{"HOME": home})
	for i, c := range []struct {
		tool string
		args map[string]any
	}{
		{"Write", map[string]any{"file_path": dir + "/plug/README.md", "content": "A skill runs !`date`.\n"}},
		{"Write", map[string]any{"file_path": dir + "/plug/package.json", "content": `{"name":"x","version":"1.0.0"}`}},
		{"Write", map[string]any{"file_path": dir + "/plug/commands/a.json", "content": `{"command":"x"}`}},
		{"Write", map[string]any{"file_path": dir + "/plug/skills/x/run.py", "content": "print('!`x`')\n"}},
		{"Write", map[string]any{"file_path": dir + "/plug/.claude-plugin/plugin.json",
			"content": `{"name":"plug","version":"2","commands":["./own/c.md"]}`}},
		{"Write", map[string]any{"file_path": dir + "/docs/commands/a.md", "content": "It runs !`date`.\n"}},
		{"Write", map[string]any{"file_path": dir + "/.claude/workflows/a.js",
			"content": "export const meta = {}\nawait agent('x')\n"}},
		{"Write", map[string]any{"file_path": dir + "/monitors/a.json", "content": `{"command":"x"}`}},
		{"Bash", map[string]any{"command": "cp docs/guide.md docs/b.md"}},
		{"Bash", map[string]any{"command": "cp -r plain/skills plug/"}},
		{"Bash", map[string]any{"command": "cp \"$A/$B\" \"x-$C/$D\""}},
		{"Bash", map[string]any{"command": "claude -p 'Review the diff' --add-dir /srv/x"}},
		{"Bash", map[string]any{"command": "claude --plugin-dir plug"}},
		{"Bash", map[string]any{"command": "claude --plugin-dir missing"}},
		{"Bash", map[string]any{"command": "cat CLAUDE.md && ls /etc/claude-code"}},
	} {
		if v := judge(c.tool, c.args); v.Decision <= approver.Ask {
			t.Errorf("%d: %s %v is %v: %s", i, c.tool, c.args, v.Decision, v.Reason)
		}
	}
}
