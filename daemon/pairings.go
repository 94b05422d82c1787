package daemon

import (
	"context"
	"sync"
)

// pairings are those under way. The zero value has none.
type pairings struct {
	mu  sync.Mutex
	all map[*context.CancelCauseFunc]bool
}

// begin notes a pairing; done must be called.
func (p *pairings) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*context.CancelCauseFunc]bool{}
	}
	p.all[&cancel] = true
	return ctx, func() {
		cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, &cancel)
	}
}

// end voids all of them.
func (p *pairings) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for cancel := range p.all {
		(*cancel)(why)
	}
}
