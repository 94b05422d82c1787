package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// This file has what the log says of itself.

// The kinds of alarms. The first four are the log's own. A kind that is not known
// here, or none, as earlier versions wrote, counts as a loss unless it is of a call.
const (
	lossAlarm   = "loss"   // something of the log is gone, or was changed
	keyAlarm    = "key"    // another key signs from here on
	outageAlarm = "outage" // nothing could be recorded for a time; nothing is missing
	tornAlarm   = "torn"   // a crash left half a line that nobody was told of
	callAlarm   = "call"   // a call ran that must not have, or otherwise
	otherAlarm  = "other"  // something else that is about no call
)

// An alarm is what the log has to say of itself.
type alarm struct {
	kind, text string
	part       Part // that it names; zero is none
}

// mergeLosses makes one alarm of the losses that were found at once and name no part of the
// log, or adds them to the first that names one: they have one cause.
func mergeLosses(found []alarm) []alarm {
	var texts []string
	whole := func(a alarm) bool { return a.kind == lossAlarm && a.part == (Part{}) }
	for _, a := range found {
		if whole(a) {
			texts = append(texts, a.text)
		}
	}
	at := slices.IndexFunc(found, func(a alarm) bool { return a.kind == lossAlarm && !whole(a) })
	if at >= 0 {
		texts = append([]string{found[at].text}, texts...)
	} else if at = slices.IndexFunc(found, whole); at < 0 {
		return found
	}
	var all []alarm
	for i, a := range found {
		if i == at {
			a.text = strings.Join(texts, "; ")
		} else if whole(a) {
			continue
		}
		all = append(all, a)
	}
	return all
}

// unrecordedCalls says how many denied calls have no record.
func unrecordedCalls(calls int) string {
	switch calls {
	case 0:
		return ""
	case 1:
		return " (1 of them is not in the audit)"
	}
	return fmt.Sprintf(" (%d of them are not in the audit)", calls)
}

// brokenAt begins the alarm about a break that stays in the log; see Part.
const brokenAt = "the log is broken at "

func truncated(end, known uint64) string {
	return fmt.Sprintf("the log ends at seq %d but the store knows %d: the last %d lines are gone", end, known, known-end)
}

func rewritten(seq uint64) string {
	return fmt.Sprintf("the line with seq %d is not the one that the store knows: the log was written anew", seq)
}

// maxAlarms is how many alarms are kept in memory.
const maxAlarms = 100

// A Part is a broken part of a log, by its content: from the line that does not follow
// the one before it up to the next signature that fits. Nothing between them is believed.
type Part struct {
	From   uint64 `json:"from"`   // seq that the first line of it should have
	Prev   string `json:"prev"`   // hash of the line before it
	To     uint64 `json:"to"`     // seq of the signature that the log goes on with
	Hash   string `json:"hash"`   // of that signature's line
	SHA256 string `json:"sha256"` // of the bytes between the line before it and the signature
}

// alarmLine is the line of an alarm.
func (r *redactor) alarmLine(a alarm, host string) ([]byte, error) {
	line := r.lineOf(approver.Record{Event: approver.EventAlarm, Note: a.text}, host, time.Now())
	line.Alarm = a.kind
	if a.part.To != 0 {
		line.Broken = &a.part
	}
	return encode(line)
}

// A backoff says how long to wait before the next try: longer while the log fails
// again soon after it was healed.
type backoff struct {
	wait   time.Duration
	healed time.Time
}

func (p *backoff) start() {
	if p.wait == 0 || time.Since(p.healed) > healMost {
		p.wait = healFirst
		return
	}
	p.double()
}

func (p *backoff) double() { p.wait = min(2*p.wait, healMost) }

// healing is what is known of a log that has failed. It belongs to the writing goroutine.
type healing struct {
	backoff backoff
	changed bool    // somebody else changed the file
	loss    string  // what is gone from the log, or was changed; empty once it is recorded
	found   []alarm // not yet in the log
}

// add keeps what a try to heal found, once, until it can be written.
func (h *healing) add(a alarm) {
	if !slices.Contains(h.found, a) {
		h.found = append(h.found, a)
	}
}

// Bounds of healing.
const (
	healFirst = time.Second // before the first try, doubled with each
	healMost  = 30 * time.Second
	// stopTimeout is for Options.Changed.
	stopTimeout = 5 * time.Second
)
