package shieldcore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/shieldcore"
)

const head = "version: 1\ntools: {known: [Bash, Read, Write]}\n"

// Every problem in full: place, what, what to do, line and caret.
func TestLoadProblems(t *testing.T) {
	rule := func(lines ...string) string {
		return head + "rules:\n  - name: a.b\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":      {"", "p.yaml:1:1: version is missing: write version: 1 at the top"},
		"no version": {"rules: []\n", "p.yaml:1:1: version is missing: write version: 1 at the top"},
		"other version": {"version: 2\n",
			"p.yaml:1:10: version must be 1: this approver reads no other policy format\n    version: 2\n             ^"},
		"text version": {"version: one\n",
			"p.yaml:1:10: version must be a whole number, not a text\n    version: one\n             ^"},
		"unknown key": {rule("command: x", "desicion: ask", "decision: ask"),
			"p.yaml:6:5: unknown key \"desicion\": did you mean \"decision\"?\n        desicion: …\n        ^"},
		"both dialects": {head + "rules: []\ndeny: []\n",
			"p.yaml:4:1: the file has rules and the list deny: either rules that are tried from top to bottom, or the lists " +
				"deny, verify and allow\n    deny: []\n    ^"},
		"duplicate key": {rule("command: x", "decision: ask", "command: y"),
			"p.yaml:7:5: key \"command\" is already given in line 5: keep one\n        command: …\n        ^"},
		"duplicate name": {rule("command: x", "decision: ask") + "  - name: a.b\n    command: y\n    decision: deny\n",
			"p.yaml:7:11: rule \"a.b\" is already defined in line 4: give this one another name\n      - name: a.b\n       " +
				"       ^"},
		"no name": {head + "rules:\n  - command: x\n    decision: ask\n",
			"p.yaml:4:5: the rule has no name: add a line such as name: git.force_push\n      - command: x\n        ^"},
		"bad name": {head + "rules:\n  - name: Force Push\n    command: x\n    decision: ask\n",
			"p.yaml:4:11: name must be lower-case words joined by dots, at most 64 characters: write it like " +
				"git.force_push\n      - name: Force Push\n              ^"},
		"built-in name": {head + "rules:\n  - name: unknown_tool\n    command: x\n    decision: ask\n",
			"p.yaml:4:11: \"unknown_tool\" is the name of a built-in finding: choose another\n      - name: unknown_tool\n  " +
				"            ^"},
		"no decision": {rule("command: x"),
			"p.yaml:4:5: the rule has no decision: add decision: allow, ask or deny\n      - name: a.b\n        ^"},
		"bad decision": {rule("command: x", "decision: dney"),
			"p.yaml:6:15: unknown decision \"dney\": did you mean \"deny\"?\n        decision: dney\n                  ^"},
		"pass decision": {rule("command: x", "decision: pass"),
			"p.yaml:6:15: unknown decision \"pass\": one of allow, ask, deny\n        decision: pass\n                  ^"},
		"null decision": {rule("command: x", "decision:"),
			"p.yaml:6:5: decision has no value: fill it in or remove the line\n        decision:\n        ^"},
		"bad severity": {rule("command: x", "decision: ask", "severity: hgih"),
			"p.yaml:7:15: unknown severity \"hgih\": did you mean \"high\"?\n        severity: hgih\n                  ^"},
		"severity on deny": {rule("command: x", "decision: deny", "severity: high"),
			"p.yaml:7:5: severity is for rules that ask; this one decides deny: remove the line\n        severity: high\n " +
				"       ^"},
		"ttl on allow": {rule("command: x", "decision: allow", "ttl: 60s"),
			"p.yaml:7:5: ttl is for rules that ask; this one decides allow: remove the line\n        ttl: 60s\n        ^"},
		"ttl too short": {rule("command: x", "decision: ask", "ttl: 4.9s"),
			"p.yaml:7:10: the time for people must be 5s to 1h\n        ttl: 4.9s\n             ^"},
		"ttl too long": {rule("command: x", "decision: ask", "ttl: 61m"),
			"p.yaml:7:10: the time for people must be 5s to 1h\n        ttl: 61m\n             ^"},
		"ttl no unit": {rule("command: x", "decision: ask", "ttl: 60"),
			"p.yaml:7:10: ttl must be a duration: write it like 90s or 2m\n        ttl: 60\n             ^"},
		"default ttl": {"version: 1\ndefault_ttl: 0s\n",
			"p.yaml:2:14: the time for people must be 5s to 1h\n    default_ttl: 0s\n                 ^"},
		"no condition": {rule("decision: deny"),
			"p.yaml:4:5: the rule has no condition, so it would match every call: add command, paths, args or tools, or " +
				"write tools: [\"*\"] if that is meant\n      - name: a.b\n        ^"},
		"empty tools": {rule("tools: []", "command: x", "decision: deny"),
			"p.yaml:5:12: tools is empty: remove the line for any tool, or name some\n        tools: []\n               ^"},
		"empty paths": {rule("paths: []", "decision: deny"),
			"p.yaml:5:12: paths is empty: remove the line, or name some\n        paths: []\n               ^"},
		"empty command": {rule("command: ''", "decision: deny"),
			"p.yaml:5:14: the regular expression is empty: remove the line, or write one\n        command: ''\n          " +
				"       ^"},
		"matches the empty text": {rule("command: 'rm -rf|'", "decision: deny"),
			"p.yaml:5:14: the regular expression matches the empty text and so every call: make some part of it required, " +
				"or name the rule's tools if that is meant\n        command: 'rm -rf|'\n                 ^"},
		"open bracket": {rule("command: 'git (push'", "decision: ask"),
			"p.yaml:5:15: bad regular expression: missing closing ) at \"git (push\": close every bracket, or write \\( for " +
				"a literal one\n        command: 'git (push'\n                  ^"},
		"look-ahead": {rule("command: 'rm (?!-i)x'", "decision: ask"),
			"p.yaml:5:18: bad regular expression: invalid or unsupported Perl syntax at \"(?!\": RE2 has no look-around; " +
				"use a rule before this one for the exceptions\n        command: 'rm (?!-i)x'\n                     ^"},
		"back-reference": {rule(`args: '(a)\1'`, "decision: ask"),
			"p.yaml:5:15: bad regular expression: invalid escape sequence at \"\\\\1\": this escape does not exist, there " +
				"are no back-references; in double quotes every backslash is written twice\n        args: '(a)\\1'\n           " +
				"       ^"},
		"repeat count": {rule("command: 'a{1001}'", "decision: ask"),
			"p.yaml:5:16: bad regular expression: invalid repeat count at \"{1001}\": repeat counts go up to 1000\n        " +
				"command: 'a{1001}'\n                   ^"},
		"too large": {rule("command: '(?:abcdefgh){999}'", "decision: ask"),
			"p.yaml:5:14: the regular expression is too large: about 8991 steps, the limit is 5000; use smaller repeat " +
				"counts or make two rules of it\n        command: '(?:abcdefgh){999}'\n                 ^"},
		"unknown fragment": {"version: 1\ndefine: {start: a}\nrules:\n  - {name: a, decision: ask, command: '%{staart}b'}\n",
			"p.yaml:4:40: %{staart} is not defined: did you mean %{start}?\n      - {name: a, decision: ask, command: " +
				"'%{staart}b'}\n                                           ^"},
		"bad fragment": {"version: 1\ndefine: {start: '(a'}\n",
			"p.yaml:2:18: bad regular expression: missing closing ) at \"(a\": close every bracket, or write \\( for a " +
				"literal one\n    define: {start: '(a'}\n                     ^"},
		"nested fragment": {"version: 1\ndefine: {a: x, b: 'y%{a}'}\n",
			"p.yaml:2:19: a fragment cannot use another one: write it out\n    define: {a: x, b: 'y%{a}'}\n               " +
				"       ^"},
		"fragment name": {"version: 1\ndefine: {A-b: x}\n",
			"p.yaml:2:10: \"A-b\" is not a name for a fragment: use lower-case letters, digits and _\n    define: {A-b: " +
				"x}\n             ^"},
		"relative path": {rule("paths: [src/*]", "decision: ask"),
			"p.yaml:5:13: path \"src/*\" must start with /, ~/ or **/: write **/src/* for that name anywhere\n        " +
				"paths: [src/*]\n                ^"},
		"everything by path": {rule("paths: ['**']", "decision: ask"),
			"p.yaml:5:13: path \"**\" matches every path: write /** if that is meant\n        paths: ['**']\n                ^"},
		"dots in path": {rule("paths: [/a/../b]", "decision: ask"),
			"p.yaml:5:13: path \"/a/../b\" has a needless slash or dot: write \"/b\"\n        paths: [/a/../b]\n         " +
				"       ^"},
		"stars in a segment": {rule("paths: [/a/b**]", "decision: ask"),
			"p.yaml:5:13: path \"/a/b**\" ** must stand alone between slashes\n        paths: [/a/b**]\n                ^"},
		"braces in path": {rule("paths: ['/a.{js,ts}']", "decision: ask"),
			"p.yaml:5:13: path \"/a.{js,ts}\" may not hold { } or a backslash: write one pattern for each alternative\n     " +
				"   paths: ['/a.{js,ts}']\n                ^"},
		"class in path": {rule("paths: ['/a[b']", "decision: ask"),
			"p.yaml:5:13: path \"/a[b\" has a bracket that is not closed or a range that is empty\n        paths: " +
				"['/a[b']\n                ^"},
		"bad tool": {"version: 1\ntools: {known: ['a[']}\n",
			"p.yaml:2:17: tool \"a[\" is not a name: write it as the agent does, with * for any part\n    tools: {known: " +
				"['a[']}\n                    ^"},
		"allow with args": {rule("args: x", "decision: allow"),
			"p.yaml:5:5: a rule that allows cannot have args: a text found in them does not say what the rest does\n        " +
				"args: x\n        ^"},
		"long reason": {rule("command: x", "decision: ask", "reason: "+strings.Repeat("r", 501)),
			"p.yaml:7:13: a reason must be one line of at most 500 bytes\n    …"},
		"two-line reason": {rule("command: x", "decision: ask", "agent_reason: \"a\\nb\""),
			"p.yaml:7:19: a reason must be one line of at most 500 bytes\n        agent_reason: \"a\\nb\"\n               " +
				"       ^"},
		"rules a group": {head + "rules: {a: b}\n",
			"p.yaml:3:8: rules must be a list, not a group of keys: write it like [a, b]\n    rules: {a: b}\n           ^"},
		"rule a text": {head + "rules: [x]\n",
			"p.yaml:3:9: rules[0] must be a group of \"key: value\" lines, not a text\n    rules: [x]\n            ^"},
		"star unquoted": {rule("tools: [*]", "decision: deny"),
			"p.yaml:5:13: an alias is not allowed: write the value out, or quote the text if it starts with a literal *\n   " +
				"     tools: [*]\n                ^"},
		"two documents": {head + "---\n" + head,
			"p.yaml:4:1: a second document is not allowed: keep everything in one\n    version: 1\n    ^"},
		"bad YAML": {head + "rules: [\n",
			"p.yaml:3:8: sequence end token ']' not found: check indentation, quotes and brackets around here\n    rules: " +
				"[\n           ^"},
		"several at once": {rule("command: '('", "decision: maybe", "severtiy: high"),
			"p.yaml:5:15: bad regular expression: missing closing ) at \"(\": close every bracket, or write \\( for a " +
				"literal one\n        command: '('\n                  ^\n" +
				"p.yaml:6:15: unknown decision \"maybe\": one of allow, ask, deny\n        decision: maybe\n                  ^\n" +
				"p.yaml:7:5: unknown key \"severtiy\": did you mean \"severity\"?\n        severtiy: …\n        ^"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := shieldcore.Load("p.yaml", []byte(tt.text))
			if err == nil {
				t.Fatal("loaded")
			}
			if p != nil {
				t.Error("a policy came with the error")
			}
			got := err.Error()
			if rest, cut := strings.CutSuffix(tt.want, "…"); cut && rest != tt.want && strings.HasSuffix(tt.want, "\n    …") {
				if !strings.HasPrefix(got, rest) {
					t.Errorf("got\n%s\nwant the start\n%s", got, rest)
				}
				return
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLoadBounds(t *testing.T) {
	var rules, big strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&rules, "  - {name: r%d, command: x, decision: ask}\n", i)
	}
	for i := range 140 {
		fmt.Fprintf(&big, "  - {name: r%d, command: 'x{1,900}y{1,900}z{1,600}', decision: ask}\n", i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"rules":     {head + "rules:\n" + rules.String(), "10001 rules: the limit is 10000"},
		"all steps": {head + "rules:\n" + big.String(), "too large together: the limit is about 500000 steps"},
		"pattern": {head + "rules: [{name: a, decision: ask, command: '" + strings.Repeat("x", 2001) + "'}]\n",
			"has 2001 bytes: the limit is 2000"},
		"fragments": {head + "define: {a: '" + strings.Repeat("x", 1500) +
			"'}\nrules: [{name: a, decision: ask, command: '%{a}%{a}%{a}%{a}%{a}%{a}'}]\n",
			"bytes with its fragments: the limit is 8000"},
		"file":   {head + strings.Repeat("#", 1<<20), "the limit is 1048576"},
		"laughs": {head + "rules: &a [*a, *a]\n", "an anchor is not allowed"},
		"repetition": {head + "rules: [{name: a, decision: ask, command: '((a{1,100}){1,100}){1,100}'}]\n",
			"invalid repeat count"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := shieldcore.Load("p", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.400v, want %q", err, tt.want)
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestVersionIsTheHashOfTheBytes(t *testing.T) {
	a, errA := shieldcore.Load("a", []byte("version: 1\n"))
	b, errB := shieldcore.Load("b", []byte("version: 1\n# c\n"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	// printf 'version: 1\n' | sha256sum
	if got := a.Version(); got != "09bfcc6a14b83e2192b8673677725c84883ee9cd0c70e45c9ec09daa8f2b2847" {
		t.Errorf("version %q", got)
	}
	if a.Version() == b.Version() {
		t.Error("a comment does not change the version")
	}
	var none *shieldcore.Policy
	if none.Version() != "" || (&shieldcore.Policy{}).Version() != "" {
		t.Error("no policy has a version")
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"", "version: 1\n", head,
		head + "rules:\n  - name: a.b\n    command: 'git\\s+push'\n    decision: ask\n    severity: high\n    ttl: 60s\n",
		head + "rules:\n  - {name: a, tools: ['*'], decision: deny}\n",
		"version: 1\ndefine: {a: 'x|y'}\nrules: [{name: b, command: '%{a}z', decision: allow}]\n",
		"version: 1\nrules:\n- name: c\n  paths: ['~/.ssh/**', '/etc/*']\n  decision: ask\n",
		"version: 1\nrules: [{name: d, args: '(?i)drop', decision: deny}]\n",
		"version: 1\nrules:\n- name: e\n  reason: >-\n    x\n  decision: ask\n  command: \"\\\\brm\"\n", "rules: [*a]",
		"version: 1\ntools: {known: ['mcp__*']}\n",
		"version: 1\ndefault: {decision: block}\ndenylist: {protected: ['/x/**']}\nverify:\n- {name: a, action_types: " +
			"['*'], path_patterns: ['/**'], tier_override: 2}\n",
		"version: 1\nrules:\n- {name: a, content_patterns: [x], channels: [slack], approvers: [ada], when: {branches: " +
			"[main], environments: [prod], time: {from: '1:00', to: '2:00', zone: UTC}}, decision: ask}\n",
	} {
		f.Add([]byte(s), "rm -rf /")
	}
	f.Fuzz(func(t *testing.T, data []byte, command string) {
		p, err := shieldcore.Load("f", data)
		if (p == nil) != (err != nil) {
			t.Fatalf("policy %v with error %v", p, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		v,
			err := p.Judge(context.Background(), approver.ToolCall{Tool: "Bash", Command: command, Paths: []string{command},
			Dir: "/"})
		must(t, err)
		if v.Decision != approver.Pass && (v.Rule == "" || v.Reason == "" || v.Detail == "") {
			t.Fatalf("a finding that does not say what it is: %+v", v)
		}
		if v.TTL != 0 && (v.TTL < shieldcore.MinTTL || v.TTL > shieldcore.MaxTTL) {
			t.Fatalf("ttl %v", v.TTL)
		}
	})
}
