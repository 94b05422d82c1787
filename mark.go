package approver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// This file notices that the record of a freeze was taken out of the store, or an
// older one put in its place. Both stop every call, and somebody is told.

// A ControlMark remembers the newest version of the controls that this process
// knows of, and a freeze that its store did not take. The zero value knows none. All
// methods are safe for concurrent use.
type ControlMark struct {
	version atomic.Uint64
	held    atomic.Pointer[heldFreeze]
	wake    chan struct{}
}

// A heldFreeze holds in this process until the store takes it.
type heldFreeze struct {
	Freeze
	why string // what the store said
}

// hold makes a freeze hold here until took. The first one stays.
func (m *ControlMark) hold(f Freeze) {
	m.held.CompareAndSwap(nil, &heldFreeze{f, "it is being told of it"})
}

// holding is the freeze that holds here, or nil.
func (m *ControlMark) holding() *heldFreeze {
	if m == nil {
		return nil
	}
	return m.held.Load()
}

// took ends what held here before the store took a record with it, or with its end.
func (m *ControlMark) took(held *heldFreeze) {
	if held != nil {
		m.held.CompareAndSwap(held, nil)
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
		if m.held.CompareAndSwap(held, &heldFreeze{held.Freeze, err.Error()}) {
			return true
		}
	}
	return false
}

// Held are the controls of a freeze that holds in this process alone; without one they
// are not frozen.
func (m *ControlMark) Held() Controls { return m.with(Controls{}) }

