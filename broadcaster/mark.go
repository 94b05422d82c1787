package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// This file notices that the record of a freeze was taken out of the store, or an
// older one put in its place. Both stop every call, and somebody is told.

// A ControlMark remembers the newest version of the controls that this process
// knows of, and a freeze that its store did not take. The zero value knows none. All
// methods are safe for concurrent use.
type ControlMark struct {
	version atomic.Uint64
	gone    atomic.Pointer[knownGone]
	held    atomic.Pointer[heldFreeze]
	wake    chan struct{}
	giving  chan struct{} // has something in it while the store is told of what is held, or of its end
}

// A knownGone is who was removed, as a version of the controls has it.
type knownGone struct {
	version uint64
	people  []Removal
}

// Removed are the people who were removed, as far as this process knows.
func (m *ControlMark) Removed() []Removal {
	if m == nil {
		return nil
	}
	if gone := m.gone.Load(); gone != nil {
		return gone.people
	}
	return nil
}

// know remembers who was removed, unless what is known is newer.
func (m *ControlMark) know(c Controls) {
	for {
		was := m.gone.Load()
		if was != nil && was.version >= c.Version || was == nil && len(c.Removed) == 0 {
			return
		}
		if m.gone.CompareAndSwap(was, &knownGone{c.Version, c.Removed}) {
			return
		}
	}
}

// A heldFreeze holds in this process until the store takes it.
type heldFreeze struct {
	Freeze           // the first one
	last   time.Time // when the newest one came
	why    string    // what the store said
}

// is reports whether both are of the same freezes.
func (f *heldFreeze) is(g *heldFreeze) bool {
	return f != nil && g != nil && f.in(g.Freeze) && f.last.Equal(g.last)
}

// in reports whether a freeze of the store is this one.
func (f *heldFreeze) in(g Freeze) bool { return f.At.Equal(g.At) && f.By == g.By }

// hold makes a freeze hold here until took. The first one stays, and knows of the newest.
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

// holding is the freeze that holds here, or nil.
func (m *ControlMark) holding() *heldFreeze {
	if m == nil {
		return nil
	}
	return m.held.Load()
}

// took ends what held here before the store took a record with it, or with its end. One
// that has come since goes on to hold.
func (m *ControlMark) took(held *heldFreeze) {
	for now := m.held.Load(); now.is(held) && !m.held.CompareAndSwap(now, nil); now = m.held.Load() {
	}
}

// give waits until nobody else tells the store of what is held here, or of its end. done
// must be called.
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

// refused reports whether a freeze goes on to hold here after the store was told of it,
// and keeps what the store said.
func (m *ControlMark) refused(err error) bool {
	for err != nil {
		held := m.held.Load()
		if held == nil {
			return false // it took it; what failed came later
		}
		if m.held.CompareAndSwap(held, &heldFreeze{held.Freeze, held.last, err.Error()}) {
			return true
		}
	}
	return false
}

// Held are the controls of a freeze that holds in this process alone; without one they
// are not frozen.
func (m *ControlMark) Held() Controls { return m.with(Controls{Removed: m.Removed()}) }

// with adds what holds here alone to what the store says.
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

// hidden reports whether a freeze holds here that people do not see behind the one that the
// store has.
func (c Controls) hidden() bool { return c.held != nil && c.Frozen() && !c.held.in(c.Freeze) }

// NewControlMark returns a mark that knows of a version, such as the one that the
// audit is bound to.
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

