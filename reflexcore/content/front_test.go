package content

import (
	"slices"
	"strings"
	"testing"
)

// The name, the agent and the skills of a text were read line by line, where Claude Code reads
// YAML: a comment, a fold, a nested key, braces or a tag gave a text another name than approver
// saw. Now what is not plain may be any name.
func TestFrontMatterThatMayHaveAnyName(t *testing.T) {
	for _, front := range []string{
		"name: helper # x", "name: >-\n  helper", "name: |\n  helper", "name: help\n  er", "name:\n  helper",
		"{name: helper, a: b}",
		"? name\n: helper", "!!str name: helper", "name: !!str helper", "&a name: helper", "a: &b helper\nname: *b",
		"<<: {name: helper}",
		"\"name\": helper", "'name': helper", "\"na\\x6de\": helper", "name: \"help\\x65r\"", "name: other\nname: helper",
		"Name: other\nname: helper",
		"  name: helper", " a: b\n name: helper", "a: b\n? \"na\\\n  me\"\n: helper", "name: 'hel''per'", "name: [helper]",
		"name: 1e3", "name: true",
		"name: 0x1f", "name: helper---\nx: y", "%YAML 1.2", "- name: helper", "...\nname: helper", "a: b\r? name\r: helper",
		"name: helper\nmore",
		"aliases: *a", "aliases: {a: helper}", "aliases: [a, \"\\x68\"]", "@name: helper", "| x\nname: helper",
	} {
		f := ReadFront("---\n" + front + "\n---\nText.")
		name := "helper"
		switch front {
		case "name: help\n  er":
			name = "help er"
		case "name: 1e3":
			name = "1000"
		case "name: 0x1f":
			name = "31"
		case "name: true", "%YAML 1.2":
			continue // the one is tried below, the other says no name
		}
		if called, sure := f.Called(name); !called || sure {
			t.Errorf("%q: %v, %v", front, called, sure)
		}
	}
	for front, name := range map[string]string{
		"name: helper\ndescription: it is, and: has: colons # and more": "helper",
		"description: |\n  name: other\nname: helper":                   "helper",
		"metadata:\n  name: other\nname: helper":                        "helper", "name: \"helper\"": "helper",
		"name : 'helper'": "helper", "# a\n\nname: helper\r": "helper",
		"description: x\nExamples of it\n<example>Context: y\nuser: a\nassistant: b\n" +
			"user: c\n</example>\nname: helper": "helper",
		"name: a:b\ntools:\n- Read\n- Write": "a:b", "aliases: [x, helper]\nname: z": "helper",
		"argument-hint: [a] [b]\nname: v1.2": "v1.2", "metadata: {\n}\nname: 3d-model": "3d-model", "name: Größe": "größe",
	} {
		f := ReadFront("---\n" + front + "\n---\nText.")
		if called, sure := f.Called(name); !called || !sure {
			t.Errorf("%q is not called %s: %v, %v", front, name, called, sure)
		}
		if called, _ := f.Called("nobody"); called {
			t.Errorf("%q may be called anything", front)
		}
	}
}

func TestFrontLists(t *testing.T) {
	for _, c := range []struct {
		front, want string
		ok          bool
	}{
		{"name: x", "", true},
		{"skills: a", "a", true},
		{"skills: a, \"b\" ,'c'", "a b c", true},
		{"skills: [a, b]", "a b", true},
		{"skills: [\n  a,\n  b\n  ]", "a b", true},
		{"skills: [\n  a,\n]", "a", true},
		{"skills:\n  - a\n  - b\n", "a b", true},
		{"skills:\n- a\n\n# c\n- \"b\"", "a b", true},
		{"skills: []", "", true},
		{"skills:", "", true},
		{"x: y\r\nskills: a", "a", true},
		{"x: y\rskills: a", "a", false},
		{"skills: a # b", "a", false},
		{"skills:\n  - a # b", "a", false},
		{"skills:\n  - a\n    b", "a b", false},
		{"skills:\n  a", "a", false},
		{"skills: a\n  b", "a b", false},
		{"skills: [a", "a", false},
		{"skills: [[a]]", "[a]", false},
		{"skills: {a: b}", "{a: b}", false},
		{"skills: *a", "*a", false},
		{"skills: &x a", "&x a", false},
		{"skills: !!str a", "!!str a", false},
		{"skills: >-\n  a", ">- a", false},
		{"skills: [\"\\x61\"]", "\\x61", false},
		{"skills: [\"a,b\"]", "a b", false},
		{"skills:\n  - a: b", "a: b", false},
		{"skills: a\nskills: b", "a b", false},
		{"skills: [a,\nskills: b]", "a b", false},
		{"? skills\n: [a]", "", false},
		{"!!str skills: a", "", false},
		{"{skills: [a]}", "", false},
	} {
		f := ReadFront("---\n" + c.front + "\n---\n")
		if got, ok := f.List("skills"); strings.Join(got, " ") != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v", c.front, got, ok)
		}
	}
}

