package audit

import (
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// An Opening is the comparison of a log with its store at the time of Open. Lines after
// the store's head are called unstored.
type Opening struct {
	Seq  uint64 // of the log's last line; zero for a new log
	Head *Head  // the store's head; nil if it has none
	// Renamed means that the log had another id before, so the store need not know
	// this one.
	Renamed bool
	// Told is the last state of each request in the unstored lines of the last day. The
	// store must have reached the same state.
	Told map[string]approver.Told
	// Revoked are requests and grants that people revoked in unstored lines. They must
	// not be open in the store.
	Revoked []approver.Told
	// End is the time of the last unstored line.
	End time.Time
	// Controls is the newest version of the record of freezes and pauses in the store's
	// head or an unstored line. Earlier versions wrote none: zero.
	Controls uint64
	// Frozen is the time of the newest freeze in the unstored lines.
	Frozen time.Time
	// Lost describes newly found loss or change of lines, by the store's head or by the
	// log itself.
	Lost string
	// Older says why the store is older than the log; empty if the log finds no sign
	// of it.
	Older string
}

// compare reads the unstored lines and returns those that count for the store's lag. A
// volatile store can lose the last seconds of its writes.
func (o *Opening) compare(dir logDir, volatile bool) (unstored []pendingLine, err error) {
	if o.Head == nil {
		return nil, nil
	}
	o.Controls = o.Head.Controls
	if o.Head.Seq >= o.Seq {
		return nil, nil
	}
	o.Told = map[string]approver.Told{}
	var last time.Time // of the events that were in the store
	var life daemonRun
	var stored uint64 // the newest head in the store, by the lines' own account
	err = dir.each(o.Head.Seq+1, func(line Line) {
		o.Controls = max(o.Controls, line.Controls)
		if at := lagTime(line); !at.IsZero() {
			unstored = append(unstored, pendingLine{line.Seq, at})
			last = at
		}
		if life.lostByStore(line, volatile) {
			// The log was closed in order, so the store must have had its end.
			o.Older = "its last words before it stopped in order are not in the store"
		}
		if line.Stored < line.Seq { // else the record was begun before lines were removed
			stored = max(stored, line.Stored)
		}
		o.noteLine(line)
	})
	var lost time.Duration
	for _, c := range unstored {
		lost = max(lost, last.Sub(c.at))
	}
	switch {
	case o.Older != "":
	case lost > MaxLag:
		o.Older = fmt.Sprintf("what the store took for %s is not in it any more", lost.Round(time.Second))
	case o.Head.Closed:
		o.Older = "it knows that the log stopped in order there"
	case stored > o.Head.Seq && !volatile:
		o.Older = fmt.Sprintf("it had taken the line %d", stored)
	}
	if o.Older != "" {
		o.Older = fmt.Sprintf("the store is older than the audit: it knows %d lines and the audit has %d; %s", o.Head.Seq,
			o.Seq, o.Older)
	}
	return unstored, err
}

// noteLine adds what an unstored line says.
func (o *Opening) noteLine(line Line) {
	if line.Timestamp.After(o.End) {
		o.End = line.Timestamp
	}
	told := approver.Told{Request: line.Request, Event: line.Event, At: line.Timestamp, Once: line.Once}
	if time.Since(line.Timestamp) < approver.MinKeepFor/2 {
		told.Tell(o.Told)
	}
	switch {
	case line.Event == approver.EventRevoked && line.Request != "":
		o.Revoked = append(o.Revoked, told)
	case line.Event == approver.EventFrozen && line.Timestamp.After(o.Frozen):
		o.Frozen = line.Timestamp
	}
}

// A daemonRun is the unstored part of one run of the daemon.
type daemonRun struct {
	since  time.Time // of its first line
	stored bool      // the event of one of its lines was in the store
}

// lostByStore reports whether a line is an orderly stop before which the store had lines
// that it does not have now. A volatile store may honestly lose a short run.
func (f *daemonRun) lostByStore(line Line, volatile bool) bool {
	switch {
	case line.Event == approver.EventStarted:
		*f = daemonRun{since: line.Timestamp}
		return false
	case line.Event != approver.EventStopped:
		if f.since.IsZero() {
			f.since = line.Timestamp
		}
		f.stored = f.stored || slices.Contains(storedEvents, line.Event)
		return false
	case f.since.IsZero(), line.Heard == nil && !f.stored, line.Heard != nil && !*line.Heard:
		return false
	}
	return !volatile || line.Timestamp.Sub(f.since) > MaxLag
}
