package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A wire is a channel of one process whose platform it reaches or not.
type wire struct {
	approver.Channel
	meter atomic.Pointer[approver.ReceptionMeter] // of this run
	mu    sync.Mutex
	cut   bool
	hung  bool // its platform does not say anything
	runs  int
	// forgets lets each run begin to know nothing, and take a second to find out.
	forgets bool
	lingers time.Duration // how long the end of a run takes
	// each receives in each process: its platform brings an event to one of them.
	each bool
}

func (w *wire) Name() string { return "wire" }

func (w *wire) LeaseName() string {
	if w.each {
		return ""
	}
	return "wire:1"
}

func (w *wire) heard() *approver.ReceptionMeter {
	w.meter.CompareAndSwap(nil, &approver.ReceptionMeter{})
	return w.meter.Load()
}

func (w *wire) Reception() approver.Reception { return w.heard().Reception() }

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (w *wire) hang(hung bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hung = hung
}

func (w *wire) Run(ctx context.Context, _ approver.ReplyFunc) error {
	w.mu.Lock()
	w.runs++
	w.mu.Unlock()
	defer func() {
		w.heard().Stopped()
		time.Sleep(w.lingers)
	}()
	if w.forgets {
		w.meter.Store(&approver.ReceptionMeter{})
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
	for {
		w.mu.Lock()
		cut, hung := w.cut, w.hung
		w.mu.Unlock()
		switch {
		case hung:
		case cut:
			w.heard().Failed(errors.New("no route"))
		default:
			w.heard().Succeeded()
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// wired starts one process of several that share a store.
func wired(t *testing.T, kv *memKV, lease *oneLease, name string, place, person string) (*Broadcaster, *wire) {
	return wiredAs(t, kv, lease, name, place, person, &wire{})
}

func wiredAs(t *testing.T, kv *memKV, lease *oneLease, name, place, person string, w *wire) (*Broadcaster, *wire) {
	b := composed(Options{
		Store: replica{kv, lease, name, func() bool { return false }}, Log: slog.New(slog.DiscardHandler),
		Destinations: []approver.Destination{{Channel: "wire", Conversation: place}}, Channels: []approver.Channel{w},
		Mark: NewControlMark(0),
	})
	b.Approvers.people.Store(&approver.People{{Channel: "wire", ID: person}: {ID: person}})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.receivers.runChannel(ctx, w) }()
	t.Cleanup(func() { stop(); <-done })
	synctest.Wait()
	return b, w
}

// Two daemons shared a Redis and a bot. The one that received lost its way to the
// platform, kept the lease, and nobody's answers came: each call was denied with
// "nobody answered", and the other daemon's status said that all was well.
func TestADeafProcessGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		b1, w1 := wired(t, kv, lease, "a", "room", "ada")
		b2, w2 := wired(t, kv, lease, "b", "room", "ada")
		state := func(b *Broadcaster) ChannelState { return b.Channels.State("wire") }
		time.Sleep(10 * time.Second)
		if s := state(b2); !state(b1).Leads || s.Leads || s.There == nil || !s.There.Up || s.Apart != "" {
			t.Fatalf("at first: %+v", s)
		}
		w1.set(true)
		time.Sleep(6 * time.Second)
		if s := state(b2); !s.Leads || !s.Up {
			t.Errorf("it does not receive: %+v", s)
		}
		time.Sleep(10 * time.Second)
		if s := state(b1); s.Leads || s.Apart != "" || s.There == nil || !s.There.Up {
			t.Errorf("the other says: %+v", s)
		}

		// Where all are deaf they take turns, ever more rarely; the first that hears keeps it.
		w2.set(true)
		time.Sleep(time.Hour)
		w1.mu.Lock()
		if w1.runs < 5 || w1.runs > 40 {
			t.Errorf("within an hour it ran %d times", w1.runs)
		}
		w1.mu.Unlock()
		w1.set(false)
		time.Sleep(2*maxDeafFor + time.Minute)
		if s := state(b1); !s.Leads || !s.Up {
			t.Errorf("the one that hears again does not receive: %+v", s)
		}
	})
}

