package broadcaster

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"approver.example"
)

// tasks is the work in the background, as part of Run.
type tasks struct {
	log *slog.Logger

	mu    sync.Mutex
	ready chan struct{}   // closed when Run has begun
	work  context.Context // of Run; nil before
	busy  sync.WaitGroup  // goroutines started for requests
}

// stopping reports that this process ends, or has not begun.
func (t *tasks) stopping(ctx context.Context) bool {
	w := t.running()
	return w == nil || w.Err() != nil || errors.Is(context.Cause(ctx), approver.ErrShuttingDown)
}

// awaitReady waits for Run to have begun.
func (t *tasks) awaitReady(ctx context.Context) error {
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(StorePatience):
		return errNotRunning
	}
}

// begin lets what is started from now on run until ctx ends.
func (t *tasks) begin(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work != nil {
		return errors.New("the broadcaster is already running")
	}
	t.work = ctx
	close(t.ready)
	return nil
}

// wait waits for all that was started.
func (t *tasks) wait() { t.busy.Wait() }

// running returns the context of Run, or nil before Run.
func (t *tasks) running() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.work
}

// start runs f as part of Run, which waits for it. After Run's end it does nothing: the record
// says what is left to do.
func (t *tasks) start(f func(ctx context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work == nil || t.work.Err() != nil {
		return
	}
	ctx := t.work
	t.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				t.log.Error("panic in the background", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f(ctx)
	})
}
