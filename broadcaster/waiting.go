package broadcaster

import (
	"sync"

	"approver.example"
)

// waitingCalls are the calls whose couriers wait in this process, by their connection. The store keeps less
// of a call: not its environment, for one.
type waitingCalls struct {
	mu    sync.Mutex
	calls map[string]approver.ToolCall
}

func (w *waitingCalls) add(holder string, call approver.ToolCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[holder] = call
}

func (w *waitingCalls) remove(holder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, holder)
}

// of is the call that waits for the answer to a request, if it waits here.
func (w *waitingCalls) of(r Request) (call approver.ToolCall, here bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call, here = w.calls[r.Holder]
	return call, here && call.ID == r.CallID
}
