package broadcaster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The first post of a card got a 502, so two cards may be before people, and a yes is for
// the first call alone. The card said that a yes runs each of three. It says what a yes
// from this card does now, also once its call has ended.
func TestACardSaysWhatAYesFromItDoes(t *testing.T) {
	for name, c := range map[string]struct {
		script []step
		sev    approver.Severity
		leaves bool
		says   string
		runs   []string
	}{
		"posted at once": {
			nil, approver.High, false, "3 identical calls wait: a yes runs each of them once.", []string{"a", "b", "c"},
		},
		"a 502 before": {
			[]step{{err: errBad}}, approver.High, false, "3 identical calls wait: a yes runs one, the others are asked again.",
			[]string{"a"},
		},
		"taken, and its answer lost": {[]step{{err: errBad, taken: true}}, approver.High, false,
			"3 identical calls wait: a yes runs one, the others are asked again.", []string{"a"}},
		"a 429 before": {
			[]step{{err: busy(time.Second)}}, approver.High, false, "3 identical calls wait: a yes runs each of them once.",
			[]string{"a", "b", "c"},
		},
		"catastrophic": {
			nil, approver.Catastrophic, false, "3 identical calls wait: a yes runs one, the others are asked again.",
			[]string{"a"},
		},
		"the first leaves": {
			nil, approver.High, true, "2 identical calls wait: a yes runs each of them once.", []string{"b", "c"},
		},
		"a 502 before, the first leaves": {
			[]step{{err: errBad}}, approver.High, true,
			"The call of this card has ended: a yes runs nothing, waiting calls (2) are asked again.", nil,
		},
		"catastrophic, the first leaves": {
			nil, approver.Catastrophic, true, "2 identical calls wait: a yes runs one, the others are asked again.",
			[]string{"b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), c.script, nil)
				ctx, die := context.WithCancel(t.Context())
				x.askAsync(ctx, peerCall("a", 1000), c.sev)
				time.Sleep(2 * time.Second)
				for _, id := range []string{"b", "c"} {
					x.askAsync(t.Context(), peerCall(id, 1000), c.sev)
					time.Sleep(time.Second) // they join in this order
				}
				time.Sleep(5 * time.Second)
				if c.leaves {
					die()
					time.Sleep(WithdrawGrace + 5*time.Second)
				}
				at := x.tg.count() - 1
				_, card := x.tg.card(at)
				if !strings.HasPrefix(warned(card), c.says) {
					t.Errorf("the card says %q", warned(card))
				}
				x.Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true,
					Method: approver.ByCode, Code: card.Code, Request: card.Request, Sent: time.Now()})
				time.Sleep(5 * time.Second)
				if got := x.audit.released(); !slices.Equal(got, c.runs) {
					t.Errorf("a yes released %v, want %v", got, c.runs)
				}
				die()
			})
		})
	}
}

// The known card says that a yes runs each. Then a second card with its code turns up by
// its button: the first is edited once more, because a yes is for one call now.
func TestACardThatTurnsUpChangesWhatTheOtherSays(t *testing.T) {
	r := Request{
		CallID: "a", State: approver.Pending, Joined: 1, Also: []Caller{{CallID: "b", N: 1}},
		Verdict: approver.Verdict{Severity: approver.High}, Fingerprint: modelFP,
		Postings: []Posting{{Code: "code", Phase: Posted, Upto: 1}},
	}
	c := requestCards{cards: map[int]*liveCard{0: {hash: "code", said: callersText(r, r.Postings[0])}}}
	if got := c.stale(r, ""); len(got) != 0 {
		t.Errorf("a card that says what it should is edited: %v", got)
	}
	r.Postings = slices.Clone(r.Postings)
	r.Postings[0].Also = []approver.Ref{{Message: "2"}}
	if got := c.stale(r, ""); len(got) != 1 {
		t.Errorf("stale: %v", got)
	}
}

// A yes to one of several CATASTROPHIC calls went to the one that had waited longest. After
// a restart only the courier of another came back: the yes ran nothing, and the call that
// waited was denied when its time was over. It goes to a call whose courier is there.
func TestASingleYesGoesToACallWhoseCourierIsThere(t *testing.T) {
	for _, back := range [][]string{
		{"b"}, {"c"}, {"c", "b"}, {"a"}, {"c", "a"}, {"late"}, {"late", "b"}, {"a", "b", "c"},
	} {
		t.Run(strings.Join(back, " "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newBench(t, kv)
				connected, cut := context.WithCancelCause(t.Context())
				x.several(connected, 3, approver.Catastrophic)
				msg, card := x.tg.card(0)
				cut(approver.ErrShuttingDown)
				x.stop()
				y := newBench(t, kv)
				y.tg.holds(msg, card)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				out := map[string]<-chan approver.Verdict{}
				for _, id := range back {
					out[id] = y.askAsync(ctx, peerCall(id, 1000), approver.Catastrophic)
				}
				time.Sleep(4 * time.Second)
				y.Answers.Reply(t.Context(), approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByCode, Code: card.Code,
					Sent: time.Now(),
				})
				time.Sleep(10 * time.Second)
				old := slices.DeleteFunc(slices.Clone(back), func(id string) bool { return id == "late" })
				got := y.audit.released()
				if len(got) != min(1, len(old)) || len(got) == 1 && !slices.Contains(old, got[0]) {
					t.Errorf("released %v of %v", got, back)
				}
				if len(back) > len(got) && y.tg.count() != 2 {
					t.Errorf("%d cards: who did not get the yes is asked about anew", y.tg.count())
				}
				if y.tg.count() == 2 {
					y.tap(y.tg, 1, "1", false)
				}
				for id, v := range out {
					if d := (<-v).Decision; (d == approver.Allow) != slices.Contains(got, id) {
						t.Errorf("%s: %v", id, d)
					}
				}
			})
		})
	}
}