// check returns the controls to act on. known is the newest version that was known
// before they were read: a store that has an older one has lost a change. A change that
// comes while they are read makes no alarm.
func (m *ControlMark) check(c Controls, known uint64) Controls {
	switch {
	case c.Missing:
		c.Removed = m.Removed() // what is written in its place has them again
	case c.Version < known:
		c = Controls{Version: c.Version, Missing: true, Freeze: Freeze{By: "approver", Reason: rolledBack}, Removed: m.Removed()}
	case m == nil:
		return c
	default:
		for old := m.version.Load(); c.Version > old && !m.version.CompareAndSwap(old, c.Version); old = m.version.Load() {
		}
		m.know(c)
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

// What agents and people are told of controls that cannot be believed.
const (
	vanished   = "the store has lost its record of freezes and pauses"
	forged     = "the store's record of freezes and pauses was changed outside approver: it is no record of ours"
	rolledBack = "the store has an older record of freezes and pauses than it had before"
)

// BeginControls writes the first record of the controls. A store that has one
// keeps it. From then on a store without one is frozen.
func BeginControls(ctx context.Context, store approver.KV) error {
	err := beginControls(ctx, store, Controls{Version: 1})
	if errors.Is(err, approver.ErrConflict) {
		return nil
	}
	return err
}

// Count counts a change of another record that decides who may answer, or what is asked,
// as one of the controls, because an older store has older ones of both. Controls that are
// missing are a freeze, which counts by itself. Nil counts nothing.
func (m *ControlMark) Count(ctx context.Context, store approver.KV) error {
	if m == nil {
		return nil
	}
	_, err := changeControls(ctx, store, m, store.Put, func(c *Controls, _ time.Time) error { c.must = true; return nil })
	if errors.Is(err, ErrFrozen) {
		return nil
	}
	return err
}

// Strike ends the requests and grants whose last step the store has lost, so that no
// earlier answer counts twice, and records an alarm. missing must not be empty. Other
// calls go on.
func (m *Removals) Strike(ctx context.Context, missing []approver.Told) error {
	var errs []error
	for _, t := range missing {
		_, err := m.requests.change(ctx, t.Request, func(r Request, now time.Time) (Request, error) {
			if r.State == approver.Consumed { // it ran, and who has its yes is not known: nobody is told so again
				return r.spend(approver.NoCause, now)
			}
			return r.Fail(approver.StoreTrouble, now)
		})
		if err == nil {
			m.editor.settle(t.Request)
		} else if !errors.Is(err, ErrSettled) && !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, errNoChange) {
			errs = append(errs, err)
		}
	}
	grants, err := m.grants.List(ctx)
	errs = append(errs, err)
	for _, g := range grants {
		if g.scope == "" || !slices.ContainsFunc(missing, func(t approver.Told) bool { return t.Request == g.ID }) {
			continue
		}
		if err := m.grants.end(ctx, g.scope, "revoked", "the store had lost its end"); !errors.Is(err, ErrNoGrant) {
			errs = append(errs, err)
		}
	}
	note := fmt.Sprintf("the store has lost the last step of %d requests, such as %s (%s): they are void, and asked anew",
		len(missing), missing[0].Request, missing[0].Event)
	m.log.Error("STORE ALARM", "what", note)
	_, err = m.audit.Record(ctx, approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmStore, Note: note})
	return errors.Join(append(errs, err)...)
}

// Distrust freezes everything because the store, or the audit, cannot be believed, and
// alarms. why says what was found; how it is mended is added. An audit that was changed has
// its own alarm: beside it, the freeze is recorded. While the store does not take the freeze, or
// the audit does not work, Distrust is called again: the log tells of the one cause once.
func (k *Controller) Distrust(ctx context.Context, about approver.Alarm, why string) (err error) {
	k.distrusted.Lock()
	defer k.distrusted.Unlock()
	again := k.distrusted.last == string(about)+why && (k.distrusted.refused || k.backlog.owed.has())
	if c, _, readErr := k.Load(ctx); again && readErr == nil && c.Frozen() && !c.Missing && c.Here == "" {
		return nil
	}
	switch {
	case about == approver.AlarmStore:
		err = k.backlog.tellLoss(ctx, why)
	case !again:
		k.log.Error(strings.ToUpper(string(about))+" ALARM", "what", distrustNote(about, why))
	}
	k.mark.hold(Freeze{At: time.Now(), By: "approver", Reason: why}) // whatever the store takes
	_, _, freezeErr := k.freeze(ctx, "approver", why, false)
	k.distrusted.last, k.distrusted.refused = string(about)+why, k.mark.refused(freezeErr)
	if freezeErr != nil {
		err = errors.Join(err, fmt.Errorf("the freeze is not whole: %w", freezeErr))
	}
	if err != nil {
		k.log.Error("what is wrong with the "+string(about)+" could not be noted everywhere", "error", err)
	}
	return err
}

