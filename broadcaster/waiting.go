package broadcaster

import (
	"context"
	"sync"
	"time"

	"approver.example"
)

// waitingCalls are the calls whose couriers wait in this process, by their connection. The store keeps less
// of a call: not its environment, for one.
type waitingCalls struct {
	mu    sync.Mutex
	calls map[string]waitingCall
}

// A waitingCall is a call whose courier waits until waits ends.
type waitingCall struct {
	call  approver.ToolCall
	waits context.Context
	due   time.Time // of the request, by this machine's clock; zero until it is known
}

func (w *waitingCalls) add(waits context.Context, holder string, call approver.ToolCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[holder] = waitingCall{call: call, waits: waits}
}

// until notes for how long a request still waits.
func (w *waitingCalls) until(holder string, left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if call, here := w.calls[holder]; here {
		call.due = time.Now().Add(left)
		w.calls[holder] = call
	}
}

// has reports whether a connection still waits.
func (w *waitingCalls) has(holder string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, has := w.calls[holder]
	return has
}

func (w *waitingCalls) remove(holder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, holder)
}

// of is the call that waits for the answer to a request, if it waits here.
func (w *waitingCalls) of(r Request) (call waitingCall, here bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call, here = w.calls[r.Holder]
	return call, here && call.call.ID == r.CallID
}
