package broadcaster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// fickle is a chat whose Run ends while its token is bad, and says whether it receives.
type fickle struct {
	*chat
	approver.ReceptionMeter
	mu  sync.Mutex
	bad error
	ran int
}

func (f *fickle) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad = err
}

func (f *fickle) Run(ctx context.Context, _ approver.ReplyFunc) error {
	f.mu.Lock()
	f.ran++
	bad := f.bad
	f.mu.Unlock()
	if bad != nil {
		f.Failed(bad)
		return bad
	}
	f.Succeeded()
	<-ctx.Done()
	return ctx.Err()
}

// lines is a log in memory.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(io.Writer(l), nil)) }

// The story: a bot's token is revoked, so its channel ends. An hour later somebody
// has put it right at the platform. Nobody restarts the daemon: the channel is run
// again now and then, so it comes back by itself, gets the card that waited for it,
// and a person answers there. The log told of it once, and not once for each try.
func TestAChannelThatEndedComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newBench(t, newMemKV()).Options
		var log lines
		f := &fickle{chat: newChat("telegram")}
		f.set(errors.New("the token was revoked"))
		o.Store, o.Log, o.Channels, o.Destinations = newMemKV(), log.log(), []approver.Channel{f}, o.Destinations[:1]
		b, err := NewBroadcaster(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx) }()
		time.Sleep(time.Hour)
		if s := b.Channels.State("telegram"); s.Ended == nil || s.Up || s.Leads || b.Channels.Deaf("telegram") == nil {
			t.Errorf("while it is away: %+v", s)
		}
		if f.ran < 10 || f.ran > 45 {
			t.Errorf("it was run %d times in an hour", f.ran)
		}
		f.set(nil)
		time.Sleep(maxRunAgain * 6 / 5)
		if s := b.Channels.State("telegram"); s.Ended != nil || !s.Up || !s.Leads || b.Channels.Deaf("telegram") != nil {
			t.Errorf("once it is back: %+v", s)
		}
		if log.count("has ended") != 1 || log.count("is back") != 1 {
			t.Errorf("the log:\n%s", log.b.String())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v of a channel that was back", err)
		}
	})
}

// A channel that cannot say whether answers arrive is back once it has run for a
// while, and one that panics or returns nothing is run again too.
func TestAnyEndOfAChannelIsRunAgain(t *testing.T) {
	for name, end := range map[string]func() error{
		"an error": func() error { return errors.New("revoked") },
		"nothing":  func() error { return nil },
		"a panic":  func() error { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newBench(t, newMemKV()).Options
				first := true
				c := ownRun{newChat("telegram"), func(ctx context.Context) error {
					if first {
						first = false
						return end()
					}
					<-ctx.Done()
					return ctx.Err()
				}}
				o.Store, o.Channels, o.Destinations = newMemKV(), []approver.Channel{c}, o.Destinations[:1]
				o.RunAgain = time.Second
				b, err := NewBroadcaster(o)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- b.Run(ctx) }()
				time.Sleep(5 * time.Second)
				if b.Channels.Deaf("telegram") == nil {
					t.Error("it counts as back at once")
				}
				time.Sleep(steadyAfter)
				if err := b.Channels.Deaf("telegram"); err != nil {
					t.Error(err)
				}
				cancel()
				<-ended
			})
		})
	}
}

// ownRun is a chat with a Run of its own.
type ownRun struct {
	*chat
	run func(context.Context) error
}

func (r ownRun) Run(ctx context.Context, _ approver.ReplyFunc) error { return r.run(ctx) }

// solo receives in one process only.
type solo struct{ *fickle }

func (solo) LeaseName() string { return "solo" }

// Which of several processes receives is said by each; what a channel has not done
// yet is said as such, and one that nobody configured is nothing.
func TestChannelState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &leaseKV{memKV: newMemKV()}
		o := newBench(t, newMemKV()).Options
		replica := func() (*Broadcaster, *fickle) {
			f := &fickle{chat: newChat("telegram")}
			o.Store, o.Channels, o.Destinations = kv, []approver.Channel{solo{f}}, o.Destinations[:1]
			b, err := NewBroadcaster(o)
			if err != nil {
				t.Fatal(err)
			}
			return b, f
		}
		b1, f1 := replica()
		b2, _ := replica()
		if s := b1.Channels.State("telegram"); !s.Receiver || !s.Solo || s.Leads || s.Up || !s.Since.IsZero() ||
			s.Ended != nil {
			t.Errorf("before Run: %+v", s)
		}
		if s := b1.Channels.State("nothing"); !reflect.DeepEqual(s, ChannelState{}) {
			t.Errorf("a channel that is not configured: %+v", s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = b1.Run(ctx) })
		synctest.Wait()
		kv.other = true // the next to ask is another process
		all.Go(func() { _ = b2.Run(ctx) })
		time.Sleep(time.Second / 2)
		s1, s2 := b1.Channels.State("telegram"), b2.Channels.State("telegram")
		if !s1.Leads || !s1.Up || s2.Leads || s2.Up || s2.Ended != nil {
			t.Errorf("the one %+v, the other %+v", s1, s2)
		}
		f1.Failed(errors.New("502"))
		if s := b1.Channels.State("telegram"); s.Up || s.Problem != "502" {
			t.Errorf("after a failure: %+v", s)
		}
		cancel()
		all.Wait()
		if s := b1.Channels.State("telegram"); s.Leads {
			t.Errorf("after Run: %+v", s)
		}
	})
}

// leaseKV gives the lease to the first who asks, until other is set.
type leaseKV struct {
	*memKV
	other bool
}

func (k *leaseKV) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	if k.other {
		return 0, approver.ErrHeld
	}
	return k.memKV.Lease(ctx, name, ttl)
}
