package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/gate"
	"approver.example/internal/secret"
	"approver.example/shieldcore"
	"approver.example/shieldcore/classifier"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
	"approver.example/shieldcore/quota"
	"approver.example/shieldcore/screen"
	"approver.example/store/sqlitestore"
)

// tier2Policy lets a push go after the evaluation, and everything else at once.
const tier2Policy = `version: 1
tools: {known: ['*']}
rules: [{name: push, command: 'git push', decision: allow, min_tier: 2}]
`

// A table is a gate with every tier, as serve wires them, with parts to break.
type table struct {
	t        *testing.T
	provider *evaluatortest.Server
	policy   *shieldcore.Live
	model    *classifier.Model
	second   screen.Scorer
	quota    quota.Config
	kv       approver.KV
	url      string
	extra    []approver.Stage
}

func newTable(t *testing.T) *table {
	x := &table{t: t, provider: evaluatortest.New(), policy: &shieldcore.Live{}, quota: quota.DefaultConfig()}
	t.Cleanup(x.provider.Close)
	x.provider.Behave(evaluatortest.Deciding("ALLOW", 0.9, "fine"))
	x.url = x.provider.URL(evaluatortest.OpenAI)
	p, err := shieldcore.Load("policy.yaml", []byte(tier2Policy))
	if err != nil {
		t.Fatal(err)
	}
	x.policy.Set(p)
	if x.model, err = classifier.Load(); err != nil {
		t.Fatal(err)
	}
	store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	x.kv = store
	return x
}

// judge judges one call in a fail mode, and returns what was logged.
func (x *table) judge(mode string, call approver.ToolCall) (approver.Verdict, string) {
	x.t.Helper()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	cfg := configs.Default()
	cfg.FailMode, cfg.Shield.Quota = mode, x.quota
	cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: x.url, Model: evaluatortest.Model,
		Key: secret.New(x.provider.Key()), Deadline: time.Second}
	records := &daemontest.Ledger{}
	tier2, err := shield.Open(cfg, x.kv, records, log)
	if err != nil {
		x.t.Fatal(err)
	}
	screens, err := judges.LoadScreens()
	if err != nil {
		x.t.Fatal(err)
	}
	tier1 := screens(cfg.Shield.Classifier, nil)
	scored := cfg.Shield.Classifier.Stage(x.model)
	scored.Second, scored.SecondFrom = x.second, 0.9
	tier1[len(tier1)-1] = scored
	gate := &gate.Gate{
		Stages: append(append([]approver.Stage{x.policy}, tier1...), x.extra...), Tiers: approver.TierScreen,
		Evaluator: tier2.Evaluator(),
		FailOpen:  mode == configs.FailOpen, OnFailOpen: tier2.Opening, Audit: records, Log: log,
	}
	v := gate.Decide(context.Background(), call)
	_ = tier2.Close() // waits for alarms, which are told beside; a store that is gone cannot take back a lease
	gone, cancel := context.WithCancel(context.Background())
	cancel() // the store is not asked
	if opened := tier2.Status(gone).FailedOpen > 0; opened != (len(v.FailedOpen) > 0) {
		x.t.Errorf("counted as failed open: %v, but the verdict says %q", opened, v.FailedOpen)
	}
	last := slices.IndexFunc(records.Records, func(r approver.Record) bool { return r.Event == approver.EventVerdict })
	if last < 0 || records.Records[last].Verdict.Decision != v.Decision ||
		len(records.Records[last].Verdict.FailedOpen) != len(v.FailedOpen) {
		x.t.Errorf("the audit has %+v", records.Records)
	}
	return v, text.String()
}

// crashing is a further classifier that does what a story wants.
type crashing func() (float64, bool, error)

func (c crashing) Score(context.Context, string) (float64, bool, error) { return c() }

// broken is a stage with an error of its own.
type broken struct{ err error }

func (b broken) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	if b.err == nil {
		panic("a defect")
	}
	return approver.Verdict{Decision: approver.Allow}, b.err
}

// deadKV does not answer.
type deadKV struct{ approver.KV }

func (deadKV) Get(context.Context, string) ([]byte, approver.Rev, error) {
	return nil, "", errors.New("the store is gone")
}

func (deadKV) Now(context.Context) (time.Time, error) {
	return time.Time{}, errors.New("the store is gone")
}

