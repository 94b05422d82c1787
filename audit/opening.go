package audit

import (
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// This file compares a log that is opened with what its store knows.

// An Opening is what a log and its store knew of each other when the log was
// opened.
type Opening struct {
	Seq  uint64 // of the log's last line; zero is a new log
	Head *Head  // where it ended by the store's word; nil if the store knew nothing
	// Renamed means that the log was written under another id before, so that the
	// store need not know this one.
	Renamed bool
	// Told is how far requests came in the lines of the last day of which the store was
	// not told. It must know of each that it did.
	Told map[string]approver.Told
	// Revoked are requests and grants that people took back in those lines. The store must
	// not have them open.
	Revoked []approver.Told
	// End is the time of the last line.
	End time.Time
	// Controls is the newest version of the record of freezes and pauses that the
	// head in the store, or a line behind it, knows of. Zero is of the version before.
	Controls uint64
	// Frozen is the newest freeze that the store was not told of.
	Frozen time.Time
	// Lost is what is gone from the log, or was changed in it, by the store's word or its
	// own, and was not known before.
	Lost string
	// Older says why the store is older than the log; empty means that it is not,
	// as far as the log can tell.
	Older string
}

// compare looks through the lines that the store was not told of, and returns those that count for its
// lag. A volatile store can lose the last seconds of what it took.
func (o *Opening) compare(dir logDir, volatile bool) (unstored []pendingLine, err error) {
	if o.Head == nil {
		return nil, nil
	}
	o.Controls = o.Head.Controls
	if o.Head.Seq >= o.Seq {
		return nil, nil
	}
	o.Told = map[string]approver.Told{}
	var last time.Time // of what the store had taken
	var life daemonRun
	var stored uint64 // what the lines say that the store had taken
	err = dir.each(o.Head.Seq+1, func(line Line) {
		o.Controls = max(o.Controls, line.Controls)
		if at := lagTime(line); !at.IsZero() {
			unstored = append(unstored, pendingLine{line.Seq, at})
			last = at
		}
		if life.lostByStore(line, volatile) {
			// It stopped in order, and then its store knew the end.
			o.Older = "its last words before it stopped in order are not in the store"
		}
		if line.Stored < line.Seq { // else it was begun before the log was cut
			stored = max(stored, line.Stored)
		}
		o.note(line)
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

// note takes in what a line says that the store was not told of.
func (o *Opening) note(line Line) {
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

// A daemonRun is what the lines of one life of the daemon tell, of which the store was not told.
type daemonRun struct {
	since  time.Time // the first of them
	stored bool      // the store had taken what one of them tells of
}

// lostByStore reports whether a line is a stop in order before which the store was told of
// lines that it does not know. One that can lose its last seconds may have lost those.
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
