package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore"
	"approver.example/store/boltstore"
)

// memAudit keeps records in memory, or refuses them.
type memAudit struct {
	mu      sync.Mutex
	records []approver.Record
	fail    bool
}

func (a *memAudit) Record(_ context.Context, r approver.Record) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail {
		return "", errors.New("disk full")
	}
	a.records = append(a.records, r)
	return "hash", nil
}

// notes are those of the records of changes of the policy.
func (a *memAudit) notes() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for _, r := range a.records {
		if r.Event == approver.EventPolicy {
			out = append(out, r.Note)
		}
	}
	return strings.Join(out, "\n")
}

func openKV(t *testing.T) approver.KV {
	t.Helper()
	kv, err := boltstore.Open(boltstore.Config{Path: filepath.Join(t.TempDir(), "t.db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kv.Close() })
	return kv
}

// testInForce is what keeps the policy of an installation whose keys are zeroes.
func testInForce(t *testing.T, kv approver.KV, audit approver.Recorder, log *slog.Logger) *inForce[*shieldcore.Policy] {
	t.Helper()
	codec, err := approver.NewRequestCodec(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return holdPolicy(sealed{name: "policy", store: kv, codec: codec, id: "here", where: "the store"}, &shieldcore.Live{}, audit, log)
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
	kv, audit := openKV(t), &memAudit{}
	log := slog.New(slog.DiscardHandler)
	start := func(text string) *inForce[*shieldcore.Policy] {
		t.Helper()
		f := testInForce(t, kv, audit, log)
		if err := f.start(t.Context(), policyOf(t, text)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, tight, loose := policyOf(t, policyA).Version(), policyOf(t, policyTight).Version(), policyOf(t, policyLoose).Version()

	if f := start(policyA); f.live.Version() != a || !strings.Contains(audit.notes(), "the first policy of this installation") {
		t.Fatalf("the first: %s\n%s", f.live.Version(), audit.notes())
	}
	if f := start(policyLoose); f.live.Version() != a {
		t.Fatal("a restart put a looser policy in force")
	}
	if f := start(policyTight); f.live.Version() != tight || !strings.Contains(audit.notes(), "tightens, or changes no verdict; changed while approver did not run") {
		t.Fatalf("a tighter one: %s\n%s", f.live.Version(), audit.notes())
	}
	if f := start(policyA); f.live.Version() != tight {
		t.Fatal("the former, looser one came back by a restart")
	}

	// The daemon that starts with the looser file asks people, who see the diff.
	f := start(policyLoose)
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := writeNew(file, []byte(policyLoose), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Policy = file
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var call approver.ToolCall
	r := reloadPolicy(cfg, f, func(_ context.Context, c approver.ToolCall, why approver.Verdict) approver.Verdict {
		call = c
		if why.Severity != approver.Catastrophic || f.live.Version() != tight {
			t.Errorf("%+v, in force: %s", why, f.live.Version())
		}
		return approver.Verdict{Decision: approver.Allow, Reason: "approved by Ada"}
	})
	r.every = time.Millisecond
	done := make(chan error)
	go func() { done <- r.run(ctx) }()
	eventually(t, "what people approved is in force", func() bool { return f.live.Version() == loose })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !bytes.Contains(call.Args, []byte("-  - {name: b, command: mv, decision: deny}")) || !strings.Contains(audit.notes(), "approved by Ada; before: "+tight[:12]) {
		t.Errorf("the card has %s, the audit\n%s", call.Args, audit.notes())
	}
	if f := start(policyLoose); f.live.Version() != loose {
		t.Error("what people approved did not outlive the restart")
	}
}

// The story: a container has a new host name at each start, and its volume has the
// store. The policy in force is found again under any name of host and audit, so
// that a new name is no way around people.
func TestANewNameIsNoFirstStart(t *testing.T) {
	kv, dir := openKV(t), t.TempDir()
	start := func(name, text string) string {
		t.Helper()
		cfg := configs.Default()
		cfg.Dir, cfg.Audit.ID = dir, name
		record, err := newSealed(cfg, kv, "policy", nil)
		f := holdPolicy(record, &shieldcore.Live{}, &memAudit{}, slog.New(slog.DiscardHandler))
		if err == nil {
			err = f.start(t.Context(), policyOf(t, text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return f.live.Version()
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
	audit, said := &memAudit{}, &bytes.Buffer{}
	f := testInForce(t, openKV(t), audit, slog.New(slog.NewTextHandler(said, nil)))
	var doubts []string
	f.older, f.doubt = true, func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if err := f.start(t.Context(), policyOf(t, policyLoose)); err != nil {
		t.Fatal(err)
	}
	if notes := audit.notes(); strings.Contains(notes, "first") || !strings.Contains(notes, "NO FORMER POLICY") || !strings.Contains(said.String(), "level=ERROR") {
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
			value, _, err := f.store.Get(t.Context(), f.key())
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(value, []byte(`"sealed":"`)) + 40
			value[at] ^= 1
			return value
		},
		"of another installation": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			other := *f
			other.id = "there"
			if err := other.put(t.Context(), policyOf(t, policyLoose), ""); err != nil {
				t.Fatal(err)
			}
			value, _, err := f.store.Get(t.Context(), other.key())
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
		"under another key": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			codec, err := approver.NewRequestCodec(bytes.Repeat([]byte{1}, 32))
			if err != nil {
				t.Fatal(err)
			}
			value, err := codec.SealText(f.what(), []byte(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
		"no policy": func(t *testing.T, f *inForce[*shieldcore.Policy]) []byte {
			value, err := f.codec.SealText(f.what(), []byte(`{"version":"1","text":"eA=="}`))
			if err != nil {
				t.Fatal(err)
			}
			return value
		},
	} {
		f := testInForce(t, openKV(t), &memAudit{}, log)
		if err := f.start(t.Context(), policyOf(t, policyA)); err != nil {
			t.Fatal(err)
		}
		value := spoil(t, f)
		_, rev, err := f.store.Get(t.Context(), f.key())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.store.Put(t.Context(), f.key(), value, rev, approver.NewRev(), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		f = testInForce(t, f.store, &memAudit{}, log)
		err = f.start(t.Context(), policyOf(t, policyA))
		if err == nil || !strings.Contains(err.Error(), "cannot be read") || !strings.Contains(err.Error(), "remove it only if") || f.live.Version() != "" {
			t.Errorf("%s: %v, in force: %q", name, err, f.live.Version())
		}
	}
}

// What cannot be recorded does not loosen; what tightens holds all the same.
func TestAChangeOfPolicyThatCannotBeRecorded(t *testing.T) {
	audit := &memAudit{}
	f := testInForce(t, openKV(t), audit, slog.New(slog.DiscardHandler))
	if err := f.start(t.Context(), policyOf(t, policyA)); err != nil {
		t.Fatal(err)
	}
	audit.fail = true
	if err := f.put(t.Context(), policyOf(t, policyLoose), ""); err == nil || f.live.Version() != policyOf(t, policyA).Version() {
		t.Errorf("%v, in force: %s", err, f.live.Version())
	}
	if err := f.tighten(t.Context(), policyOf(t, policyTight)); err == nil || f.live.Version() != policyOf(t, policyTight).Version() {
		t.Errorf("%v, in force: %s", err, f.live.Version())
	}
}
