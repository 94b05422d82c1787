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

// queues run the work of one key in order, and of different keys side by side, up
// to a number of them at once. A key is a person, or what a person says of one
// request. Order matters: a no that was sent before a yes must not lose to it.
type queues struct {
	mu    sync.Mutex
	queue map[string][]func() // a key is there while work of it runs
	slots chan struct{}
	all   sync.WaitGroup
}

func newQueues(n int) *queues {
	return &queues{queue: map[string][]func(){}, slots: make(chan struct{}, n)}
}

// do runs f in the queue of key, after what was put there before.
func (q *queues) do(key string, f func()) { q.put(key, f, true) }

// try runs f only if the queue of key is empty and few others wait.
func (q *queues) try(key string, f func()) { q.put(key, f, false) }

func (q *queues) put(key string, f func(), must bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, running := q.queue[key]
	switch {
	case !must && (running || len(q.queue) >= 4*cap(q.slots)):
	case running:
		q.queue[key] = append(waiting, f)
	default:
		q.queue[key] = nil
		q.all.Go(func() { q.run(key, f) })
	}
}

func (q *queues) run(key string, f func()) {
	q.slots <- struct{}{}
	defer func() { <-q.slots }()
	for f != nil {
		f()
		f = q.following(key)
	}
}

// following takes the next piece of work of a queue, or ends the queue.
func (q *queues) following(key string) func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue[key]) == 0 {
		delete(q.queue, key)
		return nil
	}
	f := q.queue[key][0]
	q.queue[key] = q.queue[key][1:]
	return f
}

// wait returns when all work has ended. No work may be put in after it is
// called.
func (q *queues) wait() { q.all.Wait() }