// A newcomer's Telegram could not be reached. Whenever its channel gave the lease up and
// tried anew, for a moment nothing had failed yet: root was shown a request and its code,
// and then told that others can approve it, and people recover was refused. Trying anew is
// no news now, until an answer comes.
func TestADeafChannelThatTriesAnewStaysDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := wired(t, newMemKV(), &oneLease{}, "a", "room", "ada")
		w.forgets = true
		w.set(true)
		time.Sleep(2 * time.Second)
		since := b.Channels.State("wire").Since
		for range 40 * 60 * 4 {
			time.Sleep(250 * time.Millisecond)
			if why := b.Approvers.Nobody(approver.Catastrophic); why != "from wire no answers arrive now" {
				t.Fatalf("somebody could approve: %q, %+v", why, b.Channels.State("wire"))
			}
			if s := b.Channels.State("wire"); s.Up || !s.Since.Equal(since) || s.Problem == "" {
				t.Fatalf("it began at %v: %+v", since, s)
			}
		}
		if w.mu.Lock(); w.runs < 4 {
			t.Errorf("it gave the lease up %d times", w.runs-1)
		}
		w.mu.Unlock()
		w.set(false)
		time.Sleep(asideFor + approver.LeaseTTL + time.Second)
		if why := b.Approvers.Nobody(approver.Catastrophic); why != "" {
			t.Errorf("answers come: %q", why)
		}
		w.set(true) // another trouble, which began later
		time.Sleep(time.Minute)
		if s := b.Channels.State("wire"); s.Up || !s.Since.After(since.Add(30*time.Minute)) {
			t.Errorf("another trouble: %+v", s)
		}
	})
}

// One daemon alone has nobody to give way to: it is back as soon as its platform is.
func TestALoneProcessHearsAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := wired(t, newMemKV(), &oneLease{}, "a", "room", "ada")
		w.set(true)
		time.Sleep(20 * time.Minute)
		for range 20 {
			w.set(false)
			time.Sleep(asideFor + approver.LeaseTTL + time.Second)
			if s := b.Channels.State("wire"); !s.Leads || !s.Up {
				t.Fatalf("it does not receive: %+v", s)
			}
			w.set(true)
			time.Sleep(17 * time.Second)
		}
	})
}

// Two daemons with one bot listened in different chats, or knew different approvers.
// Whoever had the lease refused the answers that the other waited for, and no status
// said so.
func TestDaemonsThatDoNotFitSaySo(t *testing.T) {
	for _, c := range []struct{ name, place, person, want string }{
		{"the same", "room", "ada", ""},
		{"another chat", "hall", "ada", "takes no answers in hall"},
		{"another approver", "room", "bob", "does not know the approvers bob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv, lease := newMemKV(), &oneLease{}
				wired(t, kv, lease, "a", "room", "ada")
				b, _ := wired(t, kv, lease, "b", c.place, c.person)
				time.Sleep(10 * time.Second)
				got := b.Channels.State("wire").Apart
				if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("it says %q, want %q", got, c.want)
				}
			})
		})
	}
}

// The story: bob was removed on one of two daemons with identical files. The other said that
// the daemon that receives does not know the approvers bob, that the files must be made the
// same, and ended its status with 1. Who was removed is missed by nobody, whichever of them
// has heard of it first, and anybody else is.
func TestARemovalIsNoDifferenceOfDaemons(t *testing.T) {
	for name, hears := range map[string]bool{"the one that receives removes": true, "the other one removes": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv, lease := newMemKV(), &oneLease{}
				if err := BeginControls(t.Context(), kv); err != nil {
					t.Fatal(err)
				}
				both := func() *approver.People {
					return &approver.People{
						{Channel: "wire", ID: "ada"}: {ID: "ada"}, {Channel: "wire", ID: "bob"}: {ID: "robert"},
						{Channel: "wire", ID: "eve"}: {ID: "eve"},
					}
				}
				b1, _ := wired(t, kv, lease, "a", "room", "ada")
				b2, _ := wired(t, kv, lease, "b", "room", "ada")
				for _, b := range []*Broadcaster{b1, b2} {
					b.Approvers.people.Store(both())
				}
				time.Sleep(10 * time.Second)
				apart := func(seconds int) (said string) {
					for range 4 * seconds {
						said = cmp.Or(said, b2.Channels.State("wire").Apart)
						time.Sleep(time.Second / 4)
					}
					return said
				}
				if got := apart(3); got != "" || !b1.Channels.State("wire").Leads {
					t.Fatalf("before: %q", got)
				}
				by := b2
				if hears {
					by = b1
				}
				if _, err := changeControls(t.Context(), kv, by.Mark, kv.Put, func(c *Controls, now time.Time) error {
					return c.remove(Removal{
						Person: "robert", Identities: []approver.Identity{{Channel: "wire", ID: "bob"}}, By: "uid 0",
					}, now)
				}); err != nil {
					t.Fatal(err)
				}
				by.Approvers.people.Store(&approver.People{
					{Channel: "wire", ID: "ada"}: {ID: "ada"}, {Channel: "wire", ID: "eve"}: {ID: "eve"},
				}) // as its authority then has them
				if got := apart(12); got != "" {
					t.Errorf("after the removal: %q", got)
				}
				b1.Approvers.people.Store(&approver.People{{Channel: "wire", ID: "ada"}: {ID: "ada"}})
				if got := apart(12); !strings.Contains(got, "does not know the approvers eve:") {
					t.Errorf("another one is unknown: %q", got)
				}
			})
		})
	}
}