// The fail-closed table of shield-pipeline.md, and what stands between its lines: a
// row for each way in which a tier fails, with both fail modes.
func TestTheFailClosedTable(t *testing.T) {
	rows := []struct {
		name         string
		breaks       func(x *table)
		closed, open string
		looksAtTier2 bool // in the open mode the evaluator is asked
	}{
		{"nothing is broken", func(*table) {}, "allow", "allow", true},
		{"policy missing", func(x *table) { x.policy.Set(nil) }, "deny", "pass 0.50 FAILED OPEN", false},
		{"classifier missing", func(x *table) { x.model = nil }, "deny", "allow 0.50 FAILED OPEN", true},
		{"classifier crash",
			func(x *table) { x.second = crashing(func() (float64, bool, error) { panic("segmentation fault") }) }, "deny",
			"allow 0.50 FAILED OPEN", true},
		{"classifier error", func(x *table) {
			x.second = crashing(func() (float64, bool, error) { return 0, true, errors.New("gone") })
		}, "deny", "allow 0.50 FAILED OPEN", true},
		{"classifier gives no number", func(x *table) {
			nan := 0.0
			x.second = crashing(func() (float64, bool, error) { return nan / nan, true, nil })
		}, "deny", "allow 0.50 FAILED OPEN", true},
		{"evaluator unreachable", func(x *table) { x.provider.Close() }, "deny", "allow 0.50 FAILED OPEN", false},
		{"evaluator too slow", func(x *table) { x.provider.Behave(evaluatortest.Slow(5 * time.Second)) }, "deny",
			"allow 0.50 FAILED OPEN", true},
		{"budget exhausted", func(x *table) {
			x.quota.DailyBudget = 1
			x.judge(configs.FailClosed, push()) // takes it
		}, "deny", "allow 0.50 FAILED OPEN", false},
		{"rate limit exceeded", func(x *table) {
			x.quota.Agent = quota.Rate{Count: 1, Per: time.Minute, Burst: 1}
			x.judge(configs.FailClosed, push())
		}, "deny", "deny", false},
		{"the provider's rate limit", func(x *table) { x.provider.Behave(behavior(x.t, "rate-limit-always")) }, "deny",
			"deny", true},
		{"canary mismatch", func(x *table) { x.provider.Behave(behavior(x.t, "canary-guessed")) }, "deny", "deny", true},
		{"canary missing", func(x *table) { x.provider.Behave(behavior(x.t, "canary-omitted")) }, "deny", "deny", true},
		{"another word for a decision", func(x *table) { x.provider.Behave(behavior(x.t, `decision-"UNSAFE"`)) }, "deny",
			"deny", true},
		{"the store of the limits is gone", func(x *table) { x.kv = deadKV{x.kv} }, "deny", "deny", false},
		{"a stage has another error", func(x *table) { x.extra = []approver.Stage{broken{errors.New("odd")}} }, "deny",
			"deny", false},
		{"a stage panics", func(x *table) { x.extra = []approver.Stage{broken{}} }, "deny", "deny", false},
	}
	var page strings.Builder
	fmt.Fprintf(&page, "%-34s %-8s %s\n", "error condition", "closed", "open")
	for _, row := range rows {
		got := map[string]string{}
		for _, mode := range []string{configs.FailClosed, configs.FailOpen} {
			x := newTable(t)
			row.breaks(x)
			before := x.provider.Count()
			v, logged := x.judge(mode, push())
			got[mode] = said(v)
			if looked := x.provider.Count() > before; mode == configs.FailOpen && looked != row.looksAtTier2 {
				t.Errorf("%s: the evaluator was asked: %v", row.name, looked)
			}
			if opened := len(v.FailedOpen) > 0; opened {
				for _, want := range []string{"FAIL OPEN", "call=call-1", "agent=claude", "git push", "uid=1000", "error="} {
					if !strings.Contains(logged, want) {
						t.Errorf("%s: the log does not say %q: %s", row.name, want, logged)
					}
				}
			}
		}
		if got[configs.FailClosed] != row.closed || got[configs.FailOpen] != row.open {
			t.Errorf("%s: closed %q, open %q; want %q and %q", row.name, got[configs.FailClosed], got[configs.FailOpen],
				row.closed, row.open)
		}
		fmt.Fprintf(&page, "%-34s %-8s %s\n", row.name, got[configs.FailClosed], got[configs.FailOpen])
	}
	t.Log("\n" + page.String())
}

func push() approver.ToolCall {
	return approver.ToolCall{ID: "call-1", Agent: "claude", Tool: "Bash", Command: "git push", Dir: "/src",
		Peer: approver.Peer{Known: true, UID: 1000}, At: time.Now()}
}

func behavior(t *testing.T, name string) evaluatortest.Behavior {
	t.Helper()
	for _, b := range evaluatortest.Broken() {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no behavior %s", name)
	return evaluatortest.Behavior{}
}

// said is a verdict in a word or two.
func said(v approver.Verdict) string {
	text := v.Decision.String()
	if v.Category == gate.CategoryFailOpen {
		text += fmt.Sprintf(" %.2f", v.Confidence)
	}
	if len(v.FailedOpen) > 0 {
		text += " FAILED OPEN"
	}
	return text
}

// What the evaluator objected to is not asked again, and takes nothing of the budget.
func TestAnObjectionHoldsInTheDaemon(t *testing.T) {
	x := newTable(t)
	cfg := configs.Default()
	cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: x.url, Model: evaluatortest.Model,
		Key: secret.New(x.provider.Key())}
	tier2, err := shield.Open(cfg, x.kv, &daemontest.Ledger{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	x.provider.Behave(evaluatortest.Deciding("BLOCK", 0.9, "no"))
	for i := range 3 {
		if v, err := tier2.Evaluator().Judge(t.Context(), push()); err != nil || v.Decision != approver.Deny {
			t.Errorf("time %d: %+v, %v", i, v, err)
		}
		x.provider.Behave(evaluatortest.Deciding("ALLOW", 0.9, "yes"))
	}
	if n, s := x.provider.Count(), tier2.Status(t.Context()); n != 1 || s.Quota.Spent != 1 {
		t.Errorf("%d requests, %+v", n, s.Quota)
	}
}
