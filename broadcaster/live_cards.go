package broadcaster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// liveCards has the codes of the cards that this process posted, and what it last wrote on
// each, while their requests are open. No record has the code, so only the process that posted
// a card can edit it.
type liveCards struct {
	mu sync.Mutex
	of map[string]*requestCards // by request
}

type requestCards struct {
	due   time.Time
	codes map[int]tokens.Code
	said  map[int]string    // the last notice on a card, by posting, if known
	later map[int]time.Time // when a failed edit may be tried again
	tries map[int]int       // failures in a row
	late  map[int]bool      // an edit of it may still be carried out: see Posting.Late
	busy  bool
}

// note remembers the codes of a request, and forgets requests whose time is over.
func (s *liveCards) note(r Request, codes map[int]tokens.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*requestCards{}
	}
	now := time.Now()
	for id, c := range s.of {
		if now.After(c.due) && !c.busy {
			delete(s.of, id)
		}
	}
	c := s.of[r.ID]
	if c == nil {
		c = &requestCards{due: now.Add(r.Due.Sub(r.Created)), codes: map[int]tokens.Code{}, said: map[int]string{},
			later: map[int]time.Time{}, tries: map[int]int{}, late: map[int]bool{}}
		s.of[r.ID] = c
	}
	for i, code := range codes {
		c.codes[i] = code
	}
}

// stale lists the cards of a request that this process can edit and that do not show how many
// calls wait, or what a yes does. The caller holds mu.
func (c *requestCards) stale(r Request, host string) (stale []int) {
	if r.State != approver.Pending || r.Parked {
		return nil
	}
	for i, p := range r.Postings {
		_, ours := c.codes[i]
		if ours && p.Phase == Posted && !p.Ref.Partial && (p.Hub == "" || p.Hub == host) &&
			(c.said[i] != callersNotice(r, p) || p.Upto != r.Joined && !p.Late) && r.Joined > 0 {
			stale = append(stale, i)
		}
	}
	return stale
}

// edited notes the result of editing a card. A card that the platform refuses for good, or
// that would be too large, stays as it is. Every other failure is tried again, less and less
// often. A screen is tried often: its edits fail because nobody watches, and whoever comes
// must see what waits. The caller holds mu.
func (c *requestCards) edited(i int, notice string, fits, screen bool, err error) {
	delete(c.said, i)
	most := time.Hour
	if screen {
		most = mostEditPause
	}
	switch {
	case !fits || errors.Is(err, approver.ErrFinal) && !screen:
		delete(c.codes, i)
	case err != nil:
		c.late[i] = c.late[i] || mayBeDone(err) && !screen
		c.later[i] = time.Now().Add(pauseAfter(err, c.tries[i], most))
		c.tries[i]++
	default:
		c.said[i] = notice
		delete(c.tries, i)
	}
}

// Edits of a card that waits: so that a burst of calls is one edit.
const (
	firstEdit = 100 * time.Millisecond
	nextEdit  = time.Second
)

// updateCounts updates the number of identical calls on the cards of a request that this
// process posted. At most one goroutine does it for each request.
func (e *editor) updateCounts(r Request) {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	c := e.live.of[r.ID]
	if c == nil || c.busy || len(c.stale(r, e.host)) == 0 {
		return
	}
	c.busy = true
	e.tasks.start(func(ctx context.Context) {
		defer func() {
			e.live.mu.Lock()
			c.busy = false
			e.live.mu.Unlock()
		}()
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
	stale := c.stale(r, e.host)
	some := len(stale) > 0
	stale = slices.DeleteFunc(stale, func(i int) bool { return time.Now().Before(c.later[i]) })
	cards := make([]approver.Card, len(stale))
	fits := make([]bool, len(stale))
	for n, i := range stale {
		cards[n], fits[n] = withCallers(e.cards.card(r, c.codes[i]), r, r.Postings[i])
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
		c.edited(i, callersNotice(r, r.Postings[i]), fits[n], e.channels.screen(r.Postings[i].To.Channel), errs[n])
		late[n] = c.late[i]
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
		r.Postings = slices.Clone(r.Postings)
		for _, i := range cards {
			if i < len(r.Postings) && !r.Postings[i].GivenUp {
				r.Postings[i].Shown = false
			}
		}
		return r, nil
	})
	if err != nil {
		e.log.Warn("a card may show that a request waits, which has ended", "request", r.ID, "error", err)
	}
	e.settle(r.ID)
}
