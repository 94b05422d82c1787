package audit

import (
	"slices"
	"sync"
	"time"

	"approver.example"
)

// MaxLag is how much older than the log its store may honestly be: what a crash, or a
// fail-over of the store, takes along. The store hears of the log's end four times
// a second.
const MaxLag = 10 * time.Second

// storedEvents are the events that are recorded after the store has taken what they tell
// of. Others are recorded while the store is away, too.
var storedEvents = []approver.Event{
	approver.EventPosted, approver.EventApproved, approver.EventReleased, approver.EventRepeated, approver.EventGranted,
	approver.EventGrantUsed,
	approver.EventParked, approver.EventFrozen, approver.EventAcked,
}

// A pendingLine line is of an event whose time counts for the lag of the store.
type pendingLine struct {
	seq uint64
	at  time.Time
}

// maxUnstored is the time that counted lines may span of which the store was not
// told. The rest of MaxLag is for what a fail-over takes along.
const maxUnstored = MaxLag / 2

// A laggingError says that a line must wait until the store was told of more.
type laggingError struct{ advanced <-chan struct{} }

func (laggingError) Error() string { return "the store has not taken the audit's head for too long" }

// lagTime returns the time of a line that counts, and otherwise zero. A freeze does
// not: it must never wait, and the store is compared with it by itself.
func lagTime(line Line) time.Time {
	if line.Event == approver.EventFrozen || !slices.Contains(storedEvents, line.Event) {
		return time.Time{}
	}
	return line.Timestamp
}

// A lag is how far the store is behind the log. The Log's mu guards all but its channels.
type lag struct {
	pending   []pendingLine // lines that the store was not told of yet
	storedSeq uint64        // the last line that the store was told of in this life
	advanced  chan struct{} // closed when the store was told of more
	rewound   bool          // the store is to be told of an end that is before its own

	accepted chan struct{} // closed by Accept
	accept   sync.Once
	wake     chan struct{} // gets a signal when there is a new end
	urgent   chan struct{} // the head does not wait for its time
}

func newLag() lag {
	return lag{
		advanced: make(chan struct{}), accepted: make(chan struct{}),
		wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
	}
}

// isAccepted reports whether the store may hear of the log's end.
func (g *lag) isAccepted() bool {
	select {
	case <-g.accepted:
		return true
	default:
		return false
	}
}

// lagging reports whether a counted line has to wait, so that a crash never leaves
// a store that looks as if it had been replaced, however slow the writing of the
// head is.
func (g *lag) lagging(at time.Time) bool {
	if at.IsZero() || !g.isAccepted() { // nothing is told to the store yet, and nothing is asked
		return false
	}
	return slices.ContainsFunc(g.pending, func(c pendingLine) bool { return at.Sub(c.at) > maxUnstored })
}

// advance notes that the store was told of the lines up to seq.
func (g *lag) advance(seq uint64) {
	g.pending = slices.DeleteFunc(g.pending, func(c pendingLine) bool { return c.seq <= seq })
	if !g.rewound { // else it is a line of before the log was cut
		g.storedSeq = max(g.storedSeq, seq)
	}
	close(g.advanced)
	g.advanced = make(chan struct{})
}

// rewind forgets what the store was told of: the log is shorter now, and the store is told of its new end.
func (g *lag) rewind() { g.rewound, g.pending, g.storedSeq = true, nil, 0 }
