package reflexcore_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
)

// A session is a trace of calls with a title.
type session struct {
	title string
	calls []string
}

func readSessions(t *testing.T, name string) (out []session) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "flow", name))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n\n") // after the heading
	for text := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		title, calls, _ := strings.Cut(text, "\n")
		out = append(out, session{strings.TrimPrefix(title, "# "), strings.Split(calls, "\n")})
	}
	return out
}

// flowPolicy is the default with sources of one's own.
func flowPolicy(t testing.TB, mode flow.Mode) *flow.Policy {
	t.Helper()
	c := flow.DefaultConfig()
	c.Mode = mode
	c.Sources = []flow.Source{{Label: flow.Confidential, Paths: []string{"~/clients/**"},
		Hosts: []string{"wiki.corp.example"}}}
	p, err := flow.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// project is a repository with a remote on the disk.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".git/config": "[remote \"origin\"]\n\turl = git@github.com:ada/shop.git\n", ".gitignore": ".env*\n!.env.example\n",
		".git/HEAD": "ref: refs/heads/topic\n",
		".env":      "KEY=x\n", ".env.backup": "KEY=x\n", "config/defaults.txt": "KEY=x\n", "notes.txt": "x",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// judged plays a session and returns the verdict of each call. Calls that are not
// denied run.
func (s session) judged(t testing.TB, e *reflexcore.Engine, dir string) (out []approver.Verdict) {
	t.Helper()
	e = e.With(memory.New(nil, loop.DefaultLimits, slog.New(slog.DiscardHandler)))
	id, at := 0, time.Unix(1e9, 0)
	for _, line := range s.calls {
		if line == "SESSION" {
			id++
			continue
		}
		line = strings.ReplaceAll(line, "DIR", dir)
		at = at.Add(10 * time.Second)
		call := approver.ToolCall{
			Agent: "claude", Session: fmt.Sprint(id), Tool: "Bash", Command: line, Dir: dir,
			Env: map[string]string{"HOME": "/home/ada"}, At: at,
			Peer: approver.Peer{Known: true, UID: 1000},
		}
		if tool, args, ok := strings.Cut(line, " {\""); ok && !strings.ContainsAny(tool, " ") {
			call.Tool, call.Command, call.Args = tool, "", []byte("{\""+args)
		}
		v, err := e.Judge(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if v.Decision != approver.Deny {
			e.Ran(t.Context(), call, reflexcore.Result{Output: "ok"})
		}
		out = append(out, v)
	}
	return out
}

// with returns an engine with the built-in rules and a policy of information flow.
func withFlow(t testing.TB, mode flow.Mode) *reflexcore.Engine {
	t.Helper()
	e := engine(t)
	e.SetFlow(flowPolicy(t, mode))
	return e
}

// Honest sessions are stopped no more often with the matrix than without it.
func TestHonestSessionsStayQuiet(t *testing.T) {
	off, enforce := withFlow(t, flow.Off), withFlow(t, flow.Enforce)
	dir := project(t)
	alarms, calls := 0, 0
	all := readSessions(t, "honest.txt")
	for _, s := range all {
		was, now := s.judged(t, off, dir), s.judged(t, enforce, dir)
		for i := range was {
			calls++
			if now[i].Decision < was[i].Decision {
				alarms++
				t.Errorf("%s: call %d: %s (%s), without the matrix %s: %s", s.title, i+1, now[i].Decision, now[i].Rule,
					was[i].Decision, now[i].Detail)
			}
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d sessions", len(all))
	}
	holdTable(t, "honest",
		fmt.Sprintf("%d honest sessions with %d calls: %d stopped that rules alone would not have stopped.\n", len(all),
			calls, alarms))
}

// holdTable compares a part of the table in docs/information-flow.md with what the
// traces gave.
func holdTable(t *testing.T, name, want string) {
	t.Helper()
	const page = "../docs/information-flow.md"
	begin, end := "<!-- flow traces: "+name+" -->\n", "<!-- end of flow traces: "+name+" -->\n"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, is := strings.Cut(rest, end)
	if !ok || !is {
		t.Fatalf("%s has no place for the traces: %s", page, name)
	}
	if have == want {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s has another table: run go test ./reflexcore -run 'Quiet|IsStopped' -update", page)
}

// The last call of each of these sessions gets data out, and is stopped.
func TestExfiltrationIsStopped(t *testing.T) {
	off, enforce := withFlow(t, flow.Off), withFlow(t, flow.Enforce)
	dir := project(t)
	all := readSessions(t, "exfiltration.txt")
	found, rules := 0, 0
	table := "| data gets out | calls | rules alone | enforced | by |\n|---|---|---|---|---|\n"
	for _, s := range all {
		was, now := s.judged(t, off, dir), s.judged(t, enforce, dir)
		then := now[len(now)-1]
		table += fmt.Sprintf("| %s | %d | %s | %s | `%s` |\n", s.title, len(now), was[len(was)-1].Decision, then.Decision,
			then.Rule)
		if last := now[len(now)-1]; last.Decision <= approver.Ask {
			found++
		} else {
			t.Errorf("%s: the last call is not stopped: %s %s", s.title, last.Decision, last.Rule)
		}
		if was[len(was)-1].Decision <= approver.Ask {
			rules++
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d sessions", len(all))
	}
	holdTable(t, "exfiltration",
		fmt.Sprintf("%d sessions in which data gets out: %d stopped at the last call, %d by rules alone.\n\n%s", len(all),
			found, rules, table))
}

// In audit mode every verdict is the one without a matrix, and says in shadow what
// the matrix would have done.
func TestAuditStopsNothing(t *testing.T) {
	off, audit, enforce := withFlow(t, flow.Off), withFlow(t, flow.Audit), withFlow(t, flow.Enforce)
	dir := project(t)
	shadows := 0
	for _, s := range slices.Concat(readSessions(t, "honest.txt"), readSessions(t, "exfiltration.txt")) {
		was, now, then := s.judged(t, off, dir), s.judged(t, audit, dir), s.judged(t, enforce, dir)
		for i := range was {
			if now[i].Decision != was[i].Decision || now[i].Rule != was[i].Rule || now[i].Severity != was[i].Severity {
				t.Errorf("%s: call %d: %s %s in audit mode, %s %s without", s.title, i+1, now[i].Decision, now[i].Rule,
					was[i].Decision, was[i].Rule)
			}
			shadowed := slices.ContainsFunc(now[i].Shadow, func(id string) bool { return strings.HasPrefix(id, "flow.") })
			if shadowed {
				shadows++
			}
			if strings.HasPrefix(then[i].Rule, "flow.") && !shadowed {
				t.Errorf("%s: call %d: %s is not in shadow in audit mode: %v", s.title, i+1, then[i].Rule, now[i].Shadow)
			}
		}
	}
	if shadows == 0 {
		t.Error("nothing is in shadow")
	}
}
