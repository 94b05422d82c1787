package content

import (
	"slices"
	"strings"
	"testing"
)

// scriptSpaces is what JavaScript counts to white space; alike looks like it and is none.
var (
	scriptSpaces = []rune{
		'\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
		0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
	}
	alike = []rune{0x1c, 0x1f, 0x85, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x2800}
)

// An agent wrote a skill whose first line was three dashes and a byte order mark. For Claude
// Code that is the begin of front matter, and the hooks in it ran; Go counts no such mark to
// white space, so approver saw none. Now each character that JavaScript takes for white
// space is that at each place where Claude Code looks for it, and front matter that is
// found by some readers only may say anything.
func TestWhiteSpaceOfJavaScript(t *testing.T) {
	for r := range rune(0x11000) {
		if want := slices.Contains(scriptSpaces, r); IsScriptSpace(r) != want {
			t.Errorf("%U: %v", r, !want)
		}
	}
	rows := 0
	is := func(place string, r rune, text string, want func(p *Prompt) bool) {
		rows++
		if p := ReadPrompt(".claude/skills/a/SKILL.md", text); !want(&p) {
			t.Errorf("%s, %U: %+v", place, r, p)
		}
	}
	asks := func(p *Prompt) bool { return p.Adds == "hooks" }
	for _, r := range slices.Concat(scriptSpaces, alike) {
		s := string(r)
		is("behind the first dashes", r, "---"+s+"\nhooks: {}\n---\n", asks)
		is("before the first line", r, "---\n"+s+"\nhooks: {}\n---\n", asks)
		is("behind the last dashes", r, "---\nhooks: {}\n---"+s+"\nx", asks)
		is("behind the last dashes, with a command", r, "---\na: b\n---"+s+"!`date`", func(p *Prompt) bool {
			return slices.Equal(p.Commands, []string{"date"}) || slices.Contains(alike, r) && p.Commands == nil
		})
		is("before a command", r, "x"+s+"!`date`", func(p *Prompt) bool {
			return slices.Equal(p.Commands, []string{"date"}) || slices.Contains(alike, r)
		})
		is("at the begin of a command", r, "!`"+s+"date`", func(p *Prompt) bool {
			return slices.Equal(p.Commands, []string{"date"}) == slices.Contains(scriptSpaces, r)
		})
		is("at its end", r, "```!\ndate"+s+"\n```", func(p *Prompt) bool {
			return slices.Equal(p.Commands, []string{"date"}) == slices.Contains(scriptSpaces, r)
		})
		is("between names of arguments", r, "---\narguments: \"a"+s+"b\"\n---\n!$b `date`", func(p *Prompt) bool {
			names, ok := p.Front.arguments()
			return !ok || len(names) == 2 && slices.Contains(scriptSpaces, r)
		})
		if strings.ContainsRune(" \t\n", r) {
			continue // for YAML, too
		}
		is("behind a colon", r, "---\ndescription: a: b\nskills:"+s+"evil, #x\n---\n", func(p *Prompt) bool {
			return p.Front.Odd || slices.Contains(alike, r)
		})
		is("behind a colon and a space", r, "---\ndescription: a: b\nskills: "+s+"evil\n---\n", func(p *Prompt) bool {
			list, ok := p.Front.List("skills")
			return !ok || slices.Equal(list, []string{"evil"}) && strings.ContainsRune("\r", r)
		})
		is("behind a name", r, "---\nname: evil"+s+"\n---\n", func(p *Prompt) bool {
			_, ok := p.Front.Value("name")
			return !ok || r == '\r'
		})
	}
	t.Logf("%d rows", rows)
}

func TestFrontMatterOfOthers(t *testing.T) {
	for text, odd := range map[string]bool{
		"---\nhooks: {}\n": false, "---": false, "---\n": false, "--- a": false, "x\n---\n": false,
		"\n---\nname: a\n---\n": false,
		"----\nname: a\n---\n":  true, "--- x\nname: a\n---\n": true, "---name: a\n---\n": true,
		"---\u200b\nname: a\n---\n":       true,
		"\ufeff\ufeff---\nname: a\n---\n": true, "\ufeff---\nname: a\n---\n": false, "---\r\nname: a\r\n---\r\n": false,
		"---\rname: a\r---\r": true, "---\nname: a\n---!`date`": false, "---\nname: a\rb: c\n---\n": true, "------\n": true,
		"---\n---\n": false,
	} {
		p := ReadPrompt("a.md", text)
		if p.Front.Odd != odd {
			t.Errorf("%q: %v", text, p.Front.Odd)
		}
		if strings.Contains(text, "!`") && len(p.Commands) == 0 { // behind the last dashes
			t.Errorf("%q has no command", text)
		}
	}
}

