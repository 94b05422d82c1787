package hooks

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"

	"approver.example"
	"approver.example/agents"
)

// An expectation is a record in the store that a call may run if its request is released. It is written while
// people are asked, so that the agent need not wait for another commit once they have said yes: the release of
// the request is what makes it true. The report of the call may come after a restart, or to another daemon.
type expectation struct {
	o    *Outcomes
	ev   agents.Event
	peer approver.Peer
	u    use // what the agent is told if people say yes

	once sync.Once
	done chan struct{} // closed when it is written, or cannot be
	kept bool
}

type expectationKey struct{}

// expect returns a context in which [Asking] writes that a call is expected to run.
func (o *Outcomes) expect(
	ctx context.Context, ev agents.Event, call approver.ToolCall,
) (context.Context, *expectation) {
	e := &expectation{o: o, ev: ev, peer: call.Peer, done: make(chan struct{}),
		u: use{outcome: permitted, content: ev.Content, by: call.ID, asked: call.ID, lasting: true}}
	if o.Store == nil || o.Released == nil || ev.UseID == "" || ev.Derived {
		return ctx, e
	}
	return context.WithValue(ctx, expectationKey{}, e), e
}

// Asking notes that people are about to be asked about a hook's call. It does not wait.
func Asking(ctx context.Context) {
	if e, ok := ctx.Value(expectationKey{}).(*expectation); ok {
		e.once.Do(func() { go e.write(context.WithoutCancel(ctx)) })
	}
}

// write writes the expectation, unless something else is known of the call's id.
func (e *expectation) write(ctx context.Context) {
	defer close(e.done)
	defer func() {
		if recover() != nil { // what is not written is kept once it is known
			e.kept = false
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, usePatience)
	defer cancel()
	key := keyOf(e.ev, e.peer)
	e.u.permits = e.u.permitted(e.ev, nil)
	err := e.o.save(ctx, key, e.u, "", e.u.by)
	if e.kept = err == nil; !errors.Is(err, approver.ErrConflict) {
		return
	}
	if s, _, err := e.o.read(ctx, key); err == nil { // the courier may be here again
		e.kept = s.If == e.u.by && s.Content == hex.EncodeToString(e.u.content[:])
	}
}

// holds reports whether the expectation is written and came true, so that nothing is left to keep. now is what the
// agent is told, by request.
func (e *expectation) holds(ctx context.Context, now use, request string) bool {
	select {
	case <-e.done:
	default:
		return false
	}
	if !e.kept || now.outcome != permitted || now.content != e.u.content || now.by != e.u.by || now.asked != e.u.asked {
		return false
	}
	released, err := e.o.Released(ctx, e.u.by, request)
	return err == nil && released
}

var errNoReleases = errors.New("nobody can say whether a call was released")

// came resolves an expectation that was read: what it says if its request was released, else nothing.
func (o *Outcomes) came(ctx context.Context, u use, call string) (use, error) {
	if o.Released == nil {
		return use{}, errNoReleases
	}
	released, err := o.Released(ctx, call, "")
	if err != nil || !released {
		return use{}, err
	}
	u.outcome = permitted
	return u, nil
}
