package reflexcore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/reflexcore/precedent"
)

// A shelf is a KV in memory that can fail.
type shelf struct {
	mu     sync.Mutex
	values map[string][]byte
	revs   map[string]approver.Rev
	fail   error
}

func (s *shelf) Get(_ context.Context, key string) ([]byte, approver.Rev, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[key]; !ok && s.fail == nil {
		return nil, "", approver.ErrNotFound
	}
	return s.values[key], s.revs[key], s.fail
}

func (s *shelf) Put(_ context.Context, key string, value []byte, prev, next approver.Rev, _, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revs[key] != prev {
		return approver.ErrConflict
	}
	s.values[key], s.revs[key] = value, next
	return s.fail
}

// at is a call of a user now.
func at(uid uint32, dir, command string) approver.ToolCall {
	c := bash(command)
	c.Peer, c.Dir, c.At = approver.Peer{Known: true, UID: uid}, dir, time.Now()
	return c
}

// The story: people say no to a call that a rule asked about. The agent writes it
// otherwise, so that no rule asks. It is asked about, because people said no.
func TestPrecedents(t *testing.T) {
	const (
		denied = `psql -h db.internal -p 5432 -U app -d shop -c "delete from users"`
		like   = `psql -h db.internal -p 5432 -U app -d shop -c "delete from users where active = 0"`
		shop   = "/home/ada/shop"
	)
	kv := &shelf{values: map[string][]byte{}, revs: map[string]approver.Rev{}}
	e := engine(t)
	says := func(c approver.ToolCall) (approver.Verdict, string) {
		t.Helper()
		v, err := e.Judge(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return v, strings.TrimSpace(v.Decision.String() + " " + v.Rule)
	}
	expect := func(what, want string, c approver.ToolCall) {
		t.Helper()
		if _, got := says(c); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	asked, rule := says(at(1000, shop, denied))
	if asked.Decision != approver.Ask {
		t.Fatalf("the first call is to be asked about by a rule: %s", rule)
	}
	expect("without precedents", "pass", at(1000, shop, like))
	e.Precedents = precedent.New(kv, precedent.DefaultLimits)

	answer := func(event approver.Event, cause approver.Cause, yes bool, c approver.ToolCall) {
		t.Helper()
		err := e.Answered(t.Context(), approver.Record{
			Event: event, Call: c, Verdict: asked,
			Resolution: approver.Resolution{Approve: yes, Cause: cause, Person: approver.Person{ID: "1", Name: "Ada"},
				At: time.Now()},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	control := at(1000, shop, denied)
	control.Control = "unfreeze"
	answer(approver.EventExpired, approver.TimedOut, false, at(1000, shop, denied))
	answer(approver.EventDenied, approver.Unreachable, false, at(1000, shop, denied))
	answer(approver.EventDenied, approver.Frozen, false, at(1000, shop, denied))
	answer(approver.EventVerdict, approver.NoCause, false, at(1000, shop, denied))
	answer(approver.EventRefused, approver.ByPerson, false, at(1000, shop, denied))
	answer(approver.EventDenied, approver.ByPerson, false, control)
	expect("silence, failures and what is asked of approver are no precedents", "pass", at(1000, shop, like))

	answer(approver.EventDenied, approver.ByPerson, false, at(1000, shop, denied))
	v, got := says(at(1000, shop, like))
	if got != "ask precedent" || v.Severity != approver.High || v.Category != "precedent" || v.Confidence <= 0.7 ||
		v.Confidence >= 1 {
		t.Errorf("the paraphrase: %s, %+v", got, v)
	}
	if !strings.Contains(v.Reason, "people said no to a call like this on ") || strings.Contains(v.Reason, "Ada") ||
		!strings.Contains(v.Detail, "Ada said no") || !strings.Contains(v.Detail, asked.Rule) {
		t.Errorf("the reason is %q, the detail %q", v.Reason, v.Detail)
	}
	if v.Irreversible.Score == 0 {
		t.Error("the score is lost")
	}
	expect("another user", "pass", at(1001, shop, like))
	expect("another project", "pass", at(1000, "/home/ada/blog", like))
	expect("another call", "pass", at(1000, shop, "go build ./..."))
	if again, _ := says(at(1000, shop, denied)); again.Rule != asked.Rule || again.Severity != asked.Severity {
		t.Errorf("what a rule asks about is asked about by %s", again.Rule)
	}

	answer(approver.EventDenied, approver.ByPerson, false, at(1000, shop, "ls -la src internal"))
	expect("a call that only looks", "pass", at(1000, shop, "ls -la src internal"))
	answer(approver.EventDenied, approver.ByPerson, false, at(1000, shop, "rm -rf / --no-preserve-root -v"))
	expect("a denial stays", "deny delete_root", at(1000, shop, "rm -rf / --no-preserve-root -v"))

	kv.fail = errors.New("down")
	v, got = says(at(1000, shop, "./run.sh"))
	if got != "ask precedent" || strings.Contains(v.Reason, "down") || !strings.Contains(v.Detail, "down") {
		t.Errorf("a store that fails: %s %+v", got, v)
	}
	expect("a store that fails, and a call that only looks", "pass", at(1000, shop, "ls"))
	kv.fail = nil

	answer(approver.EventApproved, approver.ByPerson, true, at(1000, shop, like))
	expect("people said yes to it", "pass", at(1000, shop, like))
	expect("and to nothing else", "ask precedent", at(1000, shop, like+" -q"))
}
