package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A store that comes back with an older head has lost writings. How much they span
// tells a fail-over, which takes the last seconds along, from a dump that somebody
// put back. Time in which nothing was written says nothing.
func TestAStoreThatIsReplacedUnderOurHands(t *testing.T) {
	for name, tt := range map[string]struct {
		at    []time.Duration // when heads were written; the last is refused now
		back  int             // which of them the store has again; -1 is one of before
		older bool
	}{
		"nothing lost":                     {at: []time.Duration{0, 1, 2}, back: 1},
		"the last second":                  {at: []time.Duration{0, 3600, 3601, 3602}, back: 1},
		"one write after an idle hour":     {at: []time.Duration{0, 3600, 3601}, back: 0},
		"ten seconds":                      {at: []time.Duration{0, 1, 11, 12}, back: 0},
		"eleven seconds":                   {at: []time.Duration{0, 1, 12, 13}, back: 0, older: true},
		"an hour":                          {at: []time.Duration{0, 1, 1800, 3600, 3601}, back: 0, older: true},
		"all of this process, short":       {at: []time.Duration{0, 1, 2}, back: -1},
		"all of this process, long":        {at: []time.Duration{0, 60, 3600, 3601}, back: -1, older: true},
		"nothing was written by this life": {at: []time.Duration{0}, back: -1},
	} {
		k := headKeeper{}
		for _, at := range tt.at {
			k.recent = append(k.recent, headWrite{approver.NewRev(), time.Unix(0, 0).Add(at * time.Second)})
		}
		if err := k.checkRollback(tt.back); errors.Is(err, errOlder) != tt.older {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The story: the machine was so busy that the store was not told of the log's end for
// twelve seconds, while people's answers were recorded; then the daemon was killed, and
// its store looked as if an older one had been put back: an honest installation froze
// itself. Now what counts for the lag waits until the store was told, and what does not
// count, such as a call that passes, never waits.
func TestAStarvedHeadIsNoOlderStore(t *testing.T) {
	for name, event := range map[string]approver.Event{
		"released": approver.EventReleased, "approved": approver.EventApproved, "posted": approver.EventPosted,
		"repeated": approver.EventRepeated,
		"granted":  approver.EventGranted, "used": approver.EventGrantUsed, "parked": approver.EventParked,
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			synctest.Test(t, func(t *testing.T) {
				kv, free := newMemory(), time.Now().Add(time.Minute)
				begin := time.Now()
				kv.fail = func(int) (error, error) {
					if at := time.Now(); at.After(begin.Add(time.Second)) && at.Before(free) {
						return errors.New("busy"), nil
					}
					return nil, nil
				}
				o.KV = kv
				l := open(t, o)
				var counting sync.WaitGroup
				counting.Go(func() {
					for range 30 {
						record(t, l, approver.Record{Event: event, Request: "r"})
						time.Sleep(time.Second)
					}
				})
				for range 40 {
					start := time.Now()
					record(t, l, approver.Record{Event: approver.EventVerdict, Call: shell("true")})
					record(t, l, approver.Record{Event: approver.EventFrozen, Note: "test"})
					if d := time.Since(start); d > 0 {
						t.Fatalf("a call that passes, or a freeze, waited %v", d)
					}
					time.Sleep(time.Second)
				}
				killed := o
				killed.Dir, killed.Hold = filepath.Join(t.TempDir(), "log"), true
				must(t, os.CopyFS(killed.Dir, os.DirFS(o.Dir)))
				next := open(t, killed)
				if found := next.Opened(); found.Older != "" || found.Head == nil || found.Seq < found.Head.Seq+40 {
					t.Errorf("after a crash: %+v", found)
				}
				closeLog(t, next)
				counting.Wait()
				if d := time.Since(begin); d < time.Minute || d > 2*time.Minute {
					t.Errorf("everything was recorded after %v", d)
				}
				closeLog(t, l)
			})
		})
	}
}

// A call whose record waits for the store ends with its caller, and with the log.
func TestAWaitForTheHeadEnds(t *testing.T) {
	o, _ := options(t)
	synctest.Test(t, func(t *testing.T) {
		kv := newMemory()
		o.KV = kv
		l := open(t, o)
		kv.mu.Lock()
		kv.fail = func(int) (error, error) { return errors.New("busy"), nil }
		kv.mu.Unlock()
		record(t, l, approver.Record{Event: approver.EventReleased})
		time.Sleep(maxUnstored + time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Record(ctx, approver.Record{Event: approver.EventReleased}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("a caller that went away: %v", err)
		}
		time.AfterFunc(time.Second, func() { _ = l.Close(context.Background()) })
		if _, err := l.Record(t.Context(), approver.Record{Event: approver.EventReleased}); !errors.Is(err, ErrClosed) {
			t.Errorf("a log that was closed: %v", err)
		}
	})
}

// A clock that jumps back, as after a step of NTP or in a machine that was put to sleep,
// makes no store look older, whatever is killed then, and nothing waits for it.
func TestAClockThatJumpsBack(t *testing.T) {
	o, _ := options(t)
	o.KV, o.Hold = newMemory(), true
	l := open(t, o)
	now := time.Now()
	for n, at := range []time.Duration{0, time.Second, -time.Hour, -time.Hour + time.Second, -6 * time.Hour} {
		if _,
			err := l.Record(t.Context(), approver.Record{Event: approver.EventPosted, Request: string(rune('a' + n)),
			At: now.Add(at)}); err != nil {
			t.Fatal(err)
		}
	}
	killed := o
	killed.Dir = filepath.Join(t.TempDir(), "log")
	must(t, os.CopyFS(killed.Dir, os.DirFS(o.Dir)))
	next := open(t, killed)
	if found := next.Opened(); found.Older+found.Lost != "" || len(found.Told) != 5 {
		t.Errorf("%+v", found)
	}
}