// Servers were found by the key of their command, which a tag or a question mark hid, and
// hooks by a pattern, which a key on two lines or a lone carriage return passed by.
func TestFrontMatterThatAddsPrograms(t *testing.T) {
	for _, front := range []string{
		"mcpServers:\n  - srv:\n      !!str command: touch\n", "mcpServers:\n  - srv:\n      ? command\n      : touch\n",
		"mcpServers: {a: {command: b}}",
		"mcpServers: *a", "mcpServers:\n  srv:\n    command: x", "mcpservers: >-\n  x", "lspServers: {go: {}}",
		"mcpServers: [{a: b}]", "mcp_servers:\n  a:\n    command: b", "mcp_servers: {a: {command: b}}",
		"? \"hoo\\\n  ks\"\n: {PreToolUse: []}", "description: x\rhooks:\r  Stop: []\r",
		"description: x\rmcpServers: {a: {command: b}}", "!!map hooks: {}",
		"hooks:", "Hooks: {}", "a: b\n&x hooks: {}", "*x : {}", "hooks : {}",
	} {
		if p := ReadPrompt(".claude/agents/a.md", "---\n"+front+"\n---\nText."); p.Adds == "" {
			t.Errorf("%q adds nothing", front)
		}
	}
	for _, front := range []string{"mcpServers: [github]", "mcpServers:\n  - github\n  - \"sentry\"",
		"mcpServers: github", "description: hooks: and servers: x"} {
		if p := ReadPrompt(".claude/agents/a.md", "---\n"+front+"\n---\nText."); p.Runs() {
			t.Errorf("%q runs %+v", front, p)
		}
	}
}

// Claude Code splits arguments as a shell does, approver did at white space: a word in quotes
// became a whole command. Now a text whose commands could change by that is not known. A name
// for which there is no word vanishes, and so makes a command that was none.
func TestFillOfArguments(t *testing.T) {
	for _, c := range []struct {
		front, text, args string
		want              []string
		ok                bool
	}{
		{"", "!`git $0 $1`", "push -f", []string{"git push -f"}, true},
		{"", "!`git $ARGUMENTS[1]`", "a status", []string{"git status"}, true},
		{"", "!`git $ARGUMENTS`", "a 'b c'; d", []string{"git a 'b c'; d"}, true},
		{"", "!`git $9`", "a", []string{"git $9"}, true},
		{"", "!`awk \\$1 $0`", "a b", []string{"awk $1 a"}, true},
		{"", "!`git $0x $12a`", "a b", []string{"git $0x $12a"}, true},
		{"arguments: a ab", "!`git $ab $a`", "x y", []string{"git y x"}, true},
		{"arguments: [a, b]", "!`git $b`", "x y", []string{"git y"}, true},
		{"arguments:\n  - a\n  - b", "!`git $b`", "x y", []string{"git y"}, true},
		{"arguments: x", "!$x`git push`", "", []string{"git push"}, true},
		{"arguments: x", "!`git $xy $x[`", "a", []string{"git $xy $x["}, true},
		{"", "!$0", "'`git push`'", nil, false},
		{"", "!`echo $0 x`", "\"hi; git push;\"", nil, false},
		{"", "!`echo $0 x`", "a\\ b", nil, false},
		{"", "!`git $1 x`", "a;push", nil, false},
		{"", "!`git $1 x`", "* push", nil, false},
		{"", "!`git $1 x`", "a #b", nil, false},
		{"", "!$0`git push`", "''", nil, false},
		{"", "a$0!`git push`", "' '", nil, false},
		{"", "``$0`! git push```", "''", nil, false},
		{"", "Do $0", "'!`git push`'", nil, false},
		{"arguments: x", "!`git $x`", "'a b'", nil, false},
		{"\"arguments\": x", "!`git $x`", "a", nil, false},
		{"{arguments: x}", "!`git $x`", "a", nil, false},
		{"arguments: \"a\\x62\"", "!`git $ab`", "a", nil, false},
		{"arguments: a+b", "!`git $a+b`", "a", nil, false},
		{"", "Do $0 and `say $1`. !`git status`", "'it''s' \"x\"", []string{"git status"}, true},
		{"", "Do $ARGUMENTS. !`git status`", "it's \"x\" `y`!", []string{"git status"}, true},
	} {
		text := "---\n" + c.front + "\n---\n" + c.text
		p := ReadPrompt("a.md", text)
		filled, ok := p.Fill(text, c.args, 0)
		if ok != c.ok {
			t.Errorf("%q with %q: %v", c.text, c.args, ok)
		}
		if got := ReadPrompt("a.md", filled).Commands; ok && !slices.Equal(got, c.want) {
			t.Errorf("%q with %q: %q", c.text, c.args, got)
		}
	}
}

func FuzzReadFront(f *testing.F) {
	for _, s := range []string{"name: x\nskills: [a, b]", "{a: b}", "skills:\n- a", "- x", "\r\n?", "é: x", "name: \"a"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		front := ReadFront("---\n" + text + "\n---\n")
		if called, sure := front.Called(name); sure && !called {
			t.Fatal("called and not called")
		}
		list, _ := front.List("skills")
		if size := len(strings.Join(list, "")); size > 2*len(text) {
			t.Fatalf("%d bytes", size)
		}
	})
}
