package broadcaster

import (
	"errors"
	"fmt"
	"strings"
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
				old := stale(r)
				x.Requests.cache.note(&old, approver.NewRev(), 1)
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
				x.Requests.cache.note(&old, approver.NewRev(), 1)
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
	k.note(&Request{ID: "r"}, rev, 1)
	if _, ok := k.at("r", approver.NewRev()); ok {
		t.Error("it is known at a revision that nobody noted")
	}
	if _, ok := k.at("r", rev); !ok {
		t.Error("it is forgotten at once")
	}
	k.note(&Request{ID: "r"}, approver.NewRev(), maxCachedBytes+1)
	if _, _, ok := k.last("r"); ok {
		t.Error("a large one is kept, or a former one in its place")
	}
	for i := range 2 * maxCached {
		k.note(&Request{ID: fmt.Sprint(i)}, rev, 1)
	}
	if len(k.of) != maxCached {
		t.Errorf("%d are kept", len(k.of))
	}
	for i := range 3 * maxClosed {
		k.note(&Request{ID: fmt.Sprint("closed", i), Closed: true}, rev, 1)
	}
	closed := 0
	for id := range k.of {
		if strings.HasPrefix(id, "closed") {
			closed++
		}
	}
	if closed > maxClosed || len(k.closed) > maxClosed {
		t.Errorf("%d whose life is over are kept", closed)
	}
}

// Whoever waits for a write reads it before its writer is told, but nobody takes it for the newest before that. Two
// writers may be told in the other order, and then both are still known.
func TestRequestCacheWhileWriting(t *testing.T) {
	var k requestCache
	first, second := approver.NewRev(), approver.NewRev()
	joined := func(n int) *Request { return &Request{ID: "r", Joined: n} }
	at := func(rev approver.Rev, n int) {
		t.Helper()
		if r, ok := k.at("r", rev); !ok || r.Joined != n {
			t.Errorf("got %+v, %t, want %d", r, ok, n)
		}
	}
	toldFirst := k.begin(first, joined(1))
	at(first, 1)
	if _, _, ok := k.last("r"); ok {
		t.Error("what may not be stored is the newest")
	}
	toldSecond := k.begin(second, joined(2))
	k.note(&Request{ID: "r", Joined: 2}, second, 1)
	toldSecond()
	k.note(&Request{ID: "r", Joined: 1}, first, 1)
	toldFirst()
	at(first, 1)
	at(second, 2)
	failed := approver.NewRev()
	k.begin(failed, joined(3))()
	if _, ok := k.at("r", failed); ok {
		t.Error("a write that failed is known")
	}
	k.begin(failed, &Request{ID: "other"})()
	if len(k.of) != 1 {
		t.Errorf("%d are kept", len(k.of))
	}
}

// Only what this process was told to be durable counts as stored: what it read may be lost yet, and what
// another process wrote since is newer.
func TestStoredIsWhatWasWrittenHere(t *testing.T) {
	var k requestCache
	r := &Request{ID: "r"}
	if _, _, ok := k.stored("r"); ok {
		t.Error("nothing was written")
	}
	done := k.begin("1", r)
	if _, _, ok := k.stored("r"); ok {
		t.Error("it is about to be written")
	}
	k.note(r, "1", 1) // whoever waits for it reads it before the writer is told
	if _, _, ok := k.stored("r"); ok {
		t.Error("it was only read")
	}
	k.wrote(r, "1", 1)
	done()
	k.note(r, "1", 1)
	if _, rev, ok := k.stored("r"); !ok || rev != "1" {
		t.Errorf("it was written here: %v at %s", ok, rev)
	}
	k.note(r, "2", 1)
	if _, _, ok := k.stored("r"); ok {
		t.Error("another process has written since")
	}
}

// A writer may be told late: what it wrote was replaced since, and is not the last any more.
func TestALateWriterIsNotTheLast(t *testing.T) {
	var k requestCache
	first, second := &Request{ID: "r"}, &Request{ID: "r", Joined: 1}
	doneFirst := k.begin("1", first)
	k.note(first, "1", 1) // somebody else reads it, and writes the next one
	doneSecond := k.begin("2", second)
	k.wrote(second, "2", 1)
	doneSecond()
	k.wrote(first, "1", 1)
	doneFirst()
	if _, rev, ok := k.stored("r"); ok && rev != "2" {
		t.Errorf("the last is %s", rev)
	}
}
