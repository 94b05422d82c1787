package telegram

import (
	"context"
	"sync"
	"time"

	"approver.example/channels/internal/receiving"
)

// A ledger knows which updates are being handled and which are done. The next poll's offset
// tells Telegram that an update is done only when it and all before it are: updates that a
// crash interrupts come again.
type ledger struct {
	mu    sync.Mutex
	open  map[int64]chan struct{} // closed when the update is done
	done  *receiving.Seen[int64]
	next  int64         // one above the highest id seen; 0 means nothing to confirm
	ended chan struct{} // holds a value if some work ended since it was last read
}

func newLedger(remember int) *ledger {
	return &ledger{open: map[int64]chan struct{}{}, done: receiving.NewSeen[int64](remember),
		ended: make(chan struct{}, 1)}
}

// begin notes that the handling of an update begins. It returns false if it has begun before.
func (g *ledger) begin(id int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[id] != nil || g.done.Has(id) {
		return false
	}
	g.open[id] = make(chan struct{})
	g.next = max(g.next, id+1)
	return true
}

// end notes that an update is done.
func (g *ledger) end(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if done := g.open[id]; done != nil {
		close(done)
	}
	delete(g.open, id)
	g.done.First(id)
	select {
	case g.ended <- struct{}{}:
	default:
	}
}

// await waits until an update is done, at most d. It does not wait for one that has not begun.
func (g *ledger) await(ctx context.Context, id int64, d time.Duration) {
	g.mu.Lock()
	done := g.open[id]
	g.mu.Unlock()
	if done == nil {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	case <-ctx.Done():
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

// confirmed notes that Telegram had no updates at the last offset. The next poll then needs no
// offset and must have none: after a week without updates Telegram starts its numbers anew, and
// an old offset could hide updates with lower numbers.
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

// idle waits until nothing is being handled, at most d.
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

// queues run the work of one key in order, and that of different keys in parallel, up to a
// limit. A key is a person, or a person's answers to one request. Order matters: a no that was
// sent before a yes must not lose to it.
type queues struct {
	mu    sync.Mutex
	queue map[string][]func() // a key exists while its work runs
	slots chan struct{}
	all   sync.WaitGroup
}

func newQueues(n int) *queues {
	return &queues{queue: map[string][]func(){}, slots: make(chan struct{}, n)}
}

// do runs f in the queue of key, after the work that is already there.
func (q *queues) do(key string, f func()) { q.put(key, f, true) }

// mostTried is how much work waits in a queue when try still adds some.
const mostTried = 3

// try runs f as do does if little waits in the queue of key and there are few queues; otherwise it drops f.
func (q *queues) try(key string, f func()) { q.put(key, f, false) }

func (q *queues) put(key string, f func(), must bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, running := q.queue[key]
	switch {
	case !must && (len(waiting) >= mostTried || !running && len(q.queue) >= 4*cap(q.slots)):
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

// wait returns when all work has ended. No work may be added after it is called.
func (q *queues) wait() { q.all.Wait() }
