package daemon

import (
	"fmt"
	"sync"

	"approver.example"
	"approver.example/daemon/adminapi"
)

// ownCommand is the command behind an operation that people are asked about.
func ownCommand(op string) string {
	switch op {
	case adminapi.OpRestore:
		return "people restore"
	case adminapi.OpAdmit:
		return "pair"
	}
	return op
}

// questions are those about approver itself that people are asked at this moment, by
// operation and uid. The zero value has none.
type questions struct {
	mu   sync.Mutex
	open map[string]bool
}

// begin notes a question, unless the same user has one like it open. end must be called.
func (q *questions) begin(op string, peer approver.Peer) (end func(), err error) {
	key := fmt.Sprintf("%s %t %d", op, peer.Known, peer.UID)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[key] {
		return nil, fmt.Errorf("people are being asked about approver %s by uid %d already: wait for their answer (approver pending lists the question)", ownCommand(op), peer.UID)
	}
	if q.open == nil {
		q.open = map[string]bool{}
	}
	q.open[key] = true
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, key)
	}, nil
}
