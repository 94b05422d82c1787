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
	mu     sync.Mutex
	of     map[string]*requestCards // by request
	pruned time.Time
}

type requestCards struct {
	due   time.Time
	cards map[int]*liveCard // by posting
}

type liveCard struct {
	code  tokens.Code
	hash  tokens.Hash // of code: another process may have given the card another one
	owes  bool        // the card does not show the code yet
	said  string      // the last notice on it; empty if that is not known
	full  bool        // it has no room for a notice
	more  int         // how often its request had got more time when it was last edited
	later time.Time   // when a failed edit may be tried again
	tries int         // failures in a row
	late  bool        // an edit of it may still be carried out: see Posting.Late
	since time.Time   // since when an edit of it waits for its turn; zero if none does
	by    time.Time   // until when it is to show the code that it owes
}

// pruneEvery is how often requests are forgotten whose time is over, and whose end another process noted.
const pruneEvery = time.Minute

// note remembers the codes of a request.
func (s *liveCards) note(r Request, codes map[int]tokens.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open(r)
	for i, code := range codes {
		if r.Postings[i].Page { // it stays as it is while its request waits
			continue
		}
		c.cards[i] = &liveCard{code: code, hash: r.Postings[i].Code, more: r.More}
	}
}

// open returns the cards of an open request. The caller holds mu.
func (s *liveCards) open(r Request) *requestCards {
	now := time.Now()
	if now.Sub(s.pruned) >= pruneEvery {
		maps.DeleteFunc(s.of, func(_ string, c *requestCards) bool { return now.After(c.due) })
		s.pruned = now
	}
	if s.of == nil {
		s.of = map[string]*requestCards{}
	}
	c := s.of[r.ID]
	if c == nil {
		due := r.Due.Add(time.Duration(maxMore-r.More) * approver.MoreTime)
		c = &requestCards{due: now.Add(due.Sub(r.Created)), cards: map[int]*liveCard{}}
		s.of[r.ID] = c
	}
	return c
}

// renew remembers codes of a request that its cards have to show.
func (s *liveCards) renew(r Request, codes map[int]tokens.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, now := s.open(r), time.Now()
	for i, code := range codes {
		card := &liveCard{
			code: code, hash: r.Postings[i].Code, more: r.More,
			owes: true, since: now.Add(renewBefore - codeLife), by: now.Add(renewWithin - renewEdit),
		}
		if was := c.cards[i]; was != nil {
			card.full, card.late = was.full, was.late
			if was.owes { // it has waited for longer
				card.since = was.since
			}
		}
		c.cards[i] = card
	}
}

// turn is since when an edit of the card waits, for the outbox, and how long it is worth waiting now. A fresh code is
// urgent, because the one on the card is about to end: its edit counts as one that has waited since the card got that.
func (c *liveCard) turn(now time.Time) (since time.Time, patience time.Duration) {
	if c.since.IsZero() {
		c.since = now
	}
	if c.owes {
		return c.since, min(max(c.by.Sub(now), 0), PostTimeout)
	}
	return c.since.Add(countPatience), PostTimeout
}

// forget forgets a request whose end its cards show.
func (s *liveCards) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, id)
}

// stale lists the cards of a request that this process can edit and that do not show until when
// the request waits, how many calls wait, or what a yes does. The caller holds mu.
func (c *requestCards) stale(r Request, host string) (stale []int) {
	if r.State != approver.Pending {
		return nil
	}
	for i, p := range r.Postings {
		card := c.cards[i]
		if card != nil && p.Phase == Posted && (p.Hub == "" || p.Hub == host) &&
			card.hash.Equal(p.Code) && (card.owes || card.more != r.More ||
			card.counts(r, p) && (card.said != callersText(r, p) || p.Upto != r.Joined && !p.Late)) {
			stale = append(stale, i)
		}
	}
	return stale
}

// counts reports whether the card of a posting is to show how many calls wait.
func (c *liveCard) counts(r Request, p Posting) bool {
	return r.Joined > 0 && !r.Parked && !p.Ref.Partial && !c.full
}

// A variant is a card as it may be edited to. counts reports that it shows how many calls wait.
type variant struct {
	card   approver.Card
	counts bool
}

// variants are the card of a posting as it may be now: the first one for which its message has room is to be
// shown. The later ones leave out lines that the card had not when it was posted. There is none if the
// card has no room for the calls that wait, and shows all the rest already. A card that is large, or cut
// already, gets no further line, for which it would show less of the rest.
func (c *liveCard) variants(r Request, p Posting, draw func(Request) approver.Card) (all []variant) {
	card := draw(r)
	whole, fits := withCallers(card, r, p)
	if c.owes && p.Upto > 0 { // it shows what a typed yes is for, and goes on
		return []variant{{whole, true}}
	}
	if c.counts(r, p) && fits {
		all = append(all, variant{whole, true})
	}
	c.full = c.full || c.counts(r, p) && !fits
	if c.more == r.More && !c.owes || p.Upto > 0 { // else it would no longer show what a typed yes is for
		return all
	}
	if fits && !p.Ref.Partial {
		all = append(all, variant{card: card})
	}
	r.MoreBy = ""
	all = append(all, variant{card: draw(r)})
	if !r.ParkAt.IsZero() && !p.Ref.Partial {
		r.ParkAt = time.Time{}
		all = append(all, variant{card: draw(r)})
	}
	return all
}

