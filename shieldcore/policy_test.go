package shieldcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/shieldcore"
)

func load(t testing.TB, rules string) *shieldcore.Policy {
	t.Helper()
	p, err := shieldcore.Load("p.yaml", []byte(head+rules))
	must(t, err)
	p.Home = func(uid uint32) (string, bool) { return "/data/home/ada", uid == 1000 }
	return p
}

func judge(t testing.TB, p *shieldcore.Policy, call approver.ToolCall) approver.Verdict {
	t.Helper()
	v, err := p.Judge(context.Background(), call)
	must(t, err)
	return v
}

func bash(command string) approver.ToolCall {
	return approver.ToolCall{Tool: "Bash", Command: command, Dir: "/project"}
}

func TestZeroPolicyDenies(t *testing.T) {
	var none *shieldcore.Policy
	for _, p := range []*shieldcore.Policy{none, {}} {
		v, err := p.Judge(context.Background(), bash("true"))
		var gone *approver.UnavailableError
		if !errors.As(err, &gone) || gone.MinTier != 0 || v.Decision != approver.Deny || v.By != "policy" || v.Reason == "" {
			t.Errorf("got %+v, %v", v, err)
		}
	}
}

func TestFirstMatchDecides(t *testing.T) {
	p := load(t, `
rules:
  - {name: one.deny, command: 'alpha', decision: deny, reason: no alpha}
  - {name: two.ask, command: 'alpha|beta', decision: ask, severity: high, ttl: 60s,
      reason: beta is asked, agent_reason: wait}
  - {name: three.deny, command: 'beta|gamma', decision: deny}
  - {name: four, command: 'delta', decision: ask}
  - {name: five, command: 'git status', decision: allow}
`)
	for command, want := range map[string]approver.Verdict{
		"alpha beta": {Decision: approver.Deny, Rule: "one.deny", Category: "one",
			Where: approver.Position{File: "p.yaml", Line: 5, Col: 5}, Reason: "no alpha", Detail: "no alpha"},
		"beta gamma": {
			Decision: approver.Ask, Rule: "two.ask", Category: "two", Where: approver.Position{File: "p.yaml", Line: 6, Col: 5},
			Severity: approver.High, TTL: time.Minute, Reason: "wait", Detail: "beta is asked",
		},
		"gamma": {
			Decision: approver.Deny, Rule: "three.deny", Category: "three",
			Where:  approver.Position{File: "p.yaml", Line: 8, Col: 5},
			Reason: "the policy's rule three.deny matches", Detail: "the policy's rule three.deny matches",
		},
		// Without a severity, an ask is catastrophic; without a ttl, the daemon's own counts.
		"delta": {
			Decision: approver.Ask, Rule: "four", Category: "four", Where: approver.Position{File: "p.yaml", Line: 9, Col: 5},
			Severity: approver.Catastrophic, Reason: "the policy's rule four matches", Detail: "the policy's rule four matches",
		},
		"git status": {
			Decision: approver.Allow, Rule: "five", Category: "five", Where: approver.Position{File: "p.yaml", Line: 10, Col: 5},
			Reason: "the policy's rule five matches", Detail: "the policy's rule five matches",
		},
	} {
		want.By, want.Confidence = "policy", 1
		got := judge(t, p, bash(command))
		if got.Says.Why.IsZero() != (got.Decision > approver.Ask) {
			t.Errorf("%s: people read %+v", command, got.Says)
		}
		if got.Says = (display.Summary{}); !equal(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", command, got, want)
		}
	}
	if got := judge(t, p, bash("epsilon")); got.Decision != approver.Pass {
		t.Errorf("no match: got %+v", got)
	}
}

