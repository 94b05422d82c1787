package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// A memory is what the process that receives for a channel keeps in the store for the next one, sealed.
type memory struct {
	store  approver.KV
	sealer *sealing.Sealer
	key    string

	mu  sync.Mutex
	rev approver.Rev // of what this process has read or written last
}

// A rememberer is a channel that has a memory.
type rememberer interface {
	approver.Solo
	approver.Rememberer
}

// newMemory returns the memory of the channel with a lease of that name.
func newMemory(lease string, store approver.KV, sealer *sealing.Sealer) *memory {
	return &memory{store: store, sealer: sealer, key: approver.Key("receiver", lease)}
}

// A memo is the record of a memory.
type memo struct {
	At time.Time `json:"at"`
	sealing.Value
}

// memoKeep is how long the store keeps a memo: platforms keep what it is about for minutes, and count by the day.
const memoKeep = 48 * time.Hour

// Recall implements [approver.Memory].
func (m *memory) Recall(ctx context.Context) (what []byte, age time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, rev, now, err := approver.GetNow(ctx, m.store, m.key)
	if errors.Is(err, approver.ErrNotFound) {
		m.rev = ""
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	m.rev = rev
	var kept memo
	if json.Unmarshal(value, &kept) != nil {
		return nil, 0, nil
	}
	if what, err = m.sealer.Open(kept.Value, []byte(m.key)); err != nil {
		return nil, 0, nil // the next Keep replaces it
	}
	return what, max(now.Sub(kept.At), 0), nil
}

// Keep implements [approver.Memory].
func (m *memory) Keep(ctx context.Context, what []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := m.store.Now(ctx)
	if err != nil {
		return err
	}
	sealed, err := m.sealer.Seal(what, []byte(m.key))
	if err != nil {
		return err
	}
	value, err := json.Marshal(memo{now, sealed})
	if err != nil {
		return err
	}
	next := approver.NewRev()
	err = m.store.Put(ctx, m.key, value, m.rev, next, time.Time{}, now.Add(memoKeep))
	if err == nil {
		m.rev = next
	} else if errors.Is(err, approver.ErrConflict) {
		if _, rev, getErr := m.store.Get(ctx, m.key); getErr == nil {
			m.rev = rev
		} else if errors.Is(getErr, approver.ErrNotFound) {
			m.rev = ""
		}
	}
	return err
}
