package judges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/safefile"
	"approver.example/daemon/sealed"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// held is hold with a record of the test.
func held[V versioned](
	record sealed.Record, s spec[V], use func(V), audit approver.Recorder, log *slog.Logger,
) *inForce[V] {
	return &inForce[V]{Record: record, spec: s, active: &active[V]{use: use}, audit: audit, log: log,
		unused: new(unusedReason)}
}

// judging is a version in force, and the engine that judges by it.
type judging[V versioned] struct {
	*active[V]
	engine *reflexcore.Engine
}

// testInForce is what keeps the policy of an installation whose keys are zeroes.
func testInForce(t *testing.T, kv approver.KV, audit approver.Recorder, log *slog.Logger) *inForce[*shieldcore.Policy] {
	t.Helper()
	sealer, err := sealing.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return held(sealed.Record{Name: "policy", Store: kv, Sealer: sealer, ID: "here", Where: "the store"}, policySpec(),
		new(shieldcore.Live).Set, audit, log)
}

func policyOf(t *testing.T, text string) *shieldcore.Policy {
	t.Helper()
	p, err := shieldcore.Load("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The story: an agent that may write the policy file adds a rule that allows, and
// makes the daemon restart, because a running daemon would ask. The policy that
// was in force stays in force, and people see the exact diff. What tightens is in
// force at once; what people approved outlives the next start.
func TestARestartIsNoWayAroundPeople(t *testing.T) {
	kv, audit := daemontest.OpenKV(t), &daemontest.Ledger{}
	log := slog.New(slog.DiscardHandler)
	start := func(text string) *inForce[*shieldcore.Policy] {
		t.Helper()
		f := testInForce(t, kv, audit, log)
		if err := f.start(t.Context(), policyOf(t, text)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, tight, loose := policyOf(t, policyA).Version(), policyOf(t, policyTight).Version(),
		policyOf(t, policyLoose).Version()

	if f := start(policyA); f.active.Version() != a ||
		!strings.Contains(audit.Notes(), "the first policy of this installation") {
		t.Fatalf("the first: %s\n%s", f.active.Version(), audit.Notes())
	}
	if f := start(policyLoose); f.active.Version() != a {
		t.Fatal("a restart put a looser policy in force")
	}
	if f := start(policyTight); f.active.Version() != tight ||
		!strings.Contains(audit.Notes(), "tightens, or changes no verdict; changed while approver did not run") {
		t.Fatalf("a tighter one: %s\n%s", f.active.Version(), audit.Notes())
	}
	if f := start(policyA); f.active.Version() != tight {
		t.Fatal("the former, looser one came back by a restart")
	}

	// The daemon that starts with the looser file asks people, who see the diff.
	f := start(policyLoose)
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := safefile.WriteNew(file, []byte(policyLoose), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Policy = file
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var call approver.ToolCall
	r := reloadPolicy(cfg, f, func(_ context.Context, c approver.ToolCall, why approver.Verdict) approver.Verdict {
		call = c
		if why.Severity != approver.Catastrophic || f.active.Version() != tight {
			t.Errorf("%+v, in force: %s", why, f.active.Version())
		}
		return approver.Verdict{Decision: approver.Allow, Reason: "approved by Ada"}
	})
	r.every = time.Millisecond
	done := make(chan error)
	go func() { done <- r.run(ctx) }()
	daemontest.Eventually(t, "what people approved is in force", func() bool { return f.active.Version() == loose })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !bytes.Contains(call.Args, []byte("-  - {name: b, command: mv, decision: deny}")) ||
		!strings.Contains(audit.Notes(), "approved by Ada; before: "+tight[:12]) {
		t.Errorf("the card has %s, the audit\n%s", call.Args, audit.Notes())
	}
	if f := start(policyLoose); f.active.Version() != loose {
		t.Error("what people approved did not outlive the restart")
	}
}

// The story: a container has a new host name at each start, and its volume has the
// store. The policy in force is found again under any name of host and audit, so
// that a new name is no way around people.
func TestANewNameIsNoFirstStart(t *testing.T) {
	kv, dir := daemontest.OpenKV(t), t.TempDir()
	start := func(name, text string) string {
		t.Helper()
		cfg := configs.Default()
		cfg.Dir, cfg.Audit.ID = dir, name
		record, err := sealed.New(cfg, kv, "policy", nil)
		f := held(record, policySpec(), new(shieldcore.Live).Set, &daemontest.Ledger{}, slog.New(slog.DiscardHandler))
		if err == nil {
			err = f.start(t.Context(), policyOf(t, text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return f.active.Version()
	}
	start("host-1", policyA)
	if start("host-2", policyLoose) != policyOf(t, policyA).Version() {
		t.Error("under a new name a looser policy was in force unasked")
	}
}

// The story: somebody removes the store, whose policy a looser file would have to
// be compared with. The daemon starts, and says loudly that this is not the first
// start.
func TestAPolicyThatIsGoneIsNotTheFirst(t *testing.T) {
	audit, said := &daemontest.Ledger{}, &bytes.Buffer{}
	f := testInForce(t, daemontest.OpenKV(t), audit, slog.New(slog.NewTextHandler(said, nil)))
	var doubts []string
	f.older, f.doubt = true, func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if err := f.start(t.Context(), policyOf(t, policyLoose)); err != nil {
		t.Fatal(err)
	}
	if notes := audit.Notes(); strings.Contains(notes, "first") || !strings.Contains(notes, "NO FORMER POLICY") ||
		!strings.Contains(said.String(), "level=ERROR") {
		t.Errorf("the audit: %s\nthe log: %s", notes, said)
	}
	if len(doubts) != 1 {
		t.Errorf("the store is trusted all the same: %q", doubts)
	}
}

// A policy that is stored and cannot be read stops the start: nobody knows what a
// looser file would loosen. Nor does a record do that somebody else made, or one
// of another installation.
func TestAStoredPolicyThatCannotBeRead(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, spoil := range map[string]func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte{
		"not JSON": func(*testing.T, *inForce[*shieldcore.Policy]) []byte { return []byte("x") },
		"changed": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			value, _, err := f.Store.Get(t.Context(), f.Key())
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(value, []byte(`"sealed":"`)) + 40
			value[at] ^= 1
			return value
		},
		"of another installation": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			other := *f
			other.ID = "there"
			if err := other.put(t.Context(), policyOf(t, policyLoose), ""); err != nil {
				t.Fatal(err)
			}
			value, _, err := f.Store.Get(t.Context(), other.Key())
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
		"under another key": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			sealer, err := sealing.New(bytes.Repeat([]byte{1}, 32))
			if err != nil {
				t.Fatal(err)
			}
			value, err := sealer.SealText(f.What(), []byte(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
		"no policy": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			value, err := f.Sealer.SealText(f.What(), []byte(`{"version":"1","text":"eA=="}`))
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
	} {
		f := testInForce(t, daemontest.OpenKV(t), &daemontest.Ledger{}, log)
		if err := f.start(t.Context(), policyOf(t, policyA)); err != nil {
			t.Fatal(err)
		}
		value := spoil(t, f)
		_, rev, err := f.Store.Get(t.Context(), f.Key())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Store.Put(t.Context(), f.Key(), value, rev, approver.NewRev(), time.Time{},
			time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		f = testInForce(t, f.Store, &daemontest.Ledger{}, log)
		err = f.start(t.Context(), policyOf(t, policyA))
		if err == nil || !strings.Contains(err.Error(), "cannot be read") ||
			!strings.Contains(err.Error(), "remove it only if") || f.active.Version() != "" {
			t.Errorf("%s: %v, in force: %q", name, err, f.active.Version())
		}
	}
}

// What cannot be recorded does not loosen; what tightens holds all the same.
func TestAChangeOfPolicyThatCannotBeRecorded(t *testing.T) {
	audit := &daemontest.Ledger{}
	f := testInForce(t, daemontest.OpenKV(t), audit, slog.New(slog.DiscardHandler))
	if err := f.start(t.Context(), policyOf(t, policyA)); err != nil {
		t.Fatal(err)
	}
	audit.Fail = true
	if err := f.put(t.Context(), policyOf(t, policyLoose), ""); err == nil ||
		f.active.Version() != policyOf(t, policyA).Version() {
		t.Errorf("%v, in force: %s", err, f.active.Version())
	}
	if err := f.tighten(t.Context(), policyOf(t, policyTight)); err == nil ||
		f.active.Version() != policyOf(t, policyTight).Version() {
		t.Errorf("%v, in force: %s", err, f.active.Version())
	}
}

// The story: a daemon that was started while its Redis was away told people to look for a replaced key, and to
// remove a record that says what they approved.
func TestAStoreThatIsAwayIsNotSomebodyElsesChange(t *testing.T) {
	f := testInForce(t, nil, nil, slog.New(slog.DiscardHandler))
	for err, want := range map[error]bool{approver.ErrAway: false, approver.ErrTampered: true} {
		got := f.unreadable(err)
		if !errors.Is(got, err) || strings.Contains(got.Error(), "remove it") != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
