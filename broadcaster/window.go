package broadcaster

import (
	"math"
	"time"

	"approver.example"
)

// A window counts turns against a limit of a platform. A turn counts from its beginning until the limit's time
// after its end: the platform counts a call when it arrives, which is in between. So calls that are slow on the
// way never arrive together.
type window struct {
	approver.Limit
	begun  int         // turns that have not ended
	ended  []time.Time // the ends of turns that still count, oldest first
	until  time.Time   // before which the platform wants nothing
	probes bool        // one turn at a time, until the platform has taken one: until was a guess
	edited bool        // the last turn was an edit's
}

// share is the limit for one of several daemons that send for the same bot. What is kept for CATASTROPHIC cards
// is at least one for each.
func (w *window) share(replicas int, urgent bool) (most int, within time.Duration) {
	if w.Most <= 0 || w.Within <= 0 {
		return math.MaxInt, 0
	}
	most, within = w.Most/replicas, w.Within
	kept, spare := 0, min(w.Urgent, w.Most-1)
	if spare > 0 {
		kept = max(min(spare/replicas, most-1), 1)
	}
	switch {
	case most > kept:
	case kept > 0:
		// Daemons that may send only one have no room to keep. Each sends the others more slowly, by what is kept for
		// all, and one CATASTROPHIC card more: few of them have one at once.
		most = 1 + kept
		within = max(within, w.Within*time.Duration(replicas)/time.Duration(w.Most-spare))
	case most == 0: // less than one in this time
		return 1, w.Within * time.Duration(replicas) / time.Duration(w.Most)
	}
	if !urgent {
		most -= kept
	}
	return most, within
}

// room is from when another turn may begin. It is ok if that is known: otherwise turns have to end first.
func (w *window) room(now time.Time, replicas int, urgent bool) (from time.Time, ok bool) {
	most, within := w.share(replicas, urgent)
	gone := 0
	for gone < len(w.ended) && !w.ended[gone].Add(within).After(now) {
		gone++
	}
	w.ended = w.ended[gone:]
	from = w.until
	switch over := w.begun + len(w.ended) - most; { // that many have to be forgotten, and one more
	case w.probes && w.begun > 0:
		return from, false
	case over < 0:
	case over >= len(w.ended):
		return from, false
	default:
		from = later(from, w.ended[over].Add(within))
	}
	return from, true
}

// hold keeps a pause. It is a guess if the platform did not ask for it here.
func (w *window) hold(until time.Time, guess bool) {
	w.until, w.probes = later(w.until, until), w.probes || guess
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