func equal(a, b approver.Verdict) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestDefaultTTL(t *testing.T) {
	p,
		err := shieldcore.Load("p",
		[]byte("version: 1\ndefault_ttl: 30s\nrules:\n  - {name: a, command: x, decision: ask}\n  - {name: b, command: "+
			"y, decision: ask, ttl: 5s}\n"))
	must(t, err)
	for command, want := range map[string]time.Duration{"x": 30 * time.Second, "y": 5 * time.Second,
		"unknown tool": 30 * time.Second} {
		if got := judge(t, p, bash(command)).TTL; got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}

func TestUnknownToolIsAsked(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: never, decision: deny}\n")
	for _, tool := range []string{"", "bash", "Bash ", "BashX", "mcp__x__y", "Write\x00", "[", "*"} {
		v := judge(t, p, approver.ToolCall{Tool: tool})
		if v.Decision != approver.Ask || v.Severity != approver.High || v.Rule != shieldcore.RuleUnknownTool ||
			!strings.Contains(v.Reason, "tool") {
			t.Errorf("%q: got %+v", tool, v)
		}
	}
	// A policy that lists no tools knows none.
	p, err := shieldcore.Load("p", []byte("version: 1\n"))
	must(t, err)
	if v := judge(t, p, bash("true")); v.Decision != approver.Ask {
		t.Errorf("no tools listed: %+v", v)
	}
}

func TestTools(t *testing.T) {
	p, err := shieldcore.Load("p", []byte(`
version: 1
tools: {known: [Bash, "mcp__git__*"]}
rules:
  - {name: a, tools: ["mcp__prod__*", "Web?etch"], decision: deny}
`))
	must(t, err)
	for tool, want := range map[string]approver.Decision{
		"Bash": approver.Pass, "mcp__git__log": approver.Pass, "mcp__git__a/b": approver.Pass, "mcp__gitx": approver.Ask,
		"mcp__prod__drop": approver.Deny, "mcp__prod__a/b": approver.Deny, "WebFetch": approver.Deny, "Webetch": approver.Ask,
	} {
		if v := judge(t, p, approver.ToolCall{Tool: tool}); v.Decision != want {
			t.Errorf("%s: %v", tool, v.Decision)
		}
	}
}

func TestEverythingHasToBeSaid(t *testing.T) {
	p := load(t, "rules:\n  - {name: all, tools: ['*'], decision: deny}\n")
	for _, call := range []approver.ToolCall{{}, bash("x"), {Tool: "a/b"}, {Tool: "Read", Paths: []string{"x"}}} {
		if v := judge(t, p, call); v.Rule != "all" {
			t.Errorf("%+v: %+v", call, v)
		}
	}
}

// Rules that ask or deny are not put off by quotes, backslashes or white space.
func TestStrictCommandMatching(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: 'rm -rf /(\\s|$)', decision: deny}\n")
	for _, command := range []string{
		"rm -rf /", "rm   -rf\t/", `"rm" -rf /`, `r""m -rf '/'`, `r\m -rf /`, "rm \\\n -rf /", "echo x; rm -rf / # y",
		"rm\u00a0-rf\u2003/", "\n\nrm -rf /\n",
		"true && 'rm' \"-rf\" '/'",
	} {
		if v := judge(t, p, bash(command)); v.Decision != approver.Deny {
			t.Errorf("%q: %v", command, v.Decision)
		}
	}
	for _, command := range []string{"rm -rf /tmp", "rm -r /", "rm\n-rf /", "", "xrm -rf/"} {
		if v := judge(t, p, bash(command)); v.Decision != approver.Pass {
			t.Errorf("%q: %v", command, v.Decision)
		}
	}
}

// A raw command that a pattern means to match with its quotes is found too.
func TestRawCommandIsSearchedToo(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: '\"two  spaces\"', decision: deny}\n")
	if v := judge(t, p, bash(`echo "two  spaces"`)); v.Decision != approver.Deny {
		t.Errorf("%v", v.Decision)
	}
}

// A rule that allows matches a whole command of plain words, and nothing that
// merely starts, ends or continues like one.
func TestAllowNeedsThePlainWhole(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: 'git (status|log)( -\\w+)*|ls .*|echo (.*)', decision: allow}\n")
	for _, command := range []string{"git status", "git log -p -n", "ls -la src", `echo "plain words"`, "echo 'it is'",
		`echo "it's"`} {
		if v := judge(t, p, bash(command)); v.Decision != approver.Allow {
			t.Errorf("%q: %v", command, v.Decision)
		}
	}
	for _, command := range []string{
		"git status ", " git status", "git statusx", "sudo git status", "git log\n", "git log\nrm -rf /",
		"git status; rm -rf /",
		"ls a;b", "ls a|b", "ls a&b", "ls a<b", "ls a>b", "ls $a", "ls `a`", "ls $(a)", "ls (a)", "ls {a,b}", "ls \\a",
		"ls a\tb", "ls *", "ls ?", "ls [a]",
		"ls #a", "ls ~", "ls !a", "ls ^a", `echo "unbalanced`, "echo 'unbalanced", `echo "a;b"`, "echo '$x'", "ls caf\u00e9",
		"ls a\x00b", "ls \u202e", "",
		"ls a\rb", `echo 'a' "b`,
	} {
		if v := judge(t, p, bash(command)); v.Decision == approver.Allow {
			t.Errorf("%q was allowed", command)
		}
	}
}