// One file with keys in quotes made each call of any skill a question, because such front
// matter may give any name. Now it gives only a name whose words stand there, unless it
// has what builds a text.
func TestNamesThatOddFrontMatterMayGive(t *testing.T) {
	for _, c := range []struct {
		front  string
		called string // may be
		not    string // cannot be
	}{
		{"\"name\": \"quoted\"\n\"description\": \"Checks code.\"", "quoted checks QUOTED code", "quote help review uoted"},
		{"'name': my-skill", "my-skill my_skill skill", "my-skil yourskill"},
		{"? name\n: helper", "helper", "other"},
		{"{name: helper, a: b}", "helper", "help"},
		{"\"name\": a\n  b", "a-b a:b", "b-a"},
		{"\"name\": größe", "größe GRÖßE", "grosse"},
		{"\"name\": 31\n", "31 1e+21 1.5 true -1 NaN a,b", "x31"},
		{"name: >-\n  helper", "helper", "other"},
		{"\"na\\x6de\": \"h\\x65lper\"", "any thing", ""},
		{"\"name\": &a help\nx: *a", "any", ""},
		{"\"name\": *a", "any", ""},
		{"[!!binary aGVscGVy]", "any", ""},
		{"? <<\n: {x: y}", "any", ""},
		{"'name': 'hel''per'", "any", ""},
		{"\"a\": b\rname: x", "any", ""},
		{"{\"a\":*b}", "any", ""},
		{"\"name\": x\n\"description\": R&D, **bold**! 50% of a*b", "any", ""}, // **bold** may be an alias
		{"\"name\": x\n\"description\": R&D! 50% of a*b", "x d 50", "helper"},
	} {
		f := ReadFront("---\n" + c.front + "\n---\nText of other words.")
		for name := range strings.FieldsSeq(c.called) {
			if called, sure := f.Called(name); !called || sure {
				t.Errorf("%q may be called %s: %v, %v", c.front, name, called, sure)
			}
		}
		for name := range strings.FieldsSeq(c.not) {
			if called, _ := f.Called(name); called {
				t.Errorf("%q cannot be called %s", c.front, name)
			}
		}
	}
}

// Numbers of arguments were read up to four digits, names of arguments were split at commas
// and in lists, and a backslash before a digit was kept: each made a command of a text, or
// another command, that approver did not see.
func TestArgumentsAsClaudeCodeReadsThem(t *testing.T) {
	const push = "git push"
	for _, c := range []struct {
		front, text, args string
		want              []string
		ok                bool
	}{
		{"", "hello !$00000", "'`git push`'", nil, false},
		{"", "hello !$ARGUMENTS[00000]", "'`git push`'", nil, false},
		{"", "!`echo $00001`", "a b", []string{"echo b"}, true},
		{"", "!`echo $ARGUMENTS[0000000000001]`", "a b", []string{"echo b"}, true},
		{"", "!`echo $99999999999999999999999`", "a b", []string{"echo $99999999999999999999999"}, true},
		{"", "!`echo $" + strings.Repeat("0", 400) + "`", "a b", []string{"echo a"}, true},
		{"arguments: [x y]", "hello !$x y`git push`", "", nil, false},
		{"arguments: [\"x y\"]", "hello !$x y`git push`", "", nil, false},
		{"arguments:\n  - x y\n", "hello !$x y`git push`", "", nil, false},
		{"arguments:\n- x\n- y z\n", "hello !$y z`git push`", "", nil, false},
		{"arguments: a, b", "hello !$a,`git push`", "", nil, false},
		{"arguments: a,b", "hello !$a,b`git push`", "", nil, false},
		{"arguments: \"a, b\"", "hello !$a,`git push`", "", nil, false},
		{"arguments: x y", "hello !$y`git push`", "", []string{push}, true},
		{"arguments: \"x y\"", "hello !$y`git push`", "", []string{push}, true},
		{"arguments: 1 x", "!`echo $x`", "a b", nil, false},
		{"arguments: " + strings.Repeat("x", 65), "!`echo $x`", "a b", nil, false},
		{"arguments: x.y", "!`echo $x.y`", "a", nil, false},
		{"", "!`\\$1git push`", "x", []string{"$1git push"}, true},
		{"", "!`\\$1git push`", "", []string{"$1git push"}, true},
		{"", "!`\\\\$1git push`", "x", []string{`\\$1git push`}, true},
		{"", "!`\\$0git`", "x", []string{"$0git"}, true},
		{"arguments: a, b", "Work at $a. See `x`.", "1 2", nil, true}, // nothing can run
		{"", "Do $1 and `x`.", "\"why does `npm test` fail\"", nil, true},
		{"", "Do $1 and `x`.", "\"why does `npm test` fail?!\"", nil, false},
	} {
		p := ReadPrompt("a.md", "---\n"+c.front+"\n---\n"+c.text)
		filled, ok := p.Fill("---\n"+c.front+"\n---\n"+c.text, c.args, 0)
		if ok != c.ok {
			t.Errorf("%q, %.40q with %q: %v", c.front, c.text, c.args, ok)
		}
		if got := ReadPrompt("a.md", filled).Commands; ok && !slices.Equal(got, c.want) {
			t.Errorf("%q, %.40q with %q: %q", c.front, c.text, c.args, got)
		}
	}
}

// Claude Code writes the path of a skill's folder before its text and looks for commands
// behind that, so an agent gave a folder the name of a command.
func TestFolderThatRuns(t *testing.T) {
	for _, dir := range []string{"a !`git push` b", "!`git push`", "a/!`git push`/b", "a `", "```! git push```", "x !$0",
		"$1", "$ARGUMENTS", "x !$name", "\n!`date`\n"} {
		if InFolder(".claude/skills/"+dir) == "" {
			t.Errorf("%q is taken for a plain folder", dir)
		}
	}
	for _, dir := range []string{"/home/ada/Work!/app/.claude/skills/a", "/srv/a (b)/[c]/{d}/e f",
		"/a/'b'/\"c\"/#d/%e/~f/@g/&h"} {
		if why := InFolder(dir); why != "" {
			t.Errorf("%q: %s", dir, why)
		}
	}
	for text, want := range map[string]bool{"See ${CLAUDE_SKILL_DIR}/x.": true, "${CLAUDE_PLUGIN_ROOT}`date`": true,
		"plain": false} {
		for _, dir := range []string{"/a/b !", "/a/$0", "/a/`"} {
			if got := PutIn(text, "/c", dir) != ""; got != want {
				t.Errorf("%q in %q: %v", dir, text, got)
			}
		}
		if PutIn(text, "/a/b", "") != "" {
			t.Errorf("%q in a plain folder", text)
		}
	}
}
