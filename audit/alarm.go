package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// The kinds of alarms. The log itself raises the first four. An unknown kind, or none
// (as earlier versions wrote), counts as a loss unless the alarm is about a call.
const (
	lossAlarm   = "loss"   // lines are missing or changed
	keyAlarm    = "key"    // another key signs from here on
	outageAlarm = "outage" // nothing could be recorded for a time; its text says what is missing
	tornAlarm   = "torn"   // a crash left half a line, which was never acknowledged
	callAlarm   = "call"   // about a call, for example one that ran although it was denied
	otherAlarm  = "other"  // about anything else
)

// An alarm is one that the log raises about itself.
type alarm struct {
	kind, text string
	part       Part // the broken part that it names; zero for none
}

// mergeLosses joins losses that were found together, because they have one cause. Those
// that name no broken part go into the first one that does, or else into one alarm.
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

// unrecordedCalls is a note about denied calls that have no record.
func unrecordedCalls(calls int) string {
	switch calls {
	case 0:
		return ""
	case 1:
		return " (1 of them is not in the audit)"
	}
	return fmt.Sprintf(" (%d of them are not in the audit)", calls)
}

// lostCalls is a note about calls that ran and have no record; see Log.Pass.
func lostCalls(calls int) string {
	switch calls {
	case 0:
		return ""
	case 1:
		return "; 1 call that was let run just before is not in the audit"
	}
	return fmt.Sprintf("; %d calls that were let run just before are not in the audit", calls)
}

// brokenAt begins the text of an alarm about a break that stays in the log; see Part.
const brokenAt = "the log is broken at "

func truncated(end, known uint64) string {
	return fmt.Sprintf("the log ends at seq %d but the store knows %d: the last %d lines are gone", end, known, known-end)
}

func rewritten(seq uint64) string {
	return fmt.Sprintf("the line with seq %d is not the one that the store knows: the log was written anew", seq)
}

// maxAlarms is how many alarms are kept in memory.
const maxAlarms = 100

// A Part identifies a broken part of a log by its content. It reaches from the first line
// that does not follow the one before it to the next valid checkpoint. Nothing in between
// is trusted.
type Part struct {
	From   uint64 `json:"from"`   // the seq that its first line should have
	Prev   string `json:"prev"`   // hash of the line before it
	To     uint64 `json:"to"`     // seq of the checkpoint at which the log continues
	Hash   string `json:"hash"`   // of that checkpoint's line
	SHA256 string `json:"sha256"` // of the bytes between the line before it and the checkpoint
}

// alarmLine is the line of an alarm.
func (r *redactor) alarmLine(a alarm, host string) ([]byte, error) {
	line := r.lineOf(approver.Record{Event: approver.EventAlarm, Note: a.text}, host, time.Now())
	line.Alarm = a.kind
	if a.part.To != 0 {
		line.Broken = &a.part
	}
	return display.EncodeJSON(line)
}

// A backoff is the wait before the next attempt to heal. It keeps growing if the log fails
// again soon after it was healed.
type backoff struct {
	wait   time.Duration
	healed time.Time
}

func (p *backoff) reset() {
	if p.wait == 0 || time.Since(p.healed) > healMost {
		p.wait = healFirst
		return
	}
	p.double()
}

// pause is the wait after an error. A disk that is full is looked at often: whoever makes room
// sees that it helps.
func (p *backoff) pause(err error) time.Duration {
	if noRoom(err) {
		return min(p.wait, healRoom)
	}
	return p.wait
}

func (p *backoff) double() { p.wait = min(2*p.wait, healMost) }

// healing is the state of repairing a failed log. It belongs to the writing goroutine.
type healing struct {
	backoff backoff
	changed bool    // somebody else changed the file
	loss    string  // what is gone from the log, or was changed; empty once it is recorded
	found   []alarm // not yet in the log
}

// add keeps an alarm, once, until it can be written.
func (h *healing) add(a alarm) {
	if !slices.Contains(h.found, a) {
		h.found = append(h.found, a)
	}
}

// Bounds of healing.
const (
	healFirst = time.Second // before the first try, doubled with each
	healMost  = 30 * time.Second
	healRoom  = time.Second / 2 // the longest while the disk is full
	// stopTimeout is for Options.Changed.
	stopTimeout = 5 * time.Second
)