func TestArgs(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, args: '(?i)drop\\s+table', decision: deny}\n")
	for args, want := range map[string]approver.Decision{
		`{"sql":"DROP TABLE users"}`: approver.Deny, `{"a":[{"b":["x","drop\ntable y"]}]}`: approver.Deny,
		`"drop table"`:              approver.Deny,
		`{"sql":"drop\u0020table"}`: approver.Deny, `{"a":"x","a":"drop table"}`: approver.Deny,
		`{"n":1,"b":true,"c":null,"s":"drop table"}`: approver.Deny,
		`{"a":[],"b":{},"s":"drop table"}`:           approver.Deny, `{"a":["x"],"s":"drop table"}`: approver.Deny,
		`{"ſ":"x","s":"drop  table"}`: approver.Deny,
		`{"drop table":"x"}`:          approver.Pass, `{"sql":"drop","t":"table"}`: approver.Pass, `{}`: approver.Pass,
		``: approver.Pass, `null`: approver.Pass,
	} {
		if v := judge(t, p, approver.ToolCall{Tool: "Read", Args: json.RawMessage(args)}); v.Decision != want {
			t.Errorf("%s: %v", args, v.Decision)
		}
	}
	for _, bad := range []string{"{", `{"a":1} x`, "nope", `{"a":"drop table"`} {
		if v, err := p.Judge(context.Background(), approver.ToolCall{Tool: "Read", Args: json.RawMessage(bad)}); err == nil ||
			v.Decision != approver.Deny {
			t.Errorf("%s: %+v, %v", bad, v, err)
		}
	}
}

// All conditions of a rule must hold.
func TestConditionsAreJoined(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, tools: [Write], paths: ['/etc/**'], args: secret, decision: deny}\n")
	call := func(tool, path, args string) approver.ToolCall {
		return approver.ToolCall{Tool: tool, Paths: []string{path}, Args: json.RawMessage(args)}
	}
	if v := judge(t, p, call("Write", "/etc/x", `["secret"]`)); v.Decision != approver.Deny {
		t.Errorf("all hold: %v", v.Decision)
	}
	for _, c := range []approver.ToolCall{
		call("Read", "/etc/x", `["secret"]`), call("Write", "/tmp/x", `["secret"]`), call("Write", "/etc/x", `["public"]`),
	} {
		if v := judge(t, p, c); v.Decision != approver.Pass {
			t.Errorf("%+v: %v", c, v.Decision)
		}
	}
}

func TestBoundsOfACall(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: x, decision: allow}\n")
	if v := judge(t, p, bash(strings.Repeat("x", shieldcore.MaxCommand+1))); v.Decision != approver.Deny ||
		v.Rule != shieldcore.RuleTooLong {
		t.Errorf("long command: %+v", v)
	}
	v, err := p.Judge(context.Background(), approver.ToolCall{Tool: "Read", Paths: make([]string, shieldcore.MaxPaths+1)})
	if err == nil || v.Decision != approver.Deny {
		t.Errorf("many paths: %+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := p.Judge(ctx, bash("x")); err == nil || v.Decision != approver.Deny {
		t.Errorf("ended context: %+v, %v", v, err)
	}
}

