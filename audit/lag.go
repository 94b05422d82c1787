package audit

import (
	"slices"
	"sync"
	"time"

	"approver.example"
)

// MaxLag is how much older than the log its store may be after a crash or a fail-over
// of the store. In normal work the head is written four times a second.
const MaxLag = 10 * time.Second

// storedEvents are recorded after their change is in the store. Other events are recorded
// while the store is away, too.
var storedEvents = []approver.Event{
	approver.EventPosted, approver.EventApproved, approver.EventReleased, approver.EventRepeated, approver.EventGranted,
	approver.EventGrantUsed,
	approver.EventParked, approver.EventExtended, approver.EventFrozen, approver.EventAcked,
}

// A pendingLine is a line after the store's head whose event is one of storedEvents.
type pendingLine struct {
	seq uint64
	at  time.Time
}

// maxUnstored is the time that pending lines may span. The rest of MaxLag is for the
// writes that a fail-over loses.
const maxUnstored = MaxLag / 2

// A laggingError means that a line must wait until the store has a newer head.
type laggingError struct{ advanced <-chan struct{} }

func (laggingError) Error() string { return "the store has not taken the audit's head for too long" }

// lagTime returns the time of a line if its event is in storedEvents, and otherwise
// zero. A freeze has none: it must never wait, and Opening.Frozen compares it.
func lagTime(line Line) time.Time {
	if line.Event == approver.EventFrozen || !slices.Contains(storedEvents, line.Event) {
		return time.Time{}
	}
	return line.Timestamp
}

// A lag tracks how far the store's head is behind the log. The Log's mu guards all but
// its channels.
type lag struct {
	pending   []pendingLine
	storedSeq uint64        // the last line that a head written by this process covers
	advanced  chan struct{} // closed when the store has a newer head
	rewound   bool          // the next head is before the one in the store

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

// isAccepted reports whether the head may be written to the store.
func (g *lag) isAccepted() bool {
	select {
	case <-g.accepted:
		return true
	default:
		return false
	}
}

// lagging reports whether a pending line has to wait. Without this, slow writes of the
// head and a crash could leave a store that looks as if an older one had replaced it.
func (g *lag) lagging(at time.Time) bool {
	if at.IsZero() || !g.isAccepted() { // before Accept no head is written, so waiting would not end
		return false
	}
	return slices.ContainsFunc(g.pending, func(c pendingLine) bool { return at.Sub(c.at) > maxUnstored })
}

// advance notes that the store's head covers the lines up to seq.
func (g *lag) advance(seq uint64) {
	g.pending = slices.DeleteFunc(g.pending, func(c pendingLine) bool { return c.seq <= seq })
	if !g.rewound { // else seq is of a line that is gone
		g.storedSeq = max(g.storedSeq, seq)
	}
	close(g.advanced)
	g.advanced = make(chan struct{})
}

// rewind is for a log that lost lines: its new end is before the store's head, which has to be written again.
func (g *lag) rewind() { g.rewound, g.pending, g.storedSeq = true, nil, 0 }
