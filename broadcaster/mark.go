package broadcaster

import (
	"context"
	"sync/atomic"
)

// This file detects that the record of the controls was removed from the store, or replaced by
// an older one. Either stops every call and raises an alarm.

// A ControlMark remembers the newest version of the controls that this process knows, and a
// freeze that its store refused. The zero value knows none. All methods are safe for
// concurrent use.
type ControlMark struct {
	version atomic.Uint64
	gone    atomic.Pointer[removedPeople]
	held    atomic.Pointer[heldFreeze]
	wake    chan struct{}
	giving  chan struct{} // full while a goroutine writes the held freeze, or its end, to the store
}

// NewControlMark returns a mark that knows a version, such as the one in the audit.
func NewControlMark(version uint64) *ControlMark {
	m := &ControlMark{wake: make(chan struct{}, 1), giving: make(chan struct{}, 1)}
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
		for old := m.version.Load(); c.Version > old && !m.version.CompareAndSwap(old, c.Version); old = m.version.Load() {
		}
		m.remember(c)
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

// remember keeps who was removed, unless a newer version is known.
func (m *ControlMark) remember(c Controls) {
	for {
		was := m.gone.Load()
		if was != nil && was.version >= c.Version || was == nil && len(c.Removed) == 0 {
			return
		}
		if m.gone.CompareAndSwap(was, &removedPeople{c.Version, c.Removed}) {
			return
		}
	}
}

// removedPeople are the removals in one version of the controls.
type removedPeople struct {
	version uint64
	people  []Removal
}

// Removed returns the removals that this process knows of.
func (m *ControlMark) Removed() []Removal {
	if m == nil {
		return nil
	}
	if gone := m.gone.Load(); gone != nil {
		return gone.people
	}
	return nil
}

// hold makes a freeze hold in this process until took. A second one keeps the first, and notes
// when the newest came.
func (m *ControlMark) hold(f Freeze) {
	f = f.bounded() // as the store will have it
	for {
		was, now := m.held.Load(), &heldFreeze{f, f.At, "it is being told of it"}
		if was != nil {
			now.Freeze, now.why = was.Freeze, was.why
			if !now.last.After(was.last) {
				now.last = was.last.Add(1)
			}
		}
		if m.held.CompareAndSwap(was, now) {
			return
		}
	}
}

// holding is the freeze that this process holds, or nil.
func (m *ControlMark) holding() *heldFreeze {
	if m == nil {
		return nil
	}
	return m.held.Load()
}

// took ends the freeze that this process held before the store took it, or its end. A freeze
// that came since stays.
func (m *ControlMark) took(held *heldFreeze) {
	for now := m.held.Load(); now.is(held) && !m.held.CompareAndSwap(now, nil); now = m.held.Load() {
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

// refused reports whether this process still holds a freeze after the store failed with err,
// and keeps that error.
func (m *ControlMark) refused(err error) bool {
	for err != nil {
		held := m.held.Load()
		if held == nil {
			return false // the store took it; a later step failed
		}
		if m.held.CompareAndSwap(held, &heldFreeze{held.Freeze, held.last, err.Error()}) {
			return true
		}
	}
	return false
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
