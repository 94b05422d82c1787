package calls

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	b := Backoff{First: time.Second, Last: 10 * time.Second}
	for failures, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		want *= time.Second
		low, high := time.Hour, time.Duration(0)
		for range 200 {
			got := b.After(failures, nil)
			low, high = min(low, got), max(high, got)
		}
		if low < want/2 || high > want || low == high {
			t.Errorf("after %d failures it waits %v to %v, want %v less up to half, with jitter", failures, low, high, want)
		}
	}
	if got := b.After(1<<40, nil); got > 10*time.Second || got < 5*time.Second {
		t.Errorf("after very many failures it waits %v", got)
	}
	if got := b.After(0, &Error{Kind: Limited, Wait: time.Minute}); got != time.Minute {
		t.Errorf("a platform that asks for a minute is left alone for %v", got)
	}
}

func TestOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pauses[int]
		first := p.Begin(1, time.Minute)
		time.Sleep(59 * time.Second)
		soon, other := p.Begin(1, time.Minute), p.Begin(2, time.Minute)
		time.Sleep(time.Second)
		if !first || soon || !other || !p.Begin(1, time.Minute) {
			t.Error("not one in a minute")
		}
	})
}

// What was paused once and is open again is forgotten.
func TestPausesForget(t *testing.T) {
	var p Pauses[int]
	for i := range 1000 {
		p.Note(i, time.Now().Add(time.Nanosecond))
	}
	if p.Len() > 10 {
		t.Errorf("%d pauses are remembered", p.Len())
	}
}

// However many strangers write at once, what is remembered of them is bounded.
func TestBeginIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pauses[int]
		begun := 0
		for i := range 10 * maxBegun {
			if p.Begin(i, time.Minute) {
				begun++
			}
		}
		if begun != maxBegun || p.Len() != maxBegun {
			t.Errorf("%d began, %d are remembered", begun, p.Len())
		}
		time.Sleep(time.Minute)
		if !p.Begin(0, time.Minute) || p.Len() != 1 {
			t.Errorf("afterwards %d are remembered", p.Len())
		}
	})
}
