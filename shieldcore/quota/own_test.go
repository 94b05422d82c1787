package quota

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// An agent runs approver pause in a loop: sixty CATASTROPHIC cards in six seconds. Six of
// them reach people in a minute now. Neither another user nor calls are touched by that,
// and calls do not use it up.
func TestQuestionsAboutApproverAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		a, other := asksOn(t, kv, DefaultAskLimits()), asksOn(t, kv, AskLimits{User: MaxAsks, Agent: MaxAsks})
		me, else1 := approver.Peer{Known: true, UID: 1000}, approver.Peer{Known: true, UID: 1001}
		own := func(a *Asks, peer approver.Peer) func(string) error {
			return func(call string) error { return a.TakeOwn(t.Context(), peer, call) }
		}
		if n := storm(t, 60, "c", own(a, me)); n != OwnAsks {
			t.Errorf("%d of 60 questions, want %d", n, OwnAsks)
		}
		for name, c := range map[string]struct {
			take func(string) error
			n    int
		}{
			"another replica": {own(other, me), 0},
			"another user":    {own(a, else1), OwnAsks},
			"root":            {own(a, approver.Peer{Known: true}), OwnAsks},
			"calls of the user": {func(call string) error {
				return a.Take(t.Context(), asker(1000, "claude", "/repo"),
					call)
			}, 30},
			"calls as if approver": {func(call string) error { return a.Take(t.Context(), asker(1000, "approver", ""), call) },
				30},
		} {
			if n := storm(t, 40, "d", c.take); n != c.n {
				t.Errorf("%s: %d, want %d", name, n, c.n)
			}
		}
		err := a.TakeOwn(t.Context(), me, "next")
		var many *approver.TooManyError
		if !errors.As(err, &many) || many.Limit != approver.OwnLimit || many.Most != OwnAsks || many.Wait <= 0 ||
			many.Wait > time.Minute ||
			!strings.Contains(err.Error(),
				"about approver itself by uid 1000, also those that reached nobody, so nobody was asked") {
			t.Fatalf("%+v", err)
		}
		time.Sleep(many.Wait)
		if err := a.TakeOwn(t.Context(), me, "next"); err != nil {
			t.Errorf("at the time that was named: %v", err)
		}
		if err := a.TakeOwn(t.Context(), me, "next"); err != nil {
			t.Errorf("the same question once more: %v", err)
		}
	})
}

// Who is not known, and a count that nobody made, refuse.
func TestQuestionsAboutApproverOfNobody(t *testing.T) {
	a := asksOn(t, newMemKV(), DefaultAskLimits())
	for name, take := range map[string]func() error{
		"no peer":   func() error { return a.TakeOwn(t.Context(), approver.Peer{}, "c") },
		"a bad uid": func() error { return a.TakeOwn(t.Context(), approver.Peer{UID: 1000}, "c") },
		"no id":     func() error { return a.TakeOwn(t.Context(), approver.Peer{Known: true}, "") },
		"zero":      func() error { return new(Asks).TakeOwn(t.Context(), approver.Peer{Known: true}, "c") },
		"nil":       func() error { return (*Asks)(nil).TakeOwn(t.Context(), approver.Peer{Known: true}, "c") },
	} {
		var many *approver.TooManyError
		if err := take(); err == nil || errors.As(err, &many) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