// with adds what holds here alone to what the store says.
func (m *ControlMark) with(c Controls) Controls {
	f := m.holding()
	if f == nil {
		return c
	}
	if f.At.After(c.Burned) { // so that nobody lifts it with an older one, unseen
		c.Burned = f.At
	}
	if !c.Frozen() {
		c.Freeze, c.Here, c.Pause, c.Observe = f.Freeze, f.why, Pause{}, Observe{}
	}
	return c
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

// check returns the controls to act on. known is the newest version that was known
// before they were read: a store that has an older one has lost a change. A change that
// comes while they are read makes no alarm.
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
		return m.with(c)
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
	forged     = "the store's record of freezes and pauses was changed outside approver: it is no record of ours"
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

// Count counts a change of another record that decides who may answer, or what is asked,
// as one of the controls, because an older store has older ones of both. Controls that are
// missing are a freeze, which counts by itself. Nil counts nothing.
func (m *ControlMark) Count(ctx context.Context, store KV) error {
	if m == nil {
		return nil
	}
	_, err := changeControls(ctx, store, m, store.Put, func(*Controls, time.Time) error { return nil })
	if errors.Is(err, ErrFrozen) {
		return nil
	}
	return err
}

// A Told is what the audit says of a request: that it came so far.
type Told struct {
	Request string
	Event   Event
	At      time.Time
	Once    string // of the record
}

// rank orders what can be told of one request. What has the same rank replaces what
// was told before: after a fail-over of the store a request can have another end.
func (t Told) rank() int {
	switch t.Event {
	case EventPosted, EventParked, EventGrantUsed:
		return 1
	case EventApproved, EventGranted:
		return 2
	case EventReleased, EventRepeated, EventDenied, EventExpired, EventWithdrawn, EventRevoked:
		return 3
	case EventAcked:
		return 4
	default:
		return 0 // it is of no request, or changes nothing of one
	}
}

// Tell adds what the audit says next to what it said, by request. Other events, and
// what is of no request, are left out.
func (t Told) Tell(all map[string]Told) {
	if t.Request != "" && t.rank() > 0 && t.rank() >= all[t.Request].rank() {
		all[t.Request] = t
	}
}

// A heard is what a store says of how far a request came. It is not sealed.
type heard struct {
	State   State     `json:"state"`
	Acked   time.Time `json:"acked"`
	Repeats int       `json:"repeats"`
}

// holds reports whether a store that says so has heard of it.
func (t Told) holds(r heard) bool {
	switch t.Event {
	case EventPosted, EventParked, EventGrantUsed:
		return true
	case EventApproved, EventGranted:
		return r.State != Pending
	case EventReleased:
		return r.State == Consumed
	case EventRepeated:
		return r.State == Consumed && r.Repeats >= t.repeats()
	case EventAcked:
		return r.State == Consumed && !r.Acked.IsZero()
	default:
		return r.State.Settled()
	}
}

// repeats is how often the yes had been repeated then; see Broadcaster.runs.
func (t Told) repeats() int {
	times, err := strconv.Atoi(t.Once[strings.LastIndexByte(t.Once, ':')+1:])
	if err != nil {
		return 0 // no such record
	}
	return times
}

// Unheard returns what the store has not heard of: it has no record of the request,
// or one of before. The oldest come first.
func Unheard(ctx context.Context, store KV, told map[string]Told) (missing []Told, err error) {
	for _, t := range slices.SortedFunc(maps.Values(told), func(a, b Told) int { return a.At.Compare(b.At) }) {
		value, _, err := store.Get(ctx, Key("req", t.Request))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		var r heard
		if err != nil || json.Unmarshal(value, &r) != nil || !t.holds(r) {
			missing = append(missing, t)
		}
	}
	return missing, nil
}

// Strike ends the requests and grants whose last step the store has lost, so that no
// earlier answer counts twice, and records an alarm. missing must not be empty. Other
// calls go on.
func (b *Broadcaster) Strike(ctx context.Context, missing []Told) error {
	var errs []error
	for _, t := range missing {
		_, err := b.change(ctx, t.Request, func(r Request, now time.Time) (Request, error) {
			if r.State == Consumed && r.Acked.IsZero() { // it ran: nobody is told so again
				return r.Ack(now)
			}
			return r.Fail(StoreTrouble, now)
		})
		if err == nil {
			b.settle(t.Request)
		} else if !errors.Is(err, ErrSettled) && !errors.Is(err, ErrNotFound) {
			errs = append(errs, err)
		}
	}
	grants, err := b.Grants(ctx)
	errs = append(errs, err)
	for _, g := range grants {
		if g.scope == "" || !slices.ContainsFunc(missing, func(t Told) bool { return t.Request == g.ID }) {
			continue
		}
		if err := b.endGrant(ctx, g.scope, "revoked", "the store had lost its end"); !errors.Is(err, ErrNoGrant) {
			errs = append(errs, err)
		}
	}
	note := fmt.Sprintf("the store has lost the last step of %d requests, such as %s (%s): they are void, and asked anew",
		len(missing), missing[0].Request, missing[0].Event)
	b.Log.Error("STORE ALARM", "what", note)
	_, err = b.Audit.Record(ctx, Record{Event: EventAlarm, Alarm: AlarmStore, Note: note})
	return errors.Join(append(errs, err)...)
}

// Distrust freezes everything because the store, or the audit, cannot be believed, and
// alarms. why says what was found; how it is mended is added.
func (b *Broadcaster) Distrust(ctx context.Context, about Alarm, why string) error {
	note := fmt.Sprintf("%s: every call is denied. Find out who changed the %s; "+
		"then approver unfreeze makes it the one that counts", why, about)
	b.Log.Error(strings.ToUpper(string(about))+" ALARM", "what", note)
	_, err := b.Audit.Record(ctx, Record{Event: EventAlarm, Alarm: about, Note: note})
	if _, freezeErr := b.freeze(ctx, "approver", why, false); freezeErr != nil {
		err = errors.Join(err, fmt.Errorf("the freeze is not whole: %w", freezeErr))
	}
	if err != nil {
		b.Log.Error("what is wrong with the "+string(about)+" could not be noted everywhere", "error", err)
	}
	return err
}

// guard looks after the record of the controls until ctx ends: when a call has
// found it missing or older, and every guardEvery. It gives the store a freeze that it did
// not take.
func (b *Broadcaster) guard(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		if held := b.Mark.holding(); held != nil {
			_, err := b.freeze(ctx, held.By, held.Reason, true)
			b.Mark.refused(err) // else at the next look
		}
		if c, _, err := b.Controls(ctx); err == nil && c.Missing {
			_ = b.Distrust(ctx, AlarmStore, c.Freeze.Reason) // else at the next look
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
