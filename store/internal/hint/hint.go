// Package hint wakes the readers of records: the local half of a store's Watch.
package hint

import (
	"context"
	"sync"

	"approver.example/store/internal/arg"
)

// A Hub passes hints to watchers. The zero value is ready for use. All methods are safe for
// concurrent use, and none waits for a reader: each watcher has room for one hint, and an
// unread hint stands for all later ones.
type Hub struct {
	mu       sync.Mutex
	closed   bool
	watchers map[string]map[*watcher]struct{}
	leaving  sync.WaitGroup // one for each watcher, until its channel is closed
}

type watcher struct {
	hints chan struct{}
	stop  func() bool // keeps the end of the context from calling leave
}

// Watch returns a channel that holds a hint from the start, gets one with each
// Wake of the key, and is closed when ctx ends or the hub is closed.
func (h *Hub) Watch(ctx context.Context, key string) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &watcher{hints: make(chan struct{}, 1)}
	w.hints <- struct{}{}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, arg.ErrClosed
	}
	if h.watchers == nil {
		h.watchers = make(map[string]map[*watcher]struct{})
	}
	if h.watchers[key] == nil {
		h.watchers[key] = make(map[*watcher]struct{})
	}
	h.watchers[key][w] = struct{}{}
	h.leaving.Add(1)
	// The function waits for the lock that is held here, so it never sees a watcher without its
	// stop.
	w.stop = context.AfterFunc(ctx, func() { h.leave(key, w) })
	return w.hints, nil
}

// leave removes one watcher when its context ends.
func (h *Hub) leave(key string, w *watcher) {
	defer h.leaving.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.watchers[key][w]; !ok {
		return // Close was first
	}
	delete(h.watchers[key], w)
	if len(h.watchers[key]) == 0 {
		delete(h.watchers, key)
	}
	close(w.hints)
}

// Wake sends a hint to the watchers of one key.
func (h *Hub) Wake(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers[key] {
		w.wake()
	}
}

// WakeAll sends a hint to every watcher.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, set := range h.watchers {
		for w := range set {
			w.wake()
		}
	}
}

// Len returns the number of watchers.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, set := range h.watchers {
		n += len(set)
	}
	return n
}

// Close closes every channel and waits for watchers that are just leaving.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for _, set := range h.watchers {
		for w := range set {
			close(w.hints)
			if w.stop() {
				h.leaving.Done()
			}
		}
	}
	h.watchers = nil
	h.mu.Unlock()
	h.leaving.Wait()
}

func (w *watcher) wake() {
	select {
	case w.hints <- struct{}{}:
	default:
	}
}
