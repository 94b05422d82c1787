package broadcaster

import (
	"container/heap"
	"slices"
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
	aside    bool      // it only points to a card that is there: cards of its severity go first
	waits    waiter

	lane   *lane
	number uint64
	late   bool      // hasty has come
	at     int       // in the heap
	begun  time.Time // when its turn did
	over   bool      // its turn does not count as begun any more
}

// A lane is what waits for one place.
type lane struct {
	cards, edits sends
	posting      []*window // that new cards count against, and edits
	editing      []*window
	lastCard     uint64 // the number of the last turn of a card here, among those of all lanes; zero if there was none
	lastEdit     uint64
}

// ready are the card and the edit of a lane that may begin now, and from when another one may. That is zero while
// none waits, or turns have to end first.
func (l *lane) ready(now time.Time, replicas int) (card, edit *send, from time.Time) {
	l.demote(now)
	card, edit = l.cards.first(), l.edits.first()
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
	return card, edit, from
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

func (l *lane) last(edit bool) *uint64 {
	if edit {
		return &l.lastEdit
	}
	return &l.lastCard
}

func (l *lane) heapOf(s *send) *sends {
	if s.edit {
		return &l.edits
	}
	return &l.cards
}

// held reports that the platform wants a pause in a place other than one, which shares a wide window with it. Some
// platforms count the cards and the edits of a place apart: they are one place all the same.
func (l *lane) held(all []*window, wide *window, one *lane, now time.Time) bool {
	last := len(all) - 1
	if last < 1 || all[last] != wide || !all[0].until.After(now) {
		return false
	}
	return slices.Index(one.posting, all[0]) != 0 && slices.Index(one.editing, all[0]) != 0
}

// crowd is what waits in a lane.
func (l *lane) crowd(to approver.Destination) Crowd {
	c := Crowd{To: to}
	for _, s := range slices.Concat(l.edits, l.cards) {
		card := s.card()
		if c.Since.IsZero() || s.since.Before(c.Since) || card && c.Cards == 0 {
			c.Since = s.since
		}
		if card {
			c.Cards++
		} else {
			c.Other++
		}
	}
	return c
}

// choose is whose turn it is of those that may begin, or nil if there are none. An old edit goes first, except that
// it takes turns with cards. It does so in each of its windows, the widest first: where the last turn was an
// edit's, this one is for the best of the cards that wait there. So cards do not starve behind the edits of another
// place, such as another topic of a forum, and each turn that an edit gives away is used.
func choose(ready []*send, now time.Time) *send {
	first := best(ready, now, func(*send) bool { return true })
	if first == nil || first.rank(now) != rankOldEdit {
		return first
	}
	for _, w := range slices.Backward(first.lane.editing) {
		if !w.edited {
			continue
		}
		card := best(ready, now, func(s *send) bool { return !s.edit && slices.Contains(s.lane.posting, w) })
		if card != nil {
			return card
		}
	}
	return first
}

// best is the most urgent of some of those that may begin.
func best(ready []*send, now time.Time, of func(*send) bool) (first *send) {
	for _, s := range ready {
		if of(s) && (first == nil || s.before(first, now)) {
			first = s
		}
	}
	return first
}

// The ranks of what waits.
const (
	rankOldEdit = iota
	rankCard
	rankYoungEdit
)

// urgent reports a CATASTROPHIC card, for which room is kept.
func (s *send) urgent() bool { return !s.edit && !s.aside && s.severity == approver.Catastrophic }

// card reports that a request waits with it for being shown.
func (s *send) card() bool { return s.request != "" && !s.edit && !s.aside }

func (s *send) rank(now time.Time) int {
	switch {
	case !s.edit:
		return rankCard
	case now.Sub(s.since) >= editPatience:
		return rankOldEdit
	}
	return rankYoungEdit
}

// before reports whether a send is more urgent than one for another place. Of those that are as urgent, the place goes
// first whose last turn was before that of the other one: a crowd in one place must not starve another.
func (s *send) before(other *send, now time.Time) bool {
	if a, b := s.rank(now), other.rank(now); a != b {
		return a < b
	}
	if s.severity != other.severity && !s.edit {
		return s.severity < other.severity
	}
	if s.aside != other.aside {
		return other.aside
	}
	if s.late != other.late {
		return other.late
	}
	if a, b := s.lane.last(s.edit), other.lane.last(other.edit); *a != *b {
		return *a < *b
	}
	return s.sooner(other)
}

// sooner reports whether a send is more urgent than one of its kind.
func (s *send) sooner(other *send) bool {
	if s.severity != other.severity && !s.edit {
		return s.severity < other.severity
	}
	if s.aside != other.aside {
		return other.aside
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