// editFirst edits a card to the first variant for which its message has room, and reports whether that shows
// how many calls wait. full reports that there is no such variant: the card stays as it is, because a
// yes counts only on a card that shows what it is for. If there is none at all, the error is ErrShowsLess.
func (e *editor) editFirst(
	ctx context.Context, ref approver.Ref, all []variant, since time.Time, patience time.Duration,
) (counts, full bool, err error) {
	for _, v := range all {
		err = e.channels.updateSoon(ctx, ref, v.card, since, patience)
		if !errors.Is(err, approver.ErrShowsLess) {
			return v.counts && err == nil, full, err
		}
		full = full || v.counts
	}
	return false, full, err
}

// edited notes the result of editing a card, and reports whether an edit of it may still be
// carried out. more is how often its request had got more time. A card that the platform refuses for good
// stays as it is. Every other failure is tried again, less and less often. A screen is tried often: its
// edits fail because nobody watches, and whoever comes must see what waits. The caller holds
// mu.
func (c *requestCards) edited(i int, notice string, more int, screen bool, err error) (late bool) {
	card := c.cards[i]
	if errors.Is(err, errNoTurn) { // the card is as it was
		return card.late
	}
	if card.said = ""; err == nil || !card.owes {
		card.since = time.Time{}
	}
	most := time.Hour
	if screen {
		most = mostEditPause
	}
	switch {
	case errors.Is(err, approver.ErrFinal) && !screen:
		delete(c.cards, i)
	case err != nil:
		card.late = card.late || mayBeDone(err) && !screen
		card.later = time.Now().Add(pauseAfter(err, card.tries, most))
		card.tries++
	default:
		card.said, card.more, card.tries, card.owes = notice, more, 0, false
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

// updateCounts updates the number of identical calls, and until when the request waits, on the cards
// that this process posted. At most one goroutine does it for each request.
func (e *editor) updateCounts(r Request) {
	e.live.mu.Lock()
	c := e.live.of[r.ID]
	id, some := r.ID, c != nil && len(c.stale(r, e.Host)) > 0
	e.live.mu.Unlock()
	if !some {
		return
	}
	e.tasks.startSingle(counting(id), false, func(ctx context.Context) {
		for wait := firstEdit; sleep(ctx, wait) && e.updateCountsOnce(ctx, id, c); wait = nextEdit {
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
	variants, cards := make([][]variant, len(stale)), make([]*liveCard, len(stale))
	since, patience := make([]time.Time, len(stale)), make([]time.Duration, len(stale))
	for n, i := range stale {
		p, code := r.Postings[i], c.cards[i].code
		cards[n] = c.cards[i]
		since[n], patience[n] = cards[n].turn(time.Now())
		variants[n] = cards[n].variants(r, p, func(r Request) approver.Card {
			return e.cards.card(r, e.cards.textsOf(p.To), code)
		})
	}
	e.live.mu.Unlock()
	if len(stale) == 0 {
		return some
	}
	done, full := make([]bool, len(stale)), make([]bool, len(stale))
	errs, results := make([]error, len(stale)), make([]error, len(stale))
	_ = inParallel(len(stale), func(n int) error {
		done[n], full[n], results[n] = e.editFirst(ctx, r.Postings[stale[n]].Ref, variants[n], since[n],
			patience[n])
		if errs[n] = results[n]; errors.Is(errs[n], approver.ErrShowsLess) {
			errs[n] = nil // it stays as it is
		}
		if e.channels.nobodyThere(r.Postings[stale[n]].To.Channel, results[n]) {
			results[n] = errUnseen // whoever comes sees it
		}
		return nil
	})
	late := make([]bool, len(stale))
	e.live.mu.Lock()
	for n, i := range stale {
		screen, notice := e.channels.screen(r.Postings[i].To.Channel), ""
		if done[n] {
			notice = callersText(r, r.Postings[i])
		}
		if c.cards[i] != cards[n] { // it has another code by now
			late[n] = mayBeDone(errs[n]) && !screen
			continue
		}
		c.cards[i].full = c.cards[i].full || full[n]
		late[n] = c.edited(i, notice, r.More, screen, errs[n])
	}
	e.live.mu.Unlock()
	now, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		next, coded := fresh.codesShown(r, stale, results, now)
		next, err := counted(next, r, stale, done, late, now)
		if coded && errors.Is(err, errNoChange) {
			err = nil
		}
		return next, err
	})
	if now.ended() {
		e.over(ctx, now, stale)
		return false
	}
	return err == nil || errors.Is(err, errNoChange)
}

// A following is the key of the task that looks after the cards of a request that nobody waits for.
type following string

// follow keeps the cards of a request that is parked up to date. No courier waits for it, and another
// process may take what people want. While no card is there, it does nothing: it is called again with the first one.
func (e *editor) follow(id string) {
	e.tasks.startSingle(following(id), true, func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var hint <-chan struct{}
		for watched := false; ; watched = true {
			r, _, err := e.requests.load(ctx, id)
			posted := slices.ContainsFunc(r.Postings, func(p Posting) bool { return p.Phase == Posted })
			if errors.Is(err, approver.ErrNotFound) || err == nil && (r.ended() || !posted) {
				return
			}
			if !watched {
				hint = hints(ctx, e.Store, approver.Key("req", id))
			}
			if err == nil {
				e.updateCounts(r)
			}
			if !hinted(ctx, &hint, followEvery) {
				return
			}
		}
	})
}

// followEvery is how often a parked request is looked at without a hint.
const followEvery = 15 * time.Second

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
