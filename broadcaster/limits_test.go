package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// An agent asks too often. It is told so at once, and when to come back; the audit has
// the call with the reason for people; no card goes out. What another agent of the user
// did is not told to it.
func TestTooManyQuestionsAreDenied(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		asked := 0
		limit := func(context.Context, string, approver.ToolCall) error {
			if asked++; asked > 1 {
				again := time.Date(2026, 11, 23, 12, 0, 29, 500, time.UTC)
				return &approver.TooManyError{
					Limit: "agent", Most: 30, Whose: "claude in /repo of uid 1000", Again: again, Wait: 22500 * time.Millisecond,
				}
			}
			return nil
		}
		x.tune(func(o *Options) { o.Limit = limit })
		first := x.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		synctest.Wait()
		began := time.Now()
		v := <-x.askAsync(t.Context(), otherCall("c2"), approver.High)
		if v.Decision != approver.Deny || v.By != approver.LimitedBy || v.Rule != "asks_per_minute.agent" ||
			time.Since(began) > time.Second {
			t.Errorf("%+v after %v", v, time.Since(began))
		}
		for text, want := range map[string]string{
			v.Reason: "too many questions: 30 were put within a minute, which is the most, also those that reached nobody, " +
				"so this call was blocked and nobody was asked. " +
				"Slow down: wait until 12:00:30 UTC (23 s)",
			v.Detail: "too many questions: 30 were put within a minute about claude in /repo of uid 1000, also those that " +
				"reached nobody (asks_per_minute.agent)",
		} {
			if !strings.HasPrefix(text, want) {
				t.Errorf("%q", text)
			}
		}
		if strings.Contains(v.Reason, "1000") {
			t.Errorf("the agent is told of others: %q", v.Reason)
		}
		if n := x.tg.count(); n != 1 {
			t.Errorf("%d cards", n)
		}
		recs := x.audit.of("c2")
		if len(recs) != 1 || recs[0].Event != approver.EventVerdict || recs[0].Note != "people were not asked" ||
			recs[0].Verdict.Decision != approver.Deny {
			t.Errorf("recorded: %+v", recs)
		}
		// The courier of the first call comes back: its question was counted.
		again := x.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", false)
		if v := <-again; v.Decision != approver.Deny || v.By != approver.ByPeople || asked != 2 {
			t.Errorf("the first call: %+v, counted %d times", v, asked)
		}
		<-first
	})
}

// The count cannot be read: nobody is asked, and the call is denied like one whose
// request cannot be stored.
func TestAnUnknownCountDenies(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tune(func(o *Options) {
			o.Limit = func(context.Context, string, approver.ToolCall) error { return errors.New("the line went dead") }
		})
		v := <-x.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "approver's store or configuration has a problem") ||
			x.tg.count() != 0 {
			t.Errorf("%+v, %d cards", v, x.tg.count())
		}
	})
}

// What the daemon asks of its own accord is no agent's question, and a flood of those must
// not keep it from being asked. What a process asks about approver itself may be: an agent
// had sixty CATASTROPHIC cards put before people in six seconds with approver pause.
func TestWhoseQuestionsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		control string
		peer    approver.Peer
		counted bool
	}{
		"the daemon's own":       {"", approver.Peer{}, false},
		"a call":                 {"", approver.Peer{Known: true, UID: 1000}, true},
		"a call of root":         {"", approver.Peer{Known: true}, true},
		"pause by a process":     {"pause", approver.Peer{Known: true, UID: 1000}, true},
		"unfreeze by a process":  {"unfreeze", approver.Peer{Known: true, UID: 1000}, true},
		"a restore by a process": {"restore_person", approver.Peer{Known: true, UID: 1000}, true},
		"without a known peer":   {"pause", approver.Peer{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				limit := func(context.Context, string, approver.ToolCall) error {
					return &approver.TooManyError{
						Limit: approver.OwnLimit, Most: 6, Whose: "approver itself by uid 1000", Wait: time.Second,
					}
				}
				x.tune(func(o *Options) { o.Limit = limit })
				call := testCall("c1")
				call.Control, call.Peer = c.control, c.peer
				answer := x.askAsync(t.Context(), call, approver.Catastrophic)
				synctest.Wait()
				if asked := x.tg.count() == 1; asked == c.counted {
					t.Errorf("asked: %t", asked)
				}
				if !c.counted {
					x.tap(x.tg, 0, "1", false)
				}
				v := <-answer
				if c.counted && (v.Rule != "asks_about_approver" || !strings.HasPrefix(v.Reason, "too many questions: programs "+
					"of your user put 6 within a minute about approver itself, which is the most, also those that reached nobody") ||
					!strings.HasPrefix(v.Detail, "too many questions: 6 were put within a minute about approver itself by uid "+
						"1000, also those that reached nobody, so nobody was asked")) {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

func TestALimitIsRequired(t *testing.T) {
	if _, err := NewBroadcaster(Options{}); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Error(err)
	}
}

// peerCall is testCall by a user of this machine.
func peerCall(id string, uid uint32) approver.ToolCall {
	call := testCall(id)
	call.Peer = approver.Peer{Known: true, UID: uid}
	return call
}

// otherCall is another call of the same agent.
func otherCall(id string) approver.ToolCall {
	call := peerCall(id, 1000)
	call.Command, call.Args = "git push --force "+id, []byte(`{"command":"git push --force `+id+`"}`)
	return call
}
