package broadcaster

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"approver.example"
)

// tasks is the work in the background, as part of Run.
type tasks struct {
	*Options

	mu     sync.Mutex
	ready  chan struct{}   // closed when Run has begun
	work   context.Context // of Run; nil before
	busy   sync.WaitGroup  // goroutines started for requests
	single map[any]bool    // the keys of tasks that must not run twice; true: once more
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

// wait waits, after the end of Run's context, for all that was started.
func (t *tasks) wait() {
	_ = t.running() // a start that is under way first: it may have seen the context alive
	t.busy.Wait()
}

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
	t.startLocked(f)
}

// startLocked is start for a caller that holds mu. It reports whether f was started.
func (t *tasks) startLocked(f func(ctx context.Context)) bool {
	if t.work == nil || t.work.Err() != nil {
		return false
	}
	ctx := t.work
	t.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				t.Log.Error("panic in the background", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f(ctx)
	})
	return true
}

// startSingle is start for work that must not run twice at once. While a task with this key
// runs, it starts nothing. With again, the running task then runs once more.
func (t *tasks) startSingle(key any, again bool, f func(ctx context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if more, runs := t.single[key]; runs {
		t.single[key] = more || again
		return
	}
	started := t.startLocked(func(ctx context.Context) {
		more := true
		defer func() {
			if more { // after a panic, others may try
				t.mu.Lock()
				delete(t.single, key)
				t.mu.Unlock()
			}
		}()
		for more {
			f(ctx)
			more = t.once(key)
		}
	})
	if started {
		t.single[key] = false
	}
}

// once reports whether the task with a key is to run once more. If not, it has ended.
func (t *tasks) once(key any) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if more = t.single[key]; more {
		t.single[key] = false
	} else {
		delete(t.single, key)
	}
	return more
}

// runs reports whether a task with this key runs.
func (t *tasks) runs(key any) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, runs := t.single[key]
	return runs
}
