package broadcaster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// This file is about the moment between the release of a call and its courier: a yes
// that was taken is looked at once more, and kept from the courier where a freeze or a
// removal came meanwhile. Nobody is told of the release before that look.

// causeOf is the cause of what is not given because of err.
func causeOf(err error) approver.Cause {
	switch {
	case errors.Is(err, errBurned):
		return approver.Frozen
	case errors.Is(err, errHeld):
		return approver.Held
	case errors.Is(err, errTakenBack), errors.Is(err, errNoYes):
		return approver.Revoked
	}
	return approver.StoreTrouble
}

// lastLook says whether the courier that r was just released to gets the yes. The store
// may have been away since the release, and people act meanwhile.
func (l *releases) lastLook(ctx context.Context, r Request, call approver.ToolCall) (Request, bool, error) {
	err := patiently(ctx, func() error { return l.grants.stillGood(ctx, r, call) })
	if err == nil {
		return r, true, nil
	}
	r = l.reports.withhold(ctx, r, causeOf(err))
	if r.gaveNothing() && isVoid(err) {
		return r, false, nil // the record says why, to everybody
	}
	return r, false, err
}

// withhold notes that the courier of a call that was released is not given its yes. What
// the store does not take now is kept until it does.
func (p *Reports) withhold(ctx context.Context, r Request, why approver.Cause) Request {
	var now atomic.Pointer[Request]
	now.Store(&r)
	err := p.noteOrKeep(ctx, r.CallID, func(ctx context.Context) error {
		next, err := p.requests.change(ctx, r.ID, func(fresh Request, at time.Time) (Request, error) {
			if fresh.CallID != r.CallID {
				return fresh, ErrNotBound
			}
			return fresh.withhold(why, at)
		})
		if errors.Is(err, errNoChange) {
			err = nil
		}
		if err == nil {
			now.Store(&next)
			p.editor.settle(r.ID)
		}
		return err
	})
	if err != nil {
		p.log.Warn("it could not be noted that an approved call was not given to its agent", "request", r.ID, "error", err)
	}
	return *now.Load()
}

// withhold notes why the first call does not get the yes that it was released by.
func (r Request) withhold(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case r.Withheld != approver.NoCause || !r.Acked.IsZero(): // its courier has it, or will never
		return r, errNoChange
	}
	was := r
	r.Withheld, r.Acked = why, now
	if r.Repeats == 0 {
		r.Closed = false // its end is another now
	}
	return r.sayAnew(was), nil
}

// gaveNothing reports that a yes was taken, and that no call got it.
func (r Request) gaveNothing() bool {
	if r.State != approver.Consumed || r.Withheld == approver.NoCause || r.Repeats > 0 {
		return false
	}
	got, _ := r.released()
	return got == 0
}

// refusedAgain reports that the courier came back for a yes, and was not given it again.
func (r Request) refusedAgain() bool {
	return r.State == approver.Consumed && r.Withheld != approver.NoCause && r.Repeats > 0 && len(r.Also) == 0
}

// endLine is what cards say of a request that has ended.
func (r Request) endLine() string {
	res, _ := r.Told()
	return r.resultLine(res)
}

// unused reports that an answer is the yes by which r ended, and that nothing was released.
func (r Request) unused(rep approver.Reply, who approver.Person) bool {
	res, settled := r.Told()
	return settled && rep.Approve && !res.Approve && res.Cause != approver.ByPerson && who.ID != "" &&
		res.Person.ID == who.ID && res.Identity == (approver.Identity{Channel: rep.Channel, ID: rep.Sender})
}

// giving has the yeses that connections of this process are about to get.
type giving struct {
	mu sync.Mutex
	of map[string]taking // by connection
}

type taking struct {
	request string
	done    chan struct{}
}

// begin notes that a connection may take the yes of a request.
func (g *giving) begin(holder, request string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.of[holder]; ok {
		return
	}
	if g.of == nil {
		g.of = map[string]taking{}
	}
	g.of[holder] = taking{request, make(chan struct{})}
}

// end notes that it has it, or will not get it.
func (g *giving) end(holder string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t, ok := g.of[holder]; ok {
		delete(g.of, holder)
		close(t.done)
	}
}

// wait waits until no connection of this process is about to get the yes of a request. It
// reports whether that was before ctx ended.
func (g *giving) wait(ctx context.Context, request string) bool {
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

// given returns a settled request as people may be told of it: after the last look of who
// took its yes, if that is here, or else a moment after the release. It is false if ctx
// ends before.
func (l *releases) given(ctx context.Context, r Request) (Request, bool) {
	if r.State != approver.Consumed || r.Closed {
		return r, true
	}
	if r.ReleasedBy == l.process {
		if !l.giving.wait(ctx, r.ID) {
			return r, false
		}
		if fresh, _, err := l.requests.load(ctx, r.ID); err == nil && fresh.State.Settled() {
			return fresh, true
		}
		return r, false // it may say that nothing was given
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
