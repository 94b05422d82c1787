package broadcaster

import (
	"container/heap"
	"time"

	"approver.example"
)

// Patience of what waits.
const (
	// editPatience is how long an edit lets new cards go first.
	editPatience = 10 * time.Second
	// countPatience is how much longer that is for an edit of a card that waits.
	countPatience = 20 * time.Second
	// answerTime is what people need to answer a card, or a quarter of its life if that is less.
	answerTime = 30 * time.Second
)

// A send waits for its turn to call a platform.
type send struct {
	to       approver.Destination
	edit     bool
	severity approver.Severity
	due      time.Time // when it would be too late
	hasty    time.Time // from when there is hardly any time left to answer
	since    time.Time // when it began to wait; later for what has time
	request  string    // with whose end it is needless; empty if with none
	waits    waiter

	lane   *lane
	number uint64
	late   bool // hasty has come
	at     int  // in the heap
}

// A lane is what waits for one place.
type lane struct {
	cards, edits sends
	posting      []*window // that new cards count against, and edits
	editing      []*window
	edited       bool // its last turn was an old edit's, while cards waited
}

// next is whose turn it is in a lane, or from when it may be anybody's. Both are zero while none waits, or
// turns have to end first.
func (l *lane) next(now time.Time, replicas int) (first *send, from time.Time) {
	l.demote(now)
	card, edit := l.cards.first(), l.edits.first()
	for _, s := range []**send{&card, &edit} {
		if *s == nil {
			continue
		}
		at, ok := l.room((*s).edit, (*s).urgent(), now, replicas)
		if ok && !at.After(now) {
			continue
		}
		if ok && (from.IsZero() || at.Before(from)) {
			from = at
		}
		*s = nil
	}
	switch {
	case card == nil && edit == nil:
		return nil, from
	case card == nil:
		return edit, from
	case edit != nil && edit.rank(now) == oldEdit && !l.edited:
		return edit, from
	}
	return card, from
}

// demote puts cards that have hardly any time left behind the others of their severity.
func (l *lane) demote(now time.Time) {
	for {
		s := l.cards.first()
		if s == nil || s.late || s.hasty.IsZero() || now.Before(s.hasty) {
			return
		}
		s.late = true
		heap.Fix(&l.cards, 0)
	}
}

// room is from when a send may begin, if that is known.
func (l *lane) room(edit, urgent bool, now time.Time, replicas int) (from time.Time, known bool) {
	known = true
	for _, w := range l.windowsFor(edit) {
		at, ok := w.room(now, replicas, urgent)
		from, known = later(from, at), known && ok
	}
	return from, known
}

func (l *lane) open(edit, urgent bool, now time.Time, replicas int) bool {
	from, known := l.room(edit, urgent, now, replicas)
	return known && !from.After(now)
}

func (l *lane) windowsFor(edit bool) []*window {
	if edit {
		return l.editing
	}
	return l.posting
}

func (l *lane) heapOf(s *send) *sends {
	if s.edit {
		return &l.edits
	}
	return &l.cards
}

// The ranks of what waits, the most urgent first.
const (
	urgentCard = iota
	oldEdit
	otherCard
	otherEdit
)

func (s *send) urgent() bool { return !s.edit && s.severity == approver.Catastrophic }

func (s *send) rank(now time.Time) int {
	switch {
	case s.urgent():
		return urgentCard
	case s.edit && now.Sub(s.since) >= editPatience:
		return oldEdit
	case s.edit:
		return otherEdit
	}
	return otherCard
}

// before reports whether a send is more urgent than one for another place.
func (s *send) before(other *send, now time.Time) bool {
	if a, b := s.rank(now), other.rank(now); a != b {
		return a < b
	}
	return s.sooner(other)
}

// sooner reports whether a send is more urgent than one of its kind.
func (s *send) sooner(other *send) bool {
	if s.severity != other.severity && !s.edit {
		return s.severity < other.severity
	}
	if s.late != other.late {
		return other.late
	}
	if c := s.due.Compare(other.due); c != 0 && !s.edit {
		return c < 0 != s.late // of late ones, the one with the most time left
	}
	if c := s.since.Compare(other.since); c != 0 {
		return c < 0
	}
	return s.number < other.number
}

// sends is a heap with the most urgent first.
type sends []*send

func (h sends) Len() int           { return len(h) }
func (h sends) Less(i, j int) bool { return h[i].sooner(h[j]) }

func (h sends) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements [heap.Interface].
func (h *sends) Push(s any) {
	s.(*send).at = len(*h)
	*h = append(*h, s.(*send))
}

// Pop implements [heap.Interface].
func (h *sends) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	s.at = -1
	return s
}

func (h sends) first() *send {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}
