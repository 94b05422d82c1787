package broadcaster

import (
	"context"
	"sync"
	"time"
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
