package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"approver.example"
)

// memAudit is an audit in memory.
type memAudit struct {
	mu      sync.Mutex
	records []approver.Record
	fail    approver.Event // cannot be recorded
}

func (a *memAudit) Record(_ context.Context, r approver.Record) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail == r.Event {
		return "", errors.New("disk full")
	}
	a.records = append(a.records, r)
	return fmt.Sprintf("hash%d", len(a.records)), nil
}

func (a *memAudit) recorded() []approver.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.records)
}
