package broadcaster

import (
	"context"
	"sync"
	"time"

	"approver.example"
)

// handovers are the yeses that connections of this process are about to get.
type handovers struct {
	mu sync.Mutex
	of map[string]handover // by connection
}

type handover struct {
	request  string
	tries    int       // to give it the yes, that are not cancelled
	examined time.Time // when it was last looked at what the yes would release
	done     chan struct{}
}

// examined is when it was last looked at what a connection would get; zero if it never was.
func (g *handovers) examined(holder string) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[holder].examined
}

// begin notes that a connection may take the yes of a request. What that would release was
// examined at a time.
func (g *handovers) begin(holder, request string, examined time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[string]handover{}
	}
	t, ok := g.of[holder]
	if !ok {
		t = handover{request: request, examined: examined, done: make(chan struct{})}
	}
	if examined.Before(t.examined) { // whichever of them it gets
		t.examined = examined
	}
	t.tries++
	g.of[holder] = t
}

// cancel takes back one begin.
func (g *handovers) cancel(holder string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, ok := g.of[holder]
	if t.tries--; ok && t.tries > 0 {
		g.of[holder] = t
	} else if ok {
		delete(g.of, holder)
		close(t.done)
	}
}

// has reports whether a connection may be about to get a yes.
func (g *handovers) has(holder string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, has := g.of[holder]
	return has
}

// some reports whether a connection is about to get the yes of a request.
func (g *handovers) some(request string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.of {
		if t.request == request {
			return true
		}
	}
	return false
}

// end notes that a connection has its yes, or will not get it.
func (g *handovers) end(holder string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t, ok := g.of[holder]; ok {
		delete(g.of, holder)
		close(t.done)
	}
}

// wait waits until no connection of this process is about to get the yes of a request. It
// reports false if ctx ends first.
func (g *handovers) wait(ctx context.Context, request string) bool {
	for {
		var done chan struct{}
		g.mu.Lock()
		for _, t := range g.of {
			if t.request == request {
				done = t.done
			}
		}
		g.mu.Unlock()
		if done == nil {
			return true
		}
		select {
		case <-done:
		case <-ctx.Done():
			return false
		}
	}
}

// awaitHandover returns a settled request once people may be told of it: after the last look
// of this process if it released the call, else a moment after the release. It returns false
// if ctx ends first, or the last look left no trace yet.
func (l *releases) awaitHandover(ctx context.Context, r Request) (Request, bool) {
	if r.State != approver.Consumed || r.Closed {
		return r, true
	}
	if r.ReleasedBy == l.process {
		if !l.handovers.wait(ctx, r.ID) {
			return r, false
		}
		if l.reports.pending.has(r.CallID) { // that it was withheld is not stored yet
			return r, false
		}
		// Only this process says whether the yes was given.
		if kept, _, ok := l.requests.cache.stored(r.ID); ok && kept.State.Settled() {
			return kept, true
		}
		if fresh, _, err := l.requests.load(ctx, r.ID); err == nil && fresh.State.Settled() {
			return fresh, true
		}
		return r, false // the record may say yet that nothing was given
	}
	for {
		fresh, _, now, err := l.requests.loadNow(ctx, r.ID)
		if err == nil && fresh.State.Settled() {
			r = fresh
		}
		if err == nil && (r.Closed || r.Withheld != approver.NoCause || now.Sub(r.ReleasedAt) > settleGrace) {
			return r, true
		}
		if !sleep(ctx, retryEvery) {
			return r, false
		}
	}
}
