package broadcaster

import (
	"time"

	"approver.example"
)

// A window counts turns against a limit of a platform. A turn counts from its beginning until the limit's time
// after its end: the platform counts a call when it arrives, which is in between. So calls that are slow on the
// way never arrive together.
type window struct {
	approver.Limit
	begun int         // turns that have not ended
	ended []time.Time // the ends of turns that still count, oldest first
	until time.Time   // before which the platform wants nothing
}

// share is the limit for one of several daemons that send for the same bot.
func (w *window) share(replicas int, urgent bool) (most int, within time.Duration) {
	most, within = w.Most/replicas, w.Within
	if most == 0 { // less than one in this time
		return 1, w.Within * time.Duration(replicas) / time.Duration(w.Most)
	}
	if kept := w.Urgent / replicas; !urgent && kept < most {
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
	case over < 0:
	case over >= len(w.ended):
		return from, false
	default:
		from = later(from, w.ended[over].Add(within))
	}
	return from, true
}

// end ends a turn. One that was not used does not count.
func (w *window) end(now time.Time, used bool) {
	if w.begun--; used {
		w.ended = append(w.ended, now)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
