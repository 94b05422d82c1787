package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: the store lost a request that waited, its call was put before people anew, and
// the edit that was to take the old card out of sight met a 502. It was tried once: the old
// card had its buttons, its code and "pending" for ever, since no record knows it.
func TestACardThatNoRecordHoldsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		down  time.Duration
		tries int64 // at the most
		gone  bool
	}{
		"one 502":          {errBad, time.Millisecond, 2, true},
		"502 for 10 min":   {errBad, 10 * time.Minute, 130, true},
		"502 for 30 min":   {errBad, 30 * time.Minute, 200, true},
		"429":              {busy(90 * time.Second), time.Minute, 2, true},
		"refused for good": {errRefusedForGood, time.Hour, 1, false},
		"502 for long":     {errBad, 5 * time.Hour, 250, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), nil, nil)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				var first, last time.Time
				var edits int64
				x.tg.onUpdate(func(card approver.Card) error {
					if card.State != approver.Withdrawn {
						return nil
					}
					now := time.Now()
					if edits++; first.IsZero() {
						first = now
					}
					var patience approver.Patience
					if errors.As(c.err, &patience) && !last.IsZero() && now.Sub(last) < patience.RetryAfter() {
						t.Errorf("a try %v after the platform asked for %v", now.Sub(last), patience.RetryAfter())
					}
					if last = now; now.Sub(first) < c.down {
						return c.err
					}
					return nil
				})
				x.loseRequests()
				time.Sleep(30 * time.Second)
				if out := x.tap(x.tg.chat, -1, "1", true); out.Kind != approver.OutcomeApproved {
					t.Fatalf("the new card: %+v", out)
				}
				<-answer
				time.Sleep(min(c.down, orphanFor) + 5*time.Minute)
				_, old := x.tg.card(0)
				synctest.Wait()
				if gone := old.State == approver.Withdrawn && !old.OneTap && old.Code.IsZero(); gone != c.gone || edits > c.tries {
					t.Errorf("after %d edits the old card is %v, one tap %v, %q", edits, old.State, old.OneTap, old.Result)
				}
				if c.gone != (x.log.count("level=WARN msg=\"a replaced card") <= 1 && x.log.count("out of sight after all") == 1) {
					t.Errorf("the log:\n%s", x.log.b.String())
				}
			})
		})
	}
}

// A card that was replaced while it was on its way arrives, and its edit fails at first.
func TestAReplacedCardThatArrivesIsTriedAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		r := x.loaded(card.Request)
		var edits atomic.Int64
		x.tg.onUpdate(func(approver.Card) error {
			if edits.Add(1) <= 3 {
				return errBad
			}
			return nil
		})
		x.tg.put("stray", card)
		r.Postings = slices.Clone(r.Postings)
		r.Postings[0].Phase = Void
		short, cancel := context.WithCancel(t.Context())
		stray := approver.Ref{Destination: r.Postings[0].To, Message: "stray"}
		x.poster.recordOutcome(short, r, report{i: 0, ref: stray, tries: 1})
		x.poster.recordOutcome(short, r, report{i: 0, ref: stray, tries: 1})
		cancel() // who notes a card does not wait for this
		time.Sleep(time.Minute)
		if got := x.tg.at("stray"); got.State != approver.Withdrawn || got.OneTap || edits.Load() != 4 {
			t.Errorf("after %d edits it shows %v %q", edits.Load(), got.State, got.Result)
		}
		x.tap(x.dc, 0, "d1", false)
		<-answer
	})
}

// What is tried again is looked at first: a card whose note was only late is that request's
// to bring up to date, and must keep its buttons. What has ended meanwhile shows its end.
func TestAnOrphanedCardIsCheckedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(x *bench, id string, ref approver.Ref)
		want      approver.State
	}{
		"its note was late": {func(x *bench, id string, ref approver.Ref) {
			if _, err := x.Requests.change(x.t.Context(), id, func(r Request, _ time.Time) (Request, error) {
				r.Postings = slices.Clone(r.Postings)
				r.Postings[0].Also = []approver.Ref{ref}
				return r, nil
			}); err != nil {
				x.t.Error(err)
			}
		}, approver.Pending},
		"the request has ended": {func(x *bench, _ string, _ approver.Ref) { x.tap(x.dc, 0, "d1", false) }, approver.Denied},
		"nothing":               {func(*bench, string, approver.Ref) {}, approver.Withdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				ref := approver.Ref{Destination: r.Postings[0].To, Message: "stray"}
				x.tg.put("stray", card)
				x.tg.onUpdate(func(approver.Card) error { return errBad })
				x.editor.retire(t.Context(), r, ref)
				x.tg.onUpdate(nil)
				c.meanwhile(x, r.ID, ref)
				time.Sleep(10 * time.Second)
				if got := x.tg.at("stray"); got.State != c.want || got.OneTap != (c.want == approver.Pending) {
					t.Errorf("it shows %v %q", got.State, got.Result)
				}
				x.tap(x.dc, 0, "d1", false)
				<-answer
			})
		})
	}
}

// A card of a request that the store has lost is pressed while edits fail.
func TestAForgottenCardIsTriedAgain(t *testing.T) {
	for name, found := range map[string]bool{"the store has lost it": false, "the store finds it again": true} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				ctx, leave := context.WithCancel(t.Context())
				answer := x.askAsync(ctx, testCall("c1"), approver.High)
				time.Sleep(time.Second)
				msg, card := x.tg.card(0)
				leave()
				<-answer
				restore := x.loseRequests()
				var down atomic.Bool
				down.Store(true)
				x.tg.onUpdate(func(approver.Card) error {
					if down.Load() {
						return fmt.Errorf("edit: %w", errBad)
					}
					return nil
				})
				for range 3 {
					x.pressAs(card.Request, msg)
				}
				time.Sleep(9 * time.Second) // between two tries
				if found {
					restore()
				}
				down.Store(false)
				time.Sleep(8 * time.Second)
				_, got := x.tg.card(0)
				if void := got.Result == forgottenCard(card.Request).Result; void == found {
					t.Errorf("it shows %v %q", got.State, got.Result)
				}
			})
		})
	}
}