func TestStrictPaths(t *testing.T) {
	p := load(t, `
rules:
  - {name: ssh, paths: ['~/.ssh/**'], decision: deny}
  - {name: env, paths: ['**/.env', '**/.env.*'], decision: deny}
  - {name: etc, paths: ['/etc/*/x?[0-9]', '/opt/**/bin/**/tool'], decision: deny}
`)
	read := func(path string) approver.ToolCall {
		return approver.ToolCall{
			Tool: "Read", Paths: []string{"/ok", path}, Dir: "/data/home/ada/src",
			Peer: approver.Peer{Known: true, UID: 1000}, Env: map[string]string{"HOME": "/srv/claimed"},
		}
	}
	for _, path := range []string{
		"~/.ssh/id_rsa", "~/.ssh", "~/.SSH/Config", "/data/home/ada/.ssh/x", "../.ssh/x", "../../ada/./.ssh//x",
		"/srv/claimed/.ssh/x", "/home/bob/.ssh/x",
		"/root/.ssh/authorized_keys", "/Users/eve/.ssh/x", "$HOME/.ssh/x", "${HOME}/.ssh/x", "~root/.ssh/x", "~bob/.ssh/x",
		"/data/home/ada/src/../.ssh/x",
		".env", "a/b/.env", "/.env", ".env.local", "sub/../.env", "./.ENV",
		"/etc/a/xy1", "/etc/a/b/../xz9", "/opt/bin/tool", "/opt/a/b/bin/c/d/tool", "/opt/bin/bin/tool",
	} {
		if v := judge(t, p, read(path)); v.Decision != approver.Deny {
			t.Errorf("%s: %v", path, v.Decision)
		}
	}
	for _, path := range []string{
		"~/ssh/x", "~/.sshx", "/home/.ssh/x", "/etc/a/x1", "/etc/a/b/xy1", "/etc/a/xyz", "env", ".envrc", "/x.env",
		"/opt/tool", "/opt/bin/tools", "/home/bob/x/.ssh/y", "", "/",
	} {
		if v := judge(t, p, read(path)); v.Decision != approver.Pass {
			t.Errorf("%q: %+v", path, v)
		}
	}
}

// Without a directory, a relative path could be anywhere: rules that match any
// directory still do, and whatever is left is asked.
func TestUnplacedPath(t *testing.T) {
	p := load(t,
		"rules:\n  - {name: env, paths: ['**/.env'], decision: deny}\n  - {name: ok, tools: [Read], paths: ['/x/**', "+
			"'/y'], decision: allow}\n")
	for path, want := range map[string]approver.Decision{".env": approver.Deny, "a/.env": approver.Deny, "y": approver.Ask,
		"x/y": approver.Ask, "/x/y": approver.Allow, "/z": approver.Pass} {
		for _, dir := range []string{"", "relative", "./"} {
			if v := judge(t, p, approver.ToolCall{Tool: "Read", Paths: []string{path}, Dir: dir}); v.Decision != want {
				t.Errorf("%s in %q: %+v", path, dir, v)
			}
		}
	}
}

