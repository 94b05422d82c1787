package broadcaster

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// What this process remembers of a request may be old: another replica has
// written since. Neither a step nor a refusal may rest on it.
func TestMemoryIsNoAuthority(t *testing.T) {
	for name, stale := range map[string]func(Request) Request{
		"it remembers an end that was taken back": func(r Request) Request {
			r.State, r.Resolution.Cause = approver.Denied, approver.TimedOut
			return r
		},
		"it remembers another holder": func(r Request) Request { r.Holder = "somebody"; return r },
		"it remembers more time":      func(r Request) Request { r.Due = r.Due.Add(time.Hour); return r },
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				x.Requests.cache.note(stale(r), approver.NewRev(), 1)
				var saw Request
				got, err := x.Requests.change(t.Context(), r.ID, func(r Request, now time.Time) (Request, error) {
					saw = r
					if r.State.Settled() {
						return r, ErrSettled
					}
					return r.Leave(r.Holder, now, WithdrawGrace)
				})
				if err != nil || !saw.Due.Equal(r.Due) || saw.Holder != r.Holder || got.State != approver.Pending {
					t.Errorf("the last look was at %+v, %v", saw, err)
				}
				// A refusal is the record's own, too.
				x.Requests.cache.note(stale(r), approver.NewRev(), 1)
				_, err = x.Requests.change(t.Context(), r.ID, func(r Request, _ time.Time) (Request, error) {
					saw = r
					return r, ErrTooSoon
				})
				if !errors.Is(err, ErrTooSoon) || saw.Holder != r.Holder || saw.State != approver.Pending || !saw.Due.Equal(r.Due) {
					t.Errorf("refused by %+v, %v", saw, err)
				}
				x.tap(x.tg, 0, "1", false)
				<-answer
			})
		})
	}
}

func TestRequestCache(t *testing.T) {
	var k requestCache
	rev := approver.NewRev()
	k.note(Request{ID: "r"}, rev, 1)
	if _, ok := k.at("r", approver.NewRev()); ok {
		t.Error("it is known at a revision that nobody noted")
	}
	if _, ok := k.at("r", rev); !ok {
		t.Error("it is forgotten at once")
	}
	k.note(Request{ID: "r"}, approver.NewRev(), maxCachedBytes+1)
	if _, _, ok := k.last("r"); ok {
		t.Error("a large one is kept, or a former one in its place")
	}
	for i := range 2 * maxCached {
		k.note(Request{ID: fmt.Sprint(i)}, rev, 1)
	}
	if len(k.of) != maxCached {
		t.Errorf("%d are kept", len(k.of))
	}
	k.note(Request{ID: fmt.Sprint(2*maxCached - 1), Closed: true}, rev, 1)
	if len(k.of) != maxCached-1 {
		t.Error("one whose life is over is kept")
	}
}
