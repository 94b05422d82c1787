package broadcaster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// seated is a channel in which some processes receive.
type seated struct {
	wire
	seats int
}

func (s *seated) Seats() int { return s.seats }

// The story: twelve daemons shared one Slack app, which may have ten connections: two were refused for ever, and
// said that they do not receive. Now a few receive for all, whoever of them dies or hangs is followed by another
// one in less than five seconds, and the others know that somebody receives.
func TestSeatsBoundWhoReceives(t *testing.T) {
	const seats, processes = 4, 12
	synctest.Test(t, func(t *testing.T) {
		kv, leases := newMemKV(), &oneLease{}
		var mu sync.Mutex
		receives, dead := map[int]bool{}, map[int]bool{}
		count := func() (n int) { // a daemon that hears nothing of its store may receive for a while yet
			mu.Lock()
			defer mu.Unlock()
			for process := range receives {
				if !dead[process] {
					n++
				}
			}
			return n
		}
		end := map[int]context.CancelFunc{}
		var all sync.WaitGroup
		for n := range processes {
			c := &seated{seats: seats}
			isDead := func() bool { mu.Lock(); defer mu.Unlock(); return dead[n] }
			l := newLease(c, replica{kv, leases, fmt.Sprint(n), isDead}, slog.New(slog.DiscardHandler))
			ctx, cancel := context.WithCancel(t.Context())
			end[n] = cancel
			all.Go(func() {
				_ = l.with(ctx, func(ctx context.Context) error {
					mu.Lock()
					receives[n] = true
					mu.Unlock()
					if n := count(); n > seats {
						t.Errorf("%d receive", n)
					}
					<-ctx.Done()
					mu.Lock()
					delete(receives, n)
					mu.Unlock()
					return ctx.Err()
				})
			})
		}
		time.Sleep(approver.LeaseTTL)
		if count() != seats {
			t.Fatalf("%d receive", count())
		}
		for n := range processes - seats { // one after the other, until as many are left as there are seats
			mu.Lock()
			was := receives[n]
			dead[n] = true
			mu.Unlock()
			if n%2 == 0 {
				end[n]() // and the store hears nothing of it
			}
			began := time.Now()
			for count() < seats && time.Since(began) < time.Minute {
				time.Sleep(10 * time.Millisecond)
			}
			if took := time.Since(began); was && took > 5*time.Second {
				t.Errorf("another one follows %d after %v", n, took)
			}
			for func() bool { mu.Lock(); defer mu.Unlock(); return receives[n] }() {
				time.Sleep(10 * time.Millisecond)
				if time.Since(began) > 2*spareFor {
					t.Fatalf("%d goes on receiving", n)
				}
			}
		}
		for _, cancel := range end {
			cancel()
		}
		all.Wait()
	})
}

// A process without a seat shows what those with one say: one that receives counts more than one that does not,
// and one at which answers may not count is named.
func TestWhatThoseWithASeatSay(t *testing.T) {
	mine := Receiving{Process: "me", Places: []string{"room"}, People: []string{"ada"}}
	up := Receiving{Process: "a", Up: true, Places: mine.Places, People: mine.People}
	down := Receiving{Process: "b", Problem: "no route", Places: mine.Places, People: mine.People}
	other := Receiving{Process: "c", Up: true, Places: []string{"hall"}, People: mine.People}
	for name, c := range map[string]struct {
		notes   []Receiving
		want    string // the process
		trouble string
	}{
		"nobody":                  {},
		"one":                     {notes: []Receiving{up}, want: "a"},
		"one that hears nothing":  {notes: []Receiving{down}, want: "b", trouble: "no route"},
		"one of two":              {notes: []Receiving{down, up}, want: "a"},
		"one of two, otherwise":   {notes: []Receiving{up, down}, want: "a"},
		"one does not fit":        {notes: []Receiving{up, other}, want: "c", trouble: "takes no answers in room"},
		"one does not fit, first": {notes: []Receiving{other, up}, want: "c", trouble: "takes no answers in room"},
		"its own":                 {notes: []Receiving{{Process: "me", Up: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				l := newLease(&seated{seats: 3}, kv, slog.New(slog.DiscardHandler))
				for i, note := range c.notes {
					note.At = time.Now()
					value, err := json.Marshal(note)
					if err != nil {
						t.Fatal(err)
					}
					kv.replace(noteKey(l.seats[i]), memRecord{value, "r"})
				}
				b := composed(Options{Store: kv, Log: slog.New(slog.DiscardHandler), Mark: NewControlMark(0)})
				b.Approvers.people.Store(&approver.People{})
				there, trouble := b.receivers.lookElsewhere(t.Context(), &wire{}, l.seats, mine)
				got := ""
				if there != nil {
					got = there.Process
				}
				if got != c.want || (trouble == "") != (c.trouble == "") || !strings.Contains(trouble, c.trouble) {
					t.Errorf("%q, %q", got, trouble)
				}
			})
		})
	}
}

