package broadcaster

import (
	"errors"
	"sync"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// liveCards has the codes of the cards that this process posted, while they wait, and what it
// last said on each: a code is in no record, so only who posted a card can edit it.
type liveCards struct {
	mu sync.Mutex
	of map[string]*requestCards // by request
}

type requestCards struct {
	due   time.Time
	codes map[int]tokens.Code
	said  map[int]string    // the last notice on a card, by posting; none is not known
	later map[int]time.Time // before which a card whose edit failed is left alone
	tries map[int]int       // how often in a row it failed
	late  map[int]bool      // an edit of it may still be carried out: see Posting.Late
	busy  bool
}

// note remembers codes of a request, and forgets those whose time is over.
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

// stale lists the cards of a request that this process can edit and that do not say how
// many calls wait, or what a yes does. The caller holds mu.
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

// edited notes what became of the edit of a card. One that the platform refuses for good,
// or that does not fit, stays as it is; any other is tried again, ever more rarely and not
// before the platform allows it. On a screen that is because nobody watches: whoever comes
// is to see what waits then. The caller holds mu.
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
