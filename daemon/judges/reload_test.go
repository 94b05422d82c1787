package judges

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/shieldcore"
)

const (
	policyA     = "version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: a, command: rm, decision: deny}\n"
	policyTight = policyA + "  - {name: b, command: mv, decision: deny}\n"
	policyLoose = policyA + "  - {name: c, command: ls, decision: allow}\n"
)

// asked is one question that is open.
type asked struct {
	call   approver.ToolCall
	why    approver.Verdict
	answer chan approver.Decision
}

func startReload(
	t *testing.T,
) (put func(string), live *shieldcore.Live, questions chan asked, log *daemontest.SafeBuffer) {
	t.Helper()
	cfg := configs.Default()
	cfg.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	put = func(text string) {
		if err := os.WriteFile(cfg.Policy, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	put(policyA)
	log, questions = &daemontest.SafeBuffer{}, make(chan asked)
	logger := slog.New(slog.NewTextHandler(log, nil))
	standing := testInForce(t, daemontest.OpenKV(t), &daemontest.Ledger{}, logger)
	live = new(shieldcore.Live)
	standing.active.use = live.Set
	file, err := openPolicy(cfg, logger)
	if err != nil {
		t.Fatal(err)
	}
	if err := standing.start(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict {
		q := asked{call, why, make(chan approver.Decision)}
		select {
		case questions <- q:
		case <-ctx.Done():
			return approver.Verdict{}
		}
		select {
		case d := <-q.answer:
			return approver.Verdict{Decision: d}
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), approver.ErrOutdated) && t.Context().Err() == nil {
				t.Errorf("a question ends for %v", context.Cause(ctx))
			}
			return approver.Verdict{}
		}
	}
	r := reloadPolicy(cfg, standing, ask)
	r.every = 2 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return put, live, questions, log
}

func rules(live *shieldcore.Live) int { return live.Policy().Len() }

func TestReload(t *testing.T) {
	put, live, questions, log := startReload(t)
	said := func(what string) func() bool {
		return func() bool { return strings.Contains(log.String(), what) }
	}

	put(policyTight)
	daemontest.Eventually(t, "a tighter policy is in force", func() bool { return rules(live) == 2 })

	// A broken file changes nothing, and says where it is broken.
	put(policyTight + "  - {name: x}\n")
	daemontest.Eventually(t, "the problem is told", said("policy.yaml:6:5"))
	if !said("the last good policy stays in force")() || rules(live) != 2 {
		t.Error(log)
	}
	put(policyTight)
	daemontest.Eventually(t, "it is whole again", said("again the one in force"))

	// A looser one waits for people; it is theirs, line by line.
	put(policyLoose)
	q := <-questions
	var args struct{ Diff []string }
	if err := json.Unmarshal(q.call.Args, &args); err != nil {
		t.Fatal(err)
	}
	if diff := strings.Join(args.Diff, "\n"); !strings.Contains(diff,
		"-  - {name: b, command: mv, decision: deny}\n+  - {name: c, command: ls, decision: allow}") {
		t.Errorf("the diff is\n%s", diff)
	}
	if q.why.Decision != approver.Ask || q.why.Severity != approver.Catastrophic ||
		!strings.Contains(q.why.Detail, "the rule c is new and allows") || q.call.ID == "" {
		t.Errorf("%+v", q)
	}
	if rules(live) != 2 || live.Policy().Version() == "" {
		t.Error("the looser policy is in force before it was approved")
	}
	q.answer <- approver.Deny
	daemontest.Eventually(t, "the no is told", said("was not approved"))
	if v, _ := live.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "mv a b"}); v.Decision != approver.Deny {
		t.Errorf("%+v", v)
	}

	// A change of the file ends the question about the former one.
	put(policyLoose + "# again\n")
	<-questions
	put(policyTight + "  - {name: d, command: dd, decision: deny}\n")
	daemontest.Eventually(t, "the tighter one is in force", func() bool { return rules(live) == 3 })
	if n := strings.Count(log.String(), "was not approved"); n != 1 || !said("is over: its file was changed again")() {
		t.Errorf("%d are told as not approved: %s", n, log)
	}

	// What was approved takes effect.
	put(policyLoose)
	(<-questions).answer <- approver.Allow
	daemontest.Eventually(t, "the approved one is in force", func() bool { return rules(live) == 2 })
	if v, _ := live.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "ls"}); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
}

// A file that others can write, or that is gone, is not taken.
func TestReloadRefusesAForeignFile(t *testing.T) {
	put, live, _, log := startReload(t)
	put(policyTight)
	daemontest.Eventually(t, "in force", func() bool { return rules(live) == 2 })
	file := live.Policy()
	if v, _ := file.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "mv x y"}); v.Where.File == "" ||
		os.Remove(v.Where.File) != nil {
		t.Fatalf("%+v", v)
	}
	daemontest.Eventually(t, "told", func() bool { return strings.Contains(log.String(), "stays in force") })
	if live.Policy() != file {
		t.Error("another policy is in force")
	}
}

func TestTheZeroLiveDenies(t *testing.T) {
	var l shieldcore.Live
	if v, err := l.Judge(t.Context(), approver.ToolCall{}); err == nil || v.Decision != approver.Deny ||
		l.Version() != "" {
		t.Errorf("%+v, %v", v, err)
	}
}
