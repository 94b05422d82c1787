package quota

import (
	"context"
	"sync"
	"time"
)

// cells has one cell for each uid while calls use it.
type cells[S any] struct {
	open func(uid uint32) *cell[S]

	mu     sync.Mutex
	closed bool
	of     map[uint32]*inUse[S]
}

// An inUse is the cell of a uid, and how many calls use it.
type inUse[S any] struct {
	cell *cell[S]
	uses int
}

func newCells[S any](open func(uid uint32) *cell[S]) *cells[S] {
	return &cells[S]{open: open, of: map[uint32]*inUse[S]{}}
}

// do is the do of a uid's cell.
func (c *cells[S]) do(ctx context.Context, uid uint32, step func(s *S, now time.Time) (bool, error)) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return unknown(errClosed)
	}
	u := c.of[uid]
	if u == nil {
		u = &inUse[S]{cell: c.open(uid)}
		c.of[uid] = u
	}
	u.uses++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if u.uses--; u.uses == 0 {
			delete(c.of, uid)
		}
	}()
	return u.cell.do(ctx, step)
}

// close refuses every later call.
func (c *cells[S]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, u := range c.of {
		u.cell.close()
	}
}
