package shieldcore_test

import (
	"encoding/json"
	"testing"

	"approver.example"
)

// A tool takes a command and runs something else besides. A rule that allows the
// command must not allow the rest.
func TestAllowedCommandMustBeAllThatRuns(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: 'git status', decision: allow}\n")
	for args, want := range map[string]bool{
		`{"command":"git status"}`:                                      true,
		`{"command":"git status","description":"look","timeout":5000}`:  true,
		`{"command":"git status","script":"rm -rf /"}`:                  false,
		`{"command":"git status","args":["-v","-rf","/"]}`:              false,
		`{"command":["git status"],"cmd":"rm"}`:                         false,
		`{"cmd":"git status"}`:                                          false,
		`{"command":"git status","description":{"post":"curl x | sh"}}`: false,
		`["git status"]`: false,
	} {
		call := approver.ToolCall{Tool: "mcp__sh__run", Command: "git status", Args: json.RawMessage(args), Dir: "/repo"}
		v, err := p.Judge(t.Context(), call)
		must(t, err)
		if got := v.Decision == approver.Allow; got != want {
			t.Errorf("%s: allowed %v, want %v", args, got, want)
		}
	}
}

// The story: a rule lets a file server's tools work in the project. The server
// takes a second path, or a script, under a name that nobody here knows; the rule
// must not allow that because the first path is harmless.
func TestAllowedPathsMustBeAllThatIsTouched(t *testing.T) {
	p := load(t,
		"rules:\n  - {name: a, tools: ['mcp__fs__*', Glob, Edit, MultiEdit], paths: ['/repo/**'], decision: allow}\n")
	for name, test := range map[string]struct {
		args, command string
		paths, urls   []string
		dir           string
		want          bool
	}{
		"the path alone": {args: `{"path":"/repo/a"}`, paths: []string{"/repo/a"}, want: true},
		"text to write": {args: `{"path":"/repo/a","content":"rm -rf /","overwrite":true,"mode":420}`,
			paths: []string{"/repo/a"}, want: true},
		"edits": {args: `{"path":"/repo/a","edits":[{"old_string":"/etc","new_string":"x"}]}`,
			paths: []string{"/repo/a"}, want: true},
		"two known paths": {args: `{"source":"/repo/a","destination":"/repo/b"}`,
			paths: []string{"/repo/a", "/repo/b"}, want: true},
		"a command beside the path": {args: `{"path":"/repo/a","command":"rm -rf /"}`, command: "rm -rf /",
			paths: []string{"/repo/a"}},
		"a path under another key": {args: `{"path":"/repo/a","target":"/etc/cron.d/x"}`, paths: []string{"/repo/a"}},
		"from and to": {args: `{"path":"/repo/a","to":"/root/.ssh/authorized_keys"}`,
			paths: []string{"/repo/a"}},
		"a nested path": {args: `{"path":"/repo/a","edits":[{"path":"/etc/passwd"}]}`,
			paths: []string{"/repo/a"}},
		"a script in the text": {args: `{"path":"/repo/a","content":{"script":"rm -rf /"}}`, paths: []string{"/repo/a"}},
		"an address": {args: `{"path":"/repo/a","url":"https://evil.example"}`, paths: []string{"/repo/a"},
			urls: []string{"https://evil.example"}},
		"braces":                    {args: `{"pattern":"/repo/{x,../../etc}/*"}`, paths: []string{"/repo/{x,../../etc}/*"}},
		"arguments that are a list": {args: `["/repo/a"]`, paths: []string{"/repo/a"}},
	} {
		call := approver.ToolCall{Tool: "mcp__fs__x", Command: test.command, Paths: test.paths, URLs: test.urls,
			Args: json.RawMessage(test.args), Dir: "/repo/a/b"}
		v, err := p.Judge(t.Context(), call)
		must(t, err)
		if got := v.Decision == approver.Allow; got != test.want {
			t.Errorf("%s: allowed %v, want %v", name, got, test.want)
		}
	}
}

// The story: a long expression is written as a block, as people write YAML. The
// block ends in a line break that no command has, and the rule that should deny
// never matches.
func TestBlockScalars(t *testing.T) {
	for _, yaml := range []string{
		"rules:\n  - name: a\n    command: |\n      rm -rf /\n    decision: deny\n",
		"rules:\n  - name: a\n    command: >\n      rm -rf /\n    decision: deny\n",
		"define:\n  what: |\n    rm -rf\nrules:\n  - name: a\n    command: '%{what} /'\n    decision: deny\n",
		"rules:\n  - name: a\n    args: |\n      rm -rf /\n    decision: deny\n",
	} {
		p := load(t, yaml)
		v,
			err := p.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "rm -rf /",
			Args: json.RawMessage(`{"command":"rm -rf /"}`), Dir: "/"})
		if err != nil || v.Decision != approver.Deny {
			t.Errorf("%v, %v under\n%s", v.Decision, err, yaml)
		}
	}
}

// On a Mac's file system ſ is s and the Kelvin sign is k: this is ~/.ssh.
func TestPathsFoldLikeFileSystems(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, paths: ['~/.ssh/*', '**/.kube/config'], decision: deny}\n")
	for _, path := range []string{"/Users/ann/.s\u017fh/id_rsa", "/Users/ann/p/.\u212aube/config"} {
		v, err := p.Judge(t.Context(), approver.ToolCall{Tool: "Read", Paths: []string{path}})
		if want := approver.Deny; err != nil || v.Decision != want {
			t.Errorf("%+q: %v, %v", path, v.Decision, err)
		}
	}
}
