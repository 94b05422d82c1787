package judges

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/sealed"
	"approver.example/reflexcore"
)

func testRules(
	t *testing.T, kv approver.KV, audit approver.Recorder, log *slog.Logger,
) (*inForce[*configs.Library], *judging[*configs.Library]) {
	t.Helper()
	sealer, err := sealing.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	lib, err := configs.NewLibrary(nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := NewReflex(configs.Default(), lib)
	if err != nil {
		t.Fatal(err)
	}
	f := held(sealed.Record{Name: "rules", Store: kv, Sealer: sealer, ID: "here", Where: "the store"}, rulesSpec(),
		judgeBy(engine), audit, log)
	return f, &judging[*configs.Library]{f.active, engine}
}

// The story: an agent under the daemon's own user writes a file of rules beside the
// configuration that takes a built-in rule away, and makes the daemon restart. What
// tightens in it would be in force at once; as a whole it waits for people, who see
// the diff, and what they approve outlives the next start. Taking the file away
// loosens too, if it tightened.
func TestLooserRulesWaitForPeople(t *testing.T) {
	kv, audit := daemontest.OpenKV(t), &daemontest.Ledger{}
	log := &daemontest.SafeBuffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	file := filepath.Join(cfg.Dir, "rules.yaml")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	decides := func(live *judging[*configs.Library], command string) string {
		v, err := live.engine.Judge(t.Context(),
			approver.ToolCall{Tool: "Bash", Command: command, Dir: "/home/ada/shop", Env: map[string]string{"HOME": "/home/ada"},
				At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return v.Decision.String()
	}
	const own = "cat own.txt"
	less := func(live *judging[*configs.Library]) bool {
		return !slices.ContainsFunc(live.current().Rules().List(),
			func(r reflexcore.Rule) bool { return r.ID == daemontest.BuiltInRule() })
	}
	start := func() (*inForce[*configs.Library], *judging[*configs.Library]) {
		t.Helper()
		standing, live := testRules(t, kv, audit, logger)
		lib, err := openRules(cfg, logger)
		if err == nil {
			err = standing.start(t.Context(), lib)
		}
		if err != nil {
			t.Fatal(err)
		}
		return standing, live
	}

	// Before there was any, the built-in rules count: the first file waits too.
	put(daemontest.RulesLoose)
	if _, live := start(); less(live) || decides(live, own) != "pass" {
		t.Fatal("a looser file was in force at the first start")
	}
	put(daemontest.RulesTight)
	if _, live := start(); less(live) || decides(live, own) != "deny" {
		t.Fatal("a tighter file is not in force")
	}
	if !strings.Contains(audit.Notes(),
		"tightens, or changes no verdict; changed while approver did not run; before: built-in") &&
		!strings.Contains(audit.Notes(), "rule set ") {
		t.Error(audit.Notes())
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, live := start(); decides(live, own) != "deny" {
		t.Fatal("without the file its rules are gone")
	}
	put(daemontest.RulesLoose)
	standing, live := start()
	if less(live) || decides(live, own) != "deny" {
		t.Fatal("a restart was a way around people")
	}

	// The daemon that runs asks people. A broken file withdraws the question.
	questions := make(chan asked)
	r := reloadRules(cfg, standing,
		func(ctx context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict {
			q := asked{call, why, make(chan approver.Decision)}
			select {
			case questions <- q:
			case <-ctx.Done():
				return approver.Verdict{}
			}
			select {
			case d := <-q.answer:
				return approver.Verdict{Decision: d, Reason: "approved by Ada"}
			case <-ctx.Done():
				return approver.Verdict{}
			}
		})
	r.every = 2 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.run(ctx) }()
	q := <-questions
	if q.why.Severity != approver.Catastrophic || q.call.Tool != "change_rules" ||
		!strings.Contains(string(q.call.Args), "+disable: ["+daemontest.BuiltInRule()+"]") ||
		!strings.Contains(q.why.Reason, "the rule "+daemontest.BuiltInRule()+" is gone, which decided ") {
		t.Errorf("people see %s: %+v", q.call.Args, q.why)
	}
	put(daemontest.RulesBroken)
	daemontest.Eventually(t, "the broken file is told",
		func() bool { return strings.Contains(log.String(), "the last good rule set stays in force") })
	if decides(live, own) != "deny" {
		t.Error("a broken file took rules away")
	}
	put(daemontest.RulesLoose)
	q = <-questions
	q.answer <- approver.Allow
	daemontest.Eventually(t, "what people approved is in force", func() bool { return less(live) })
	put(daemontest.RulesTight)
	daemontest.Eventually(t, "what tightens is in force at once", func() bool { return !less(live) })
	put(daemontest.RulesLoose)
	q = <-questions
	q.answer <- approver.Allow
	daemontest.Eventually(t, "approved again", func() bool { return less(live) })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, live := start(); !less(live) {
		t.Error("what people approved did not outlive the restart")
	}
}

// A file of rules with a problem stops the start, and so does a record that somebody
// else made.
func TestRulesThatStopTheStart(t *testing.T) {
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cfg.Dir, "rules.yaml"), []byte(daemontest.RulesBroken), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRules(cfg, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), `rules.yaml:3:1: unknown key "colour"`) {
		t.Error(err)
	}
	kv := daemontest.OpenKV(t)
	if err := kv.Put(t.Context(), approver.Key("rules", "here"), []byte(`{"sealed":"x"}`), "", approver.NewRev(),
		time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	f, live := testRules(t, kv, &daemontest.Ledger{}, slog.New(slog.DiscardHandler))
	lib, err := configs.NewLibrary(nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.start(t.Context(), lib); err == nil ||
		!strings.Contains(err.Error(), "the rule set that was in force last cannot be read") || live.current() != nil {
		t.Error(err)
	}
}

// What of a project's rules does not count is in the audit once, and judging does
// not wait for that.
func TestAProjectThatLoosensIsRecorded(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".approver"), 0o700),
		os.WriteFile(filepath.Join(dir, ".approver", "rules.yaml"), []byte(daemontest.RulesLoose), 0o600)); err != nil {
		t.Fatal(err)
	}
	audit := &daemontest.Ledger{}
	reporter := newProjectReporter(audit, slog.New(slog.DiscardHandler))
	p := reporter.rules(configs.Default())
	now := time.Now()
	p.Now = func() time.Time { now = now.Add(time.Minute); return now }
	for range 3 {
		if set := p.For(dir); set == nil || len(set.List()) != 1 {
			t.Fatal("what tightens does not count")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- reporter.run(ctx) }()
	daemontest.Eventually(t, "it is in the audit", func() bool {
		return strings.Contains(audit.Notes(), "rules.yaml:3:1: disable loosens, so it is refused here")
	})
	cancel()
	if err := <-done; err != nil || strings.Count(audit.Notes(), "not all of a project's rules count") != 1 {
		t.Errorf("%v\n%s", err, audit.Notes())
	}
}
