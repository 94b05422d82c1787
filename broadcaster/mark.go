package broadcaster

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// This file detects that the record of the controls was removed from the store, or replaced by
// an older one. Either stops every call and raises an alarm.

// A ControlMark remembers the newest version of the controls that this process knows, and a
// freeze that its store refused. The zero value knows none. All methods are safe for
// concurrent use.
type ControlMark struct {
	wake   chan struct{}
	giving chan struct{} // full while a goroutine writes the held freeze, or its end, to the store

	mu      sync.Mutex
	version uint64
	removed RemovedPeople // in that version
	held    *heldFreeze
	read    []byte   // the record that was read last
	decoded Controls // the same
	readAt  time.Time
}

// NewControlMark returns a mark that knows a version, such as the one in the audit.
func NewControlMark(version uint64) *ControlMark {
	return &ControlMark{version: version, wake: make(chan struct{}, 1), giving: make(chan struct{}, 1)}
}

// Version is the newest version that is known.
func (m *ControlMark) Version() uint64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

// check returns the controls to act on. known is the newest version that was known before they
// were read: a store with an older one has lost a change. A change while they are read raises
// no alarm.
func (m *ControlMark) check(c Controls, known uint64) Controls {
	switch {
	case c.Missing:
		c.Removed = m.Removed() // the next record keeps the removals
	case c.Version < known:
		c = Controls{
			Version: c.Version, Missing: true, Freeze: Freeze{By: "approver", Reason: rolledBack}, Removed: m.Removed(),
		}
	case m == nil:
		return c
	default:
		m.mu.Lock()
		// Of two records with one version, because a fail-over has lost one, the first counts: it
		// may have a removal that the other one lacks.
		if c.Version > m.version || c.Version == m.version && m.removed == nil {
			m.version, m.removed = c.Version, c.Removed
		}
		m.mu.Unlock()
		return m.with(c)
	}
	if m != nil && m.wake != nil {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
	return m.with(c)
}

// recentFor is how long the controls that were read for one step of a call count for its other steps,
// and for those of other calls. They do not count where a yes is given: see Grants.stands. Whoever changes
// the controls waits as long, so that afterwards nobody goes by those before.
const recentFor = 5 * time.Millisecond

// recent returns the controls, if they were read a moment ago and this process knows of no change.
func (m *ControlMark) recent() (c Controls, ok bool) {
	if m == nil {
		return c, false
	}
	m.mu.Lock()
	c, ok = m.decoded.owned(), m.decoded.Version == m.version && time.Since(m.readAt) < recentFor
	m.mu.Unlock()
	return m.with(c), ok
}

// noteRead notes when the reading of the controls c began.
func (m *ControlMark) noteRead(c Controls, began time.Time) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Version == m.decoded.Version && began.After(m.readAt) {
		m.readAt = began
	}
}

// decode returns the controls of a record. Each call reads the record several times, and it seldom
// changes: one that is the same as before is not decoded again. Its lists are the caller's own.
func (m *ControlMark) decode(record []byte) (c Controls, err error) {
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	if m != nil && m.read != nil && bytes.Equal(m.read, record) {
		c = m.decoded
	} else if json.Unmarshal(record, &c) != nil {
		return Controls{}, approver.ErrTampered
	} else if m != nil {
		m.read, m.decoded, m.readAt = record, c, time.Time{}
	}
	return c.owned(), nil
}

// owned returns the controls with lists of their own.
func (c Controls) owned() Controls {
	c.Holds, c.Removed = slices.Clone(c.Holds), slices.Clone(c.Removed)
	return c
}

// Removed returns the removals that this process knows of.
func (m *ControlMark) Removed() RemovedPeople {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed
}

// beingTold is the why of a freeze that the store has not refused: who holds it gives it to the store.
const beingTold = "it is being told of it"

// hold makes a freeze hold in this process until took. A second one keeps the first, and notes
// when the newest came. The caller gives it to the store.
func (m *ControlMark) hold(f Freeze) {
	f = f.bounded() // as the store will have it
	m.mu.Lock()
	defer m.mu.Unlock()
	now := &heldFreeze{f, f.At, beingTold}
	if was := m.held; was != nil {
		now.Freeze = was.Freeze
		if !now.last.After(was.last) {
			now.last = was.last.Add(1)
		}
	}
	m.held = now
}

// holding is the freeze that this process holds, or nil.
func (m *ControlMark) holding() *heldFreeze {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// took ends the freeze that this process held before the store took it, or its end. A freeze
// that came since stays.
func (m *ControlMark) took(held *heldFreeze) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held.is(held) {
		m.held = nil
	}
}

// give waits until no other goroutine writes the held freeze, or its end, to the store. The
// caller must call done.
func (m *ControlMark) give(ctx context.Context) (done func(), err error) {
	if m == nil || m.giving == nil {
		return func() {}, nil
	}
	select {
	case m.giving <- struct{}{}:
		return func() { <-m.giving }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isRefused reports whether this process holds a freeze that the store has refused.
func (m *ControlMark) isRefused() bool {
	held := m.holding()
	return held != nil && held.why != beingTold
}

// refused reports whether this process still holds a freeze after the store failed with err,
// and keeps that error.
func (m *ControlMark) refused(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil || m.held == nil {
		return false // the store took it; a later step may have failed
	}
	m.held = &heldFreeze{m.held.Freeze, m.held.last, err.Error()}
	return true
}

// Held are the controls of a freeze that this process alone holds. Without one they are not
// frozen.
func (m *ControlMark) Held() Controls { return m.with(Controls{Removed: m.Removed()}) }

// with adds the freeze that this process alone holds to the controls of the store.
func (m *ControlMark) with(c Controls) Controls {
	f := m.holding()
	if f == nil {
		return c
	}
	c.held = f
	switch { // so that nobody lifts it with an older one, unseen
	case f.last.After(c.Burned):
		c.Burned = f.last
	case c.hidden(): // the store's clock is ahead of ours
		c.Burned = c.Burned.Add(1)
	}
	if !c.Frozen() {
		c.Freeze, c.Here, c.Pause, c.Observe = f.Freeze, f.why, Pause{}, Observe{}
	}
	return c
}

// What agents and people are told of controls that cannot be believed.
const (
	vanished   = "the store has lost its record of freezes and pauses"
	forged     = "the store's record of freezes and pauses was changed outside approver: it is no record of ours"
	rolledBack = "the store has an older record of freezes and pauses than it had before"
)