// The story: the way of the daemon that received was cut, another one waited beside it with a good way, and for
// nine seconds nobody's answers came. Who hears nothing gives way to one that waits in less than five seconds. It
// does not take the lease back from it, and two that both hear nothing do not push each other out all the time.
func TestADeafProcessGivesWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		b1, w1 := wired(t, kv, lease, "a", "room", "ada")
		b2, w2 := wired(t, kv, lease, "b", "room", "ada")
		hears := func(b *Broadcaster) bool { s := b.Channels.State("wire"); return s.Leads && s.Up }
		runs := func(w *wire) int { w.mu.Lock(); defer w.mu.Unlock(); return w.runs }
		follows := func(next *Broadcaster, deaf *wire) {
			t.Helper()
			deaf.set(true)
			for deaf.Reception().Up {
				time.Sleep(10 * time.Millisecond)
			}
			noticed := time.Now()
			for !hears(next) {
				time.Sleep(10 * time.Millisecond)
				if time.Since(noticed) > time.Minute {
					t.Fatal("nobody receives")
				}
			}
			took := time.Since(noticed)
			t.Logf("after %v", took)
			if took >= 5*time.Second {
				t.Errorf("the next one receives after %v", took)
			}
		}
		time.Sleep(10 * time.Second)
		follows(b2, w1)
		before := runs(w2)
		w1.set(false)
		time.Sleep(10 * time.Minute)
		if !hears(b2) || runs(w2) != before {
			t.Errorf("it did not keep the lease: %d runs more", runs(w2)-before)
		}
		follows(b1, w2)
		w2.set(false)
		time.Sleep(2 * maxDeafFor) // until it asks for the lease again

		// A connection that is renewed costs nobody the lease.
		before = runs(w1)
		w1.hang(true)
		w1.heard().Failed(context.DeadlineExceeded)
		time.Sleep(1500 * time.Millisecond) // of the two seconds that giveWayAfter is
		w1.heard().Succeeded()
		w1.hang(false)
		time.Sleep(time.Minute)
		if !hears(b1) || runs(w1) != before {
			t.Error("a blink cost the lease")
		}

		// Now both are deaf.
		w1.set(true)
		w2.set(true)
		before = runs(w1) + runs(w2)
		time.Sleep(10 * time.Minute)
		if n := runs(w1) + runs(w2) - before; n < 2 || n > 24 {
			t.Errorf("two that hear nothing took %d turns in ten minutes", n)
		}
		w1.set(false)
		time.Sleep(maxDeafFor + time.Minute)
		if !hears(b1) {
			t.Error("the one that hears again does not receive")
		}
	})
}

// What is left of a run that hears nothing may take its time, as long as nobody has to wait for that: an answer
// that it has is judged to the end.
func TestARunThatEndsSlowlyKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		_, w1 := wiredAs(t, kv, lease, "a", "room", "ada", &wire{lingers: 20 * time.Second})
		b2, _ := wired(t, kv, lease, "b", "room", "ada")
		time.Sleep(10 * time.Second)
		w1.set(true)
		time.Sleep(6 * time.Second)
		if s := b2.Channels.State("wire"); !s.Leads || !s.Up {
			t.Errorf("the next one does not receive: %+v", s)
		}
		time.Sleep(time.Minute)
	})
}

// The story: one of several daemons that receive for a Slack app did not reach its store for two seconds, closed its
// sockets, and Slack does not repeat what nobody received.
func TestASeatIsKeptWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		l := newLease(&seated{seats: 4}, replica{newMemKV(), &oneLease{}, "a", away.Load},
			slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = l.with(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				ended.Store(true)
				return ctx.Err()
			})
		}()
		time.Sleep(10 * time.Second)
		away.Store(true)
		time.Sleep(spareFor * 3 / 4)
		if ended.Load() {
			t.Error("nothing receives any more")
		}
		time.Sleep(spareFor / 2)
		if !ended.Load() {
			t.Error("it receives although others may have all seats")
		}
		cancel()
		<-done
	})
}
