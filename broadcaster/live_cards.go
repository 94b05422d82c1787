package broadcaster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// liveCards are the cards that this process posted, while their requests are open. No record
// has the code of a card, so only the process that posted it can edit it.
type liveCards struct {
	mu sync.Mutex
	of map[string]*requestCards // by request
}

type requestCards struct {
	due   time.Time
	cards map[int]*liveCard // by posting
}

type liveCard struct {
	code  tokens.Code
	said  string    // the last notice on it; empty if that is not known
	later time.Time // when a failed edit may be tried again
	tries int       // failures in a row
	late  bool      // an edit of it may still be carried out: see Posting.Late
}

// note remembers the codes of a request, and forgets requests whose time is over.
func (s *liveCards) note(r Request, codes map[int]tokens.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.of, func(_ string, c *requestCards) bool { return now.After(c.due) })
	if s.of == nil {
		s.of = map[string]*requestCards{}
	}
	c := s.of[r.ID]
	if c == nil {
		c = &requestCards{due: now.Add(r.Due.Sub(r.Created)), cards: map[int]*liveCard{}}
		s.of[r.ID] = c
	}
	for i, code := range codes {
		c.cards[i] = &liveCard{code: code}
	}
}

// stale lists the cards of a request that this process can edit and that do not show how many
// calls wait, or what a yes does. The caller holds mu.
func (c *requestCards) stale(r Request, host string) (stale []int) {
	if r.State != approver.Pending || r.Parked || r.Joined == 0 {
		return nil
	}
	for i, p := range r.Postings {
		card := c.cards[i]
		if card != nil && p.Phase == Posted && !p.Ref.Partial && (p.Hub == "" || p.Hub == host) &&
			(card.said != callersNotice(r, p) || p.Upto != r.Joined && !p.Late) {
			stale = append(stale, i)
		}
	}
	return stale
}

// edited notes the result of editing a card, and reports whether an edit of it may still be
// carried out. A card that the platform refuses for good, or that would be too large, stays as
// it is. Every other failure is tried again, less and less often. A screen is tried often: its
// edits fail because nobody watches, and whoever comes must see what waits. The caller holds
// mu.
func (c *requestCards) edited(i int, notice string, fits, screen bool, err error) (late bool) {
	card := c.cards[i]
	card.said = ""
	most := time.Hour
	if screen {
		most = mostEditPause
	}
	switch {
	case !fits || errors.Is(err, approver.ErrFinal) && !screen:
		delete(c.cards, i)
	case err != nil:
		card.late = card.late || mayBeDone(err) && !screen
		card.later = time.Now().Add(pauseAfter(err, card.tries, most))
		card.tries++
	default:
		card.said, card.tries = notice, 0
	}
	return card.late
}

// Edits of a card that waits: so that a burst of calls is one edit.
const (
	firstEdit = 100 * time.Millisecond
	nextEdit  = time.Second
)

// A counting is the key of the task that updates the number of calls on the cards of a request.
type counting string

// updateCounts updates the number of identical calls on the cards of a request that this
// process posted. At most one goroutine does it for each request.
func (e *editor) updateCounts(r Request) {
	e.live.mu.Lock()
	c := e.live.of[r.ID]
	some := c != nil && len(c.stale(r, e.Host)) > 0
	e.live.mu.Unlock()
	if !some {
		return
	}
	e.tasks.startSingle(counting(r.ID), false, func(ctx context.Context) {
		for wait := firstEdit; sleep(ctx, wait) && e.updateCountsOnce(ctx, r.ID, c); wait = nextEdit {
		}
	})
}

// updateCountsOnce edits the cards that need it, and reports whether there were any.
func (e *editor) updateCountsOnce(ctx context.Context, id string, c *requestCards) bool {
	r, _, err := e.requests.load(ctx, id)
	if err != nil {
		return false
	}
	e.live.mu.Lock()
	stale := c.stale(r, e.Host)
	some := len(stale) > 0
	stale = slices.DeleteFunc(stale, func(i int) bool { return time.Now().Before(c.cards[i].later) })
	cards := make([]approver.Card, len(stale))
	fits := make([]bool, len(stale))
	for n, i := range stale {
		cards[n], fits[n] = withCallers(e.cards.card(r, c.cards[i].code), r, r.Postings[i])
	}
	e.live.mu.Unlock()
	if len(stale) == 0 {
		return some
	}
	done := make([]bool, len(stale))
	errs := make([]error, len(stale))
	_ = inParallel(len(stale), func(n int) error {
		if fits[n] {
			errs[n] = e.channels.updateOne(ctx, r.Postings[stale[n]].Ref, cards[n])
			done[n] = errs[n] == nil
		}
		return nil
	})
	late := make([]bool, len(stale))
	e.live.mu.Lock()
	for n, i := range stale {
		screen := e.channels.screen(r.Postings[i].To.Channel)
		late[n] = c.edited(i, callersNotice(r, r.Postings[i]), fits[n], screen, errs[n])
	}
	e.live.mu.Unlock()
	now, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		return counted(fresh, r, stale, done, late, now)
	})
	if now.ended() {
		e.over(ctx, now, stale)
		return false
	}
	return err == nil || errors.Is(err, errNoChange)
}

// counted notes that cards show the callers that r had. A card with a late edit may show fewer
// at any time.
func counted(fresh, r Request, cards []int, done, late []bool, now time.Time) (Request, error) {
	if fresh.State != approver.Pending || len(fresh.Postings) < len(r.Postings) {
		return fresh, ErrTooSoon
	}
	changed := false
	postings := slices.Clone(fresh.Postings)
	for n, i := range cards {
		p := &postings[i]
		if late[n] && !p.Late {
			p.Late, changed = true, true
		}
		if done[n] && !p.Late && p.Phase == Posted && p.Ref == r.Postings[i].Ref && p.Upto < r.Joined {
			p.Upto, p.UptoAt, changed = r.Joined, now, true
		}
	}
	if !changed {
		return fresh, errNoChange
	}
	fresh.Postings = postings
	return fresh, nil
}

// over updates cards that were edited while their request ended: that edit may have been the
// later one.
func (e *editor) over(ctx context.Context, r Request, cards []int) {
	_, err := e.requests.change(ctx, r.ID, func(r Request, _ time.Time) (Request, error) {
		var some bool
		if r.Postings, some = r.Postings.unshown(cards); !some {
			return r, errNoChange
		}
		return r, nil
	})
	if err != nil && !errors.Is(err, errNoChange) {
		e.Log.Warn("a card may show that a request waits, which has ended", "request", r.ID, "error", err)
	}
	e.settle(r.ID)
}
