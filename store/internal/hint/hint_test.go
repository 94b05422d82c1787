package hint

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"approver.example/store/internal/arg"
)

// pending empties a watch and returns how many hints were in it, and whether it
// goes on.
func pending(hints <-chan struct{}) (n int, open bool) {
	for {
		select {
		case _, ok := <-hints:
			if !ok {
				return n, false
			}
			n++
		default:
			return n, true
		}
	}
}

func want(t *testing.T, what string, hints <-chan struct{}, hintsWant int, openWant bool) {
	t.Helper()
	if n, open := pending(hints); n != hintsWant || open != openWant {
		t.Errorf("%s: got %d hints, open %v, want %d, %v", what, n, open, hintsWant, openWant)
	}
}

func TestHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		ctx, cancel := context.WithCancel(t.Context())
		a, _ := h.Watch(ctx, "a")
		a2, _ := h.Watch(t.Context(), "a")
		b, _ := h.Watch(t.Context(), "b")
		for name, w := range map[string]<-chan struct{}{"a": a, "a2": a2, "b": b} {
			want(t, name+" at the start", w, 1, true)
		}
		h.Wake("a")
		h.Wake("a")
		h.Wake("c")
		want(t, "a, woken twice", a, 1, true)
		want(t, "a2, woken twice", a2, 1, true)
		want(t, "b, not woken", b, 0, true)
		h.WakeAll()
		want(t, "a, all woken", a, 1, true)
		want(t, "b, all woken", b, 1, true)
		cancel()
		synctest.Wait()
		want(t, "a at its end", a, 0, false)
		h.Wake("a")
		want(t, "the other a", a2, 1, true) // both hints are one
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		ctx, cancel := context.WithCancel(t.Context())
		a, _ := h.Watch(ctx, "a")
		b, _ := h.Watch(t.Context(), "b")
		h.Close()
		want(t, "a", a, 1, false)
		want(t, "b", b, 1, false)
		h.Close()
		h.Wake("a")
		h.WakeAll()
		cancel()
		synctest.Wait()
		if _, err := h.Watch(t.Context(), "a"); !errors.Is(err, arg.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if h.Len() != 0 {
			t.Errorf("%d watchers are left", h.Len())
		}
	})
}

func TestEndedContextIsNotWatched(t *testing.T) {
	var h Hub
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Watch(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if h.Len() != 0 {
		t.Error("a watcher is left")
	}
}

// Everything at once, for the race detector: the end of contexts, wakes, Close.
func TestLeavingWhileWokenAndClosed(t *testing.T) {
	for range 50 {
		var h Hub
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					hints, err := h.Watch(ctx, "a")
					cancel()
					if err != nil {
						return
					}
					for range hints { // must end
					}
				}
			})
			all.Go(func() {
				for range 20 {
					h.Wake("a")
					h.WakeAll()
				}
			})
		}
		all.Go(h.Close)
		all.Wait()
		h.Close()
		if h.Len() != 0 {
			t.Fatalf("%d watchers are left", h.Len())
		}
	}
}
