package broadcaster

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newTasks() *tasks {
	o := &Options{Log: slog.New(slog.DiscardHandler)}
	return &tasks{Options: o, ready: make(chan struct{}), single: map[any]bool{}}
}

// A task that must not run twice at once is not lost, and does not count as running for ever:
// whether its wake-up comes before Run, while it runs, while it ends, after a panic, or after Run.
func TestASingleTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTasks()
		ctx, stop := context.WithCancel(t.Context())
		var runs, at, most atomic.Int32
		work := func(ctx context.Context) {
			runs.Add(1)
			most.Store(max(most.Load(), at.Add(1)))
			_ = sleep(ctx, time.Second)
			at.Add(-1)
		}
		want := func(when string, n int32) {
			t.Helper()
			time.Sleep(10 * time.Second)
			if runs.Load() != n || most.Load() > 1 || w.runs("key") {
				t.Errorf("%s: it ran %d times, want %d; %d at once; it still runs: %v", when, runs.Load(), n, most.Load(),
					w.runs("key"))
			}
		}
		w.startSingle("key", true, work)
		want("before Run", 0)
		if err := w.begin(ctx); err != nil {
			t.Fatal(err)
		}
		w.startSingle("key", true, work)
		want("the first", 1)
		for range 3 {
			w.startSingle("key", true, work)
		}
		want("and again", 3)
		for range 3 {
			w.startSingle("key", false, work)
		}
		want("not again", 4)
		w.startSingle("key", true, func(ctx context.Context) { work(ctx); panic("once") })
		want("a panic", 5)
		w.startSingle("key", true, work)
		want("after the panic", 6)
		stop()
		w.startSingle("key", true, work)
		want("after Run", 6)
		w.wait()
	})
}

// Wake-ups that come while the task ends are not lost: what was noted before the last of them
// is seen by a run.
func TestNoWakeUpIsLost(t *testing.T) {
	w := newTasks()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := w.begin(ctx); err != nil {
		t.Fatal(err)
	}
	var noted, seen atomic.Int64
	for range 5000 {
		n := noted.Add(1)
		w.startSingle("key", true, func(context.Context) { seen.Store(noted.Load()) })
		if n%3 == 0 {
			for w.runs("key") { // the next one is to come as it ends
				runtime.Gosched()
			}
		}
	}
	stop()
	w.wait()
	if noted.Load() != seen.Load() || w.runs("key") {
		t.Errorf("seen %d of %d; it still runs: %v", seen.Load(), noted.Load(), w.runs("key"))
	}
}

// A lateContext ends while somebody looks whether it has.
type lateContext struct {
	context.Context
	look func()
}

func (c lateContext) Err() error {
	err := c.Context.Err()
	c.look()
	return err
}

// Run's end waits also for a task that is being started at that moment.
func TestRunWaitsForATaskThatIsBeingStarted(t *testing.T) {
	w := newTasks()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool, 1)
	var done atomic.Bool
	look := func() {
		stop()
		go func() { w.wait(); ended <- done.Load() }()
		time.Sleep(50 * time.Millisecond)
	}
	if err := w.begin(lateContext{ctx, look}); err != nil {
		t.Fatal(err)
	}
	w.start(func(context.Context) { done.Store(true) })
	if !<-ended {
		t.Error("Run was over before its last task")
	}
}
