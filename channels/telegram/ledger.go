package telegram

import (
	"context"
	"sync"
	"time"

	"approver.example/channels/internal/receiving"
)

// A ledger knows which updates are in work and which are done. Telegram is told
// that an update is done, by the next poll's offset, only when it and all
// before it are: what a crash interrupts comes again.
type ledger struct {
	mu    sync.Mutex
	open  map[int64]bool
	done  *receiving.Seen[int64]
	next  int64         // one above the highest id seen; 0 is nothing to confirm
	ended chan struct{} // has an element when something ended since it was read
}

func newLedger(remember int) *ledger {
	return &ledger{open: map[int64]bool{}, done: receiving.NewSeen[int64](remember), ended: make(chan struct{}, 1)}
}

// begin notes that work on an update begins. It returns false if it was begun
// before.
func (g *ledger) begin(id int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[id] || g.done.Has(id) {
		return false
	}
	g.open[id] = true
	g.next = max(g.next, id+1)
	return true
}

// end notes that an update is done.
func (g *ledger) end(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, id)
	g.done.First(id)
	select {
	case g.ended <- struct{}{}:
	default:
	}
}

// offset is what the next poll confirms: everything below it is done.
func (g *ledger) offset() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	low := g.next
	for id := range g.open {
		low = min(low, id)
	}
	return low
}

// confirmed notes that Telegram had nothing left at the last offset. The next
// poll needs none then, and must have none: after a week of silence Telegram
// starts numbering anew, and a kept offset could hide what has lower numbers.
func (g *ledger) confirmed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) == 0 {
		g.next = 0
	}
}

func (g *ledger) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open) > 0
}

// idle waits until nothing is in work, at most d.
func (g *ledger) idle(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	for g.busy() {
		select {
		case <-g.ended:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// lanes run the work of one key in order, and of different keys side by side, up
// to a number of them at once. A key is a person, or what a person says of one
// request. Order matters: a no that was sent before a yes must not lose to it.
type lanes struct {
	mu    sync.Mutex
	queue map[string][]func() // a key is there while its lane runs
	slots chan struct{}
	all   sync.WaitGroup
}

func newLanes(n int) *lanes {
	return &lanes{queue: map[string][]func(){}, slots: make(chan struct{}, n)}
}

// do runs f in the lane of key, after what was put there before.
func (l *lanes) do(key string, f func()) { l.put(key, f, true) }

// try runs f only if the lane of key is empty and few others wait.
func (l *lanes) try(key string, f func()) { l.put(key, f, false) }

func (l *lanes) put(key string, f func(), must bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, running := l.queue[key]
	switch {
	case !must && (running || len(l.queue) >= 4*cap(l.slots)):
	case running:
		l.queue[key] = append(waiting, f)
	default:
		l.queue[key] = nil
		l.all.Go(func() { l.run(key, f) })
	}
}

func (l *lanes) run(key string, f func()) {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	for f != nil {
		f()
		f = l.following(key)
	}
}

// following takes the next piece of work of a lane, or ends the lane.
func (l *lanes) following(key string) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue[key]) == 0 {
		delete(l.queue, key)
		return nil
	}
	f := l.queue[key][0]
	l.queue[key] = l.queue[key][1:]
	return f
}

// wait returns when all work has ended. No work may be put in after it is
// called.
func (l *lanes) wait() { l.all.Wait() }
