package broadcaster

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// After an outage of twenty seconds a card kept its buttons for half a minute more, as the
// tries had become rare and did not heed what the platform asked; two of them were used up
// within three milliseconds. A try comes when the platform allows it, and within seconds
// of its return.
func TestEditsOfSettledCardsArePatientAndPrompt(t *testing.T) {
	t.Parallel()
	const look = 3 * time.Second // the sweep, and the process that ended it
	for name, c := range map[string]struct {
		down  time.Duration // after the first try the edit fails for so long
		err   error
		shown time.Duration // since the first try at the most
		tries int           // at the most
	}{
		"works":                  {0, nil, 0, 1},
		"one 502":                {time.Millisecond, errBad, 2 * time.Second, 2},
		"502 for 20 s":           {20 * time.Second, errBad, 20*time.Second + mostEditPause + look, 9},
		"502 for 2 min":          {2 * time.Minute, errBad, 2*time.Minute + mostEditPause + look, 30},
		"502 for 10 min":         {10 * time.Minute, errBad, 10*time.Minute + mostEditPause + look, 130},
		"502 for 20 min":         {20 * time.Minute, errBad, 20*time.Minute + lateEditPause + look, 200},
		"429, after 1 s":         {time.Millisecond, busy(time.Second), time.Second + look, 2},
		"429, after 8.8 s":       {8800 * time.Millisecond, busy(8800 * time.Millisecond), 8800*time.Millisecond + look, 2},
		"429, after 30 s":        {30 * time.Second, busy(30 * time.Second), 30*time.Second + look, 2},
		"429, after 10 min":      {10 * time.Minute, busy(10 * time.Minute), 10*time.Minute + look, 2},
		"429 in a chain":         {30 * time.Second, fmt.Errorf("edit: %w", busy(30*time.Second)), 30*time.Second + look, 2},
		"429 without a time":     {20 * time.Second, busy(0), 20*time.Second + mostEditPause + look, 9},
		"429, longer than it is": {20 * time.Second, busy(5 * time.Second), 25*time.Second + look, 6},
		"gone for good": {
			time.Hour, fmt.Errorf("message to edit not found: %w", approver.ErrFinal), 2 * time.Hour, 1,
		},
		"gone, with a time":       {time.Hour, fmt.Errorf("%w: %w", approver.ErrFinal, busy(time.Second)), 2 * time.Hour, 1},
		"an unknown error, 1 min": {time.Minute, errors.New("EOF"), time.Minute + mostEditPause + look, 20},
	} {
		for _, parked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, parked %t", name, parked), func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					x.tune(func(o *Options) { o.TTL = 2 * time.Hour })
					var tries []time.Time
					var shown time.Time
					x.tg.onUpdate(func(card approver.Card) error {
						if card.State == approver.Pending {
							return nil
						}
						tries = append(tries, time.Now())
						if c.down > 0 && time.Since(tries[0]) < c.down {
							return c.err
						}
						shown = time.Now()
						return nil
					})
					call := peerCall("a", 1000)
					if parked {
						call = parkedCall("a", time.Second)
					}
					answer := x.askAsync(t.Context(), call, approver.High)
					time.Sleep(5 * time.Second)
					x.tap(x.dc, 0, "d1", true)
					<-answer
					if rest := aLongTime(); errors.Is(c.err, approver.ErrFinal) {
						time.Sleep(rest)
					} else {
						time.Sleep(c.down + rest)
					}
					synctest.Wait()
					if len(tries) == 0 || len(tries) > c.tries {
						t.Fatalf("%d tries, at most %d", len(tries), c.tries)
					}
					if errors.Is(c.err, approver.ErrFinal) {
						return
					}
					if took := shown.Sub(tries[0]); shown.IsZero() || took > c.shown {
						t.Errorf("the card showed it after %v, want %v", took, c.shown)
					}
					for _, to := range x.Channels.State("telegram").Cards {
						if !to.StaleSince.IsZero() {
							t.Errorf("the channel's state still has a card that is out of date: %+v", to)
						}
					}
					var patience approver.Patience
					for i := 1; i < len(tries); i++ {
						if pause := tries[i].Sub(tries[i-1]); pause < time.Second || errors.As(c.err, &patience) &&
							pause < patience.RetryAfter() {
							t.Errorf("try %d came %v after the one before", i, pause)
						}
					}
				})
			})
		}
	}
}

// A platform asked for patience; then the daemon was restarted. The next one waits, too.
func TestPatienceOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		x.tg.onUpdate(func(approver.Card) error { return busy(time.Minute) })
		answer := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		x.tap(x.dc, 0, "d1", true)
		<-answer
		synctest.Wait()
		failed := time.Now()
		x.stop()
		y := newBench(t, kv)
		y.tg.holds(msg, card)
		var first time.Time
		y.tg.onUpdate(func(approver.Card) error {
			if first.IsZero() {
				first = time.Now()
			}
			return nil
		})
		time.Sleep(10 * time.Minute)
		if waited := first.Sub(failed); first.IsZero() || waited < time.Minute-time.Second ||
			waited > time.Minute+5*time.Second {
			t.Errorf("tried after %v", waited)
		}
		if _, card := y.tg.card(0); !strings.Contains(card.Result, "Approved once by Alice") {
			t.Errorf("%q", card.Result)
		}
	})
}

// A yes waits for its call, and no card can be edited. Then the call takes it, and the
// platform is back: no try that is still under way puts the older text over the end.
func TestAYesThatWasTakenIsNotShownAsWaiting(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tune(func(o *Options) { o.TTL = time.Hour })
		var last []string
		var up atomic.Bool
		x.tg.onUpdate(func(card approver.Card) error {
			if !up.Load() && card.State != approver.Pending {
				return errBad
			}
			last = append(last, card.Result)
			return nil
		})
		<-x.askAsync(t.Context(), parkedCall("a", time.Second), approver.High)
		x.tap(x.dc, 0, "d1", true)
		time.Sleep(10 * time.Second)
		if v := <-x.askAsync(t.Context(), parkedCall("b", 0), approver.High); v.Decision != approver.Allow {
			t.Fatalf("%+v", v)
		}
		time.Sleep(10 * time.Second)
		up.Store(true)
		time.Sleep(10 * time.Minute)
		if len(last) == 0 {
			t.Error("never shown")
		}
		for _, text := range last {
			if strings.Contains(text, "waits for the agent") {
				t.Errorf("after it was taken: %q", text)
			}
		}
	})
}