// Two calls came for a yes that was for one of them. The other was asked about anew, and
// while people thought about that, the audit did not have the end of the first request, and
// its card did not change. Whoever loses a yes holds up nobody.
func TestWhoLosesAYesHoldsNothingUp(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		connected, cut := context.WithCancelCause(t.Context())
		x.several(connected, 3, approver.Catastrophic)
		msg, card := x.tg.card(0)
		cut(approver.ErrShuttingDown)
		x.stop()
		y := newBenchOn(t, x.kv, &meetingKV{memKV: x.kv, n: 2, there: make(chan struct{})})
		y.tg.holds(msg, card)
		b, c := y.askAsync(t.Context(), peerCall("b", 1000), approver.Catastrophic),
			y.askAsync(t.Context(), peerCall("c", 1000), approver.Catastrophic)
		time.Sleep(4 * time.Second)
		y.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByCode, Code: card.Code,
			Sent: time.Now(),
		})
		time.Sleep(10 * time.Second)
		if got := y.audit.released(); len(got) != 1 {
			t.Errorf("the audit has the release of %v", got)
		}
		if now := y.tg.at(msg); now.State != approver.Consumed {
			t.Errorf("the card says %v", now.State)
		}
		if y.tg.count() != 2 {
			t.Fatalf("%d cards", y.tg.count())
		}
		y.tap(y.tg, 1, "1", false)
		if d := decisions([]<-chan approver.Verdict{b, c}); !slices.Contains(d, approver.Allow) ||
			!slices.Contains(d, approver.Deny) {
			t.Errorf("decided %v", d)
		}
	})
}

// A meetingKV lets a request be consumed only when n connections have come for it.
type meetingKV struct {
	*memKV
	mu    sync.Mutex
	n     int
	there chan struct{}
}

func (k *meetingKV) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	return k.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (k *meetingKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"consumed"`) {
		k.mu.Lock()
		if k.n--; k.n == 0 {
			close(k.there)
		}
		k.mu.Unlock()
		<-k.there
	}
	return k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// A yes was for two calls, and the daemon was away when they came for it. The first was
// told again, because that time begins anew when the daemon is back; the second was
// denied. Both have the same end now, and it is over for good once a daemon saw it pass.
func TestASharedYesOutlivesARestartLikeARepeatedOne(t *testing.T) {
	for _, c := range []struct {
		up, down time.Duration // after the yes
		want     approver.Decision
	}{
		{0, 20 * time.Second, approver.Allow}, {0, time.Second, approver.Allow}, {0, 50 * time.Second, approver.Allow}, {
			5 * time.Second, 20 * time.Second, approver.Allow,
		},
		{20 * time.Second, 0, approver.Deny}, {
			20 * time.Second, 20 * time.Second, approver.Deny,
		}, {17 * time.Second, time.Second, approver.Deny}, {0, 5 * time.Minute, approver.Deny},
	} {
		t.Run(fmt.Sprint(c.up, " up, ", c.down, " down"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				first := x.askAsync(t.Context(), acking("a"), approver.High)
				synctest.Wait()
				ctx, cut := context.WithCancelCause(t.Context())
				second := x.askAsync(ctx, acking("b"), approver.High)
				time.Sleep(4 * time.Second)
				cut(context.Canceled)
				<-second
				x.tap(x.tg, 0, "1", true)
				<-first
				_ = x.Reports.Acknowledge(t.Context(), approver.Peer{Known: true, UID: 1000}, "a")
				time.Sleep(c.up)
				y := x.restart(c.down)
				again, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if v := <-y.askAsync(again, acking("b"), approver.High); v.Decision != c.want {
					t.Errorf("%v %q", v.Decision, v.Reason)
				}
			})
		})
	}
}

// A card was edited once a second for as long as its request waited, whatever the platform
// said to that. A card that is gone is left alone now, and one that the platform is too
// busy for waits as long as it says.
func TestEditsEndAndArePatient(t *testing.T) {
	for name, c := range map[string]struct {
		err         error
		least, most int
	}{
		"gone for good":       {fmt.Errorf("message to edit not found: %w", approver.ErrFinal), 1, 1},
		"429, after 30 s":     {busy(30 * time.Second), 2, 4},
		"429, after 1 h":      {busy(time.Hour), 1, 1},
		"429, at once":        {busy(0), 4, 9},
		"502":                 {errBad, 4, 9},
		"a 429 in a chain":    {fmt.Errorf("edit: %w", busy(45*time.Second)), 2, 3},
		"gone, with patience": {fmt.Errorf("%w: %w", approver.ErrFinal, busy(time.Second)), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				var edits atomic.Int64
				x.tg.onUpdate(func(card approver.Card) error {
					if card.State != approver.Pending {
						return nil
					}
					edits.Add(1)
					return c.err
				})
				out := x.several(t.Context(), 2, approver.High)
				time.Sleep(90 * time.Second)
				if n := int(edits.Load()); n < c.least || n > c.most {
					t.Errorf("%d edits in 95 s, want %d to %d", n, c.least, c.most)
				}
				if _, card := x.dc.card(0); !strings.HasPrefix(warned(card), "2 identical calls") {
					t.Errorf("the card on a platform that works: %q", warned(card))
				}
				x.tap(x.dc, 0, "d1", true)
				if got := decisions(out); !slices.Equal(got, []approver.Decision{approver.Allow, approver.Allow}) {
					t.Error(got)
				}
			})
		})
	}
}