// distrusted is the last cause of Distrust, and whether the store refused the freeze.
type distrusted struct {
	sync.Mutex
	last    string
	refused bool
}

// frozenLine is the last line of the log about a freeze of everything.
type frozenLine struct {
	sync.Mutex
	by, reason string
	at         time.Time
}

// tell logs a freeze, once where who asks for it and the guard give it to the store at the
// same time.
func (f *frozenLine) tell(log *slog.Logger, by, reason string) {
	f.Lock()
	defer f.Unlock()
	if f.by == by && f.reason == reason && time.Since(f.at) < guardEvery {
		return
	}
	f.by, f.reason, f.at = by, reason, time.Now()
	log.Error("FROZEN: every call is denied", "by", by, "reason", reason)
}

// freezeHeld gives the store what holds here, as people know it, who may be lifting it.
func (k *Controller) freezeHeld(ctx context.Context) (c Controls, err error) {
	done, err := k.mark.give(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	c, err = k.change(ctx, func(c *Controls, now time.Time) error {
		if c.held == nil {
			return ErrNotFrozen
		}
		if c.must = true; c.Missing {
			c.Missing, c.Freeze = false, c.Freeze.beside(c.held.Freeze)
		}
		if c.Burned.After(now) { // by this process's clock
			if c.Burned = now; c.Freeze.At.After(now) {
				c.Freeze.At = now
			}
		}
		c.Pause, c.Observe = Pause{}, Observe{}
		return nil
	})
	if err == nil {
		k.mark.took(c.held)
	}
	return c, err
}

// lift ends every freeze, if they are those that were seen.
func (k *Controller) lift(ctx context.Context, seen Controls) error {
	done, err := k.mark.give(ctx) // else what is lifted may be given to the store again
	if err != nil {
		return err
	}
	defer done()
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		if !c.Freeze.At.Equal(seen.Freeze.At) || !c.SameFreezes(seen) {
			if c.FrozenText() != "" {
				return errFrozenAnew // people said yes to lifting another one
			}
			return ErrNotFrozen
		}
		if err := c.stillAs(&seen); err != nil {
			return err
		}
		c.must = true
		c.lift(now)
		return nil
	})
	if err == nil {
		k.mark.took(c.held)
	}
	return err
}

// guard looks after the record of the controls until ctx ends: when a call has
// found it missing or older, and every guardEvery. It gives the store a freeze that it did
// not take.
func (k *Controller) guard(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		if held := k.mark.holding(); held != nil {
			if _, _, err := k.freeze(ctx, held.By, held.Reason, true); !errors.Is(err, ErrNotFrozen) {
				k.mark.refused(err) // else at the next look
			}
		}
		switch c, _, err := k.Load(ctx); {
		case err != nil:
		case c.Missing:
			_ = k.Distrust(ctx, approver.AlarmStore, c.Freeze.Reason) // else at the next look
		case k.backlog.owed.has() || !c.Unrecorded.IsZero():
			_ = k.backlog.pay(ctx, c) // else at the next look
		}
		select {
		case <-ctx.Done():
			return
		case <-k.mark.wake:
			if !sleep(ctx, retryEvery) { // a store that does not take it must not be asked without a break
				return
			}
		case <-tick.C:
		}
	}
}

const guardEvery = 2 * time.Second