// The story: a project holds a symbolic link, notes.txt, to a private key. Its
// name looks harmless, so a rule over names alone reads the key.
func TestSymbolicLinksAreFollowed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	mk := func(path string) string {
		path = filepath.Join(dir, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	link := func(target, name string) {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	mk("private/key")
	mk("project/file")
	link(filepath.Join(dir, "private/key"), "project/notes.txt") // to a file
	link("../private", "project/docs")                           // to a folder, relative
	link("../private/new", "project/dangling")                   // to what is not there yet
	link("docs", "project/docs2")                                // to a link
	link("loop", "project/loop")
	link("../project/file", "private/out") // from where nobody may go
	p := load(t, "rules:\n  - {name: private, paths: ['"+dir+
		"/private/**'], decision: deny}\n  - {name: project, tools: [Write], paths: ['"+dir+
		"/project/**'], decision: allow}\n")

	for path, want := range map[string]approver.Decision{
		"file": approver.Allow, "new/file": approver.Allow, ".": approver.Allow,
		"notes.txt": approver.Deny, "docs": approver.Deny, "docs/key": approver.Deny, "docs/new/file": approver.Deny,
		"dangling":  approver.Deny,
		"docs2/key": approver.Deny, "dangling/x": approver.Deny, "new/../notes.txt": approver.Deny,
		"../private/out": approver.Deny, // as written
		// Cleaned as text, this is project/file; the kernel goes to dir/file.
		"docs/../file":                   approver.Pass,
		"../project/docs/../private/key": approver.Deny,
		"loop":                           approver.Pass, "loop/x": approver.Pass, // never opens, never allowed
		"~/x": approver.Pass, "file\x00x": approver.Pass, strings.Repeat("a/", 5000) + "x": approver.Pass,
		"../other": approver.Pass,
	} {
		v := judge(t, p, approver.ToolCall{Tool: "Write", Paths: []string{path}, Dir: filepath.Join(dir, "project")})
		if v.Decision != want {
			t.Errorf("%.40q: got %v, want %v", path, v.Decision, want)
		}
	}
	// One path outside spoils the lot, and no path at all is not "all paths".
	for _, paths := range [][]string{{"file", "/tmp/x"}, {"/tmp/x", "file"}, {}} {
		if v := judge(t, p, approver.ToolCall{Tool: "Write", Paths: paths,
			Dir: filepath.Join(dir, "project")}); v.Decision != approver.Pass {
			t.Errorf("%v: %v", paths, v.Decision)
		}
	}
}

// In a rule that allows, ~ is the home of the user who connected, by the user
// database, and never what a call claims.
func TestAllowedHome(t *testing.T) {
	p := load(t, "rules:\n  - {name: notes, paths: ['~/notes/**'], decision: allow}\n")
	for name, tt := range map[string]struct {
		path string
		peer approver.Peer
		want approver.Decision
	}{
		"own home":      {"/data/home/ada/notes/x", approver.Peer{Known: true, UID: 1000}, approver.Allow},
		"other case":    {"/data/home/ada/Notes/x", approver.Peer{Known: true, UID: 1000}, approver.Pass},
		"another home":  {"/home/bob/notes/x", approver.Peer{Known: true, UID: 1000}, approver.Pass},
		"claimed home":  {"/srv/claimed/notes/x", approver.Peer{Known: true, UID: 1000}, approver.Pass},
		"written ~":     {"~/notes/x", approver.Peer{Known: true, UID: 1000}, approver.Pass},
		"unknown user":  {"/data/home/ada/notes/x", approver.Peer{Known: true, UID: 2}, approver.Pass},
		"unknown peer":  {"/data/home/ada/notes/x", approver.Peer{UID: 1000}, approver.Pass},
		"out of folder": {"/data/home/ada/notes/../x", approver.Peer{Known: true, UID: 1000}, approver.Pass},
	} {
		v := judge(t, p, approver.ToolCall{Tool: "Write", Paths: []string{tt.path}, Peer: tt.peer,
			Env: map[string]string{"HOME": "/srv/claimed"}, Dir: "/"})
		if v.Decision != tt.want {
			t.Errorf("%s: %v", name, v.Decision)
		}
	}
}

// The user database knows at least the user that runs the test.
func TestHomeOfTheSystem(t *testing.T) {
	p,
		err := shieldcore.Load("p",
		[]byte("version: 1\ntools: {known: [Read]}\nrules: [{name: a, paths: ['~/x'], decision: deny}]\n"))
	must(t, err)
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Skip("this user is not in the user database:", err)
	}
	t.Setenv("HOME", t.TempDir()) // says nothing of another user
	home, uid := u.HomeDir, uint32(os.Getuid())
	if home == "/" {
		t.Skip("the user database gives this user no home of its own")
	}
	v := judge(t, p, approver.ToolCall{Tool: "Read", Paths: []string{home + "/x"}, Dir: "/",
		Peer: approver.Peer{Known: true, UID: uid}})
	if v.Decision != approver.Deny {
		t.Errorf("%s/x: %v", home, v.Decision)
	}
}

func TestConcurrentUse(t *testing.T) {
	p := load(t,
		"rules:\n  - {name: a, command: 'x y', paths: ['~/a'], args: '(?i)b', decision: deny}\n  - {name: b, command: 'x "+
			"y', decision: ask}\n")
	done := make(chan approver.Decision)
	for range 8 {
		go func() {
			v, _ := p.Judge(context.Background(), bash("x  y"))
			done <- v.Decision
		}()
	}
	for range 8 {
		if d := <-done; d != approver.Ask {
			t.Errorf("got %v", d)
		}
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
