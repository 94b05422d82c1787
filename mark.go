package approver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// This file notices that the record of a freeze was taken out of the store, or an
// older one put in its place. Both stop every call, and somebody is told.

// A ControlMark remembers the newest version of the controls that this process
// knows of. The zero value knows none. All methods are safe for concurrent use.
type ControlMark struct {
	version atomic.Uint64
	wake    chan struct{}
}

// NewControlMark returns a mark that knows of a version, such as the one that the
// audit is bound to.
func NewControlMark(version uint64) *ControlMark {
	m := &ControlMark{wake: make(chan struct{}, 1)}
	m.version.Store(version)
	return m
}

// Version is the newest version that is known.
func (m *ControlMark) Version() uint64 {
	if m == nil {
		return 0
	}
	return m.version.Load()
}

// check is what the controls mean, of which version known was known before they
// were read: a reading can be overtaken by a change, and is then no older than that.
func (m *ControlMark) check(c Controls, known uint64) Controls {
	switch {
	case c.Missing:
	case c.Version < known:
		c = Controls{Version: c.Version, Missing: true, Freeze: Freeze{By: "approver", Reason: rolledBack}}
	case m == nil:
		return c
	default:
		for old := m.version.Load(); c.Version > old && !m.version.CompareAndSwap(old, c.Version); old = m.version.Load() {
		}
		return c
	}
	if m != nil && m.wake != nil {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
	return c
}

// What agents and people are told of controls that cannot be believed.
const (
	vanished   = "the store has lost its record of freezes and pauses"
	rolledBack = "the store has an older record of freezes and pauses than it had before"
)

// BeginControls writes the first record of the controls. A store that has one
// keeps it. From then on a store without one is frozen.
func BeginControls(ctx context.Context, store KV) error {
	err := beginControls(ctx, store, Controls{Version: 1})
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// Unreleased returns those of these requests that the store does not know as
// consumed, although they were.
func Unreleased(ctx context.Context, store KV, ids []string) (lost []string, err error) {
	for _, id := range ids {
		value, _, err := store.Get(ctx, Key("req", id))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		var r struct {
			State State `json:"state"`
		}
		if err != nil || json.Unmarshal(value, &r) != nil || r.State != Consumed {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// Distrust freezes everything because the store cannot be believed, and alarms.
// why says what was found; how it is mended is added.
func (b *Broadcaster) Distrust(ctx context.Context, why string) error {
	note := why + ": every call is denied. Find out who changed the store; then approver unfreeze makes it the one that counts"
	b.Log.Error("STORE ALARM", "what", note)
	_, err := b.Audit.Record(ctx, Record{Event: EventAlarm, Note: note})
	if _, freezeErr := b.Freeze(ctx, "approver", why); freezeErr != nil {
		err = errors.Join(err, fmt.Errorf("the freeze is not whole: %w", freezeErr))
	}
	if err != nil {
		b.Log.Error("what is wrong with the store could not be noted everywhere", "error", err)
	}
	return err
}

// guard looks after the record of the controls until ctx ends: when a call has
// found it missing or older, and now and then.
func (b *Broadcaster) guard(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		if c, _, err := b.Controls(ctx); err == nil && c.Missing {
			_ = b.Distrust(ctx, c.Freeze.Reason) // else at the next look
		}
		select {
		case <-ctx.Done():
			return
		case <-b.Mark.wake:
			if !sleep(ctx, retryEvery) { // a store that does not take it must not be asked without a break
				return
			}
		case <-tick.C:
		}
	}
}

const guardEvery = 2 * time.Second
