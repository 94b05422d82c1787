package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
)

// Freezes, removals and alarms about the store take effect before they are recorded. If the
// audit does not take such a record, it is written once the audit works again, also by the
// next process: the controls say since when records are missing.

// maxPendingRecords bounds the records that one process keeps. The oldest are dropped first.
const maxPendingRecords = 64

// recordedLate ends the note of a record that was written late.
const recordedLate = " (recorded late: the audit could not be written then)"

// pendingRecords are records that the audit did not take yet, oldest first.
type pendingRecords struct {
	mu sync.Mutex
	of []approver.Record
}

func (o *pendingRecords) add(r approver.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of = append(o.of[max(0, len(o.of)-maxPendingRecords+1):], r)
}

// take returns all of them and forgets them.
func (o *pendingRecords) take() []approver.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.of
	o.of = nil
	return all
}

// has reports whether a record is still to be written.
func (o *pendingRecords) has() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.of) > 0
}

// A backlog writes records to the audit that failed before.
type backlog struct {
	*Options
	records *records

	pending pendingRecords
	loss    lastSaid // that the store has lost the controls, until it has some again
}

// record records something that has taken effect already, now or later.
func (l *backlog) record(ctx context.Context, r approver.Record) error {
	_, err := l.Audit.Record(ctx, r)
	if err == nil {
		return nil
	}
	l.pending.add(r)
	_, storeErr := changeControls(ctx, l.Store, l.Mark, l.records.put, func(c *Controls, _ time.Time) error {
		if c.usesReserve = true; c.Unrecorded.IsZero() || r.At.Before(c.Unrecorded) {
			c.Unrecorded = r.At
		}
		return nil
	})
	if storeErr != nil && !errors.Is(storeErr, ErrFrozen) {
		l.Log.Warn("that the audit lacks a record is not in the store: it comes if the audit works before this daemon ends",
			"error", storeErr)
	}
	return err
}

// flush writes the missing records: those of this process, and those that follow from the
// controls.
func (l *backlog) flush(ctx context.Context, c Controls) error {
	all := l.pending.take()
	for _, r := range unrecorded(c) {
		known := func(o approver.Record) bool { return o.Event == r.Event && o.At.Equal(r.At) }
		if !slices.ContainsFunc(all, known) {
			all = append(all, r)
		}
	}
	for i, r := range all {
		r.Note = strings.TrimSuffix(r.Note, recordedLate) + recordedLate
		if _, err := l.Audit.Record(ctx, r); err != nil {
			for _, rest := range all[i:] {
				l.pending.add(rest)
			}
			return err
		}
	}
	if c.Unrecorded.IsZero() {
		return nil
	}
	_, err := changeControls(ctx, l.Store, l.Mark, l.records.put, func(now *Controls, _ time.Time) error {
		if now.usesReserve = true; now.Unrecorded.Equal(c.Unrecorded) { // else more records have become missing
			now.Unrecorded = time.Time{}
		}
		return nil
	})
	return err
}

// unrecorded returns the records of what the controls say happened since the audit failed.
func unrecorded(c Controls) (all []approver.Record) {
	since := func(at time.Time) bool { return !c.Unrecorded.IsZero() && !at.Before(c.Unrecorded) }
	if c.Frozen() && since(c.Burned) {
		all = append(all, frozenRecord(c.Burned, c.Freeze))
	}
	for _, h := range c.Held() {
		if since(h.Burned) {
			all = append(all, heldRecord(h.Burned, h))
		}
	}
	for _, gone := range c.Removed.InForce() {
		if since(gone.Last) { // removed anew
			gone.At, gone.By, gone.Reason = gone.Last, gone.LastBy, gone.LastReason
		}
		if since(gone.At) {
			all = append(all, removedRecord(gone.At, gone, ""))
		}
	}
	return all
}

func frozenRecord(at time.Time, f Freeze) approver.Record {
	return approver.Record{
		Event: approver.EventFrozen, At: at, Note: "frozen by " + f.By + ": " + cmp.Or(f.Reason, "no reason given"),
	}
}

func heldRecord(at time.Time, h Hold) approver.Record {
	return approver.Record{
		Event: approver.EventFrozen, At: at, Note: h.Who.String() + " frozen by " + h.By + ": " +
			cmp.Or(h.Reason, "no reason given"),
		Call: approver.ToolCall{Agent: h.Who.Agent, Session: h.Who.Session, Dir: h.Who.Project, Peer: h.Who.Peer},
	}
}

func removedRecord(at time.Time, gone Removal, ended string) approver.Record {
	note := fmt.Sprintf("%s REMOVED by %s: %s: none of their answers counts any more, and each yes of theirs that was "+
		"not used is void",
		gone.Person, gone.By, cmp.Or(gone.Reason, "no reason given"))
	if len(gone.Identities) > 0 {
		note += "; accounts: " + accounts(gone.Identities)
	}
	if ended = cmp.Or(ended, gone.Ended); ended != "" {
		note += "; that ended: " + ended
	}
	return approver.Record{Event: approver.EventPolicy, At: at, Note: note}
}

// A lastSaid remembers what was said last, so that it is not said again at once.
type lastSaid struct {
	mu   sync.Mutex
	what string
	at   time.Time
}

// isNew notes that something is to be said. It reports false if it was said last, not longer
// ago than within.
func (s *lastSaid) isNew(what string, within time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.what == what && time.Since(s.at) < within {
		return false
	}
	s.what, s.at = what, time.Now()
	return true
}

// forget has the same said again.
func (s *lastSaid) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what = ""
}

// tellLoss raises an alarm, once, before a record replaces controls that the store has lost.
func (l *backlog) tellLoss(ctx context.Context, why string) error {
	if !l.loss.isNew(why, math.MaxInt64) {
		return nil
	}
	note := distrustNote(approver.AlarmStore, why)
	l.Log.Error("STORE ALARM", "what", note)
	r := approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmStore, At: time.Now(), Note: note}
	_, err := l.Audit.Record(context.WithoutCancel(ctx), r)
	if err != nil {
		l.pending.add(r) // not in the store, which has lost something just now
	}
	return err
}

func distrustNote(about approver.Alarm, why string) string {
	return fmt.Sprintf("%s: every call is denied. Find out who changed the %s; "+
		"then approver unfreeze makes it the one that counts", why, about)
}
