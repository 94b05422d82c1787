package broadcaster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/tokens"
	"github.com/google/uuid"
)

// This file lets identical calls that wait at the same time share one request, and
// keeps its cards saying how many they are.

// claimTime is how long identical calls wait for the record of a request that another
// of them is making.
const claimTime = 2 * time.Second

// shareable reports whether a call may wait together with identical ones. Nobody waits
// for an appeal, and what the daemon asks about itself stands alone.
func shareable(call approver.ToolCall, why approver.Verdict) bool {
	return call.Control == "" && call.Peer.Known && why.Appeal.Of == ""
}

// openShared finds the request of an identical call that waits, or makes one that others
// can find. dead is a request that the call's id leads to and that is not its own.
func (o *opener) openShared(ctx context.Context, call approver.ToolCall, why approver.Verdict, bound approver.Binding, holder, dead string) (Request, error) {
	if !shareable(call, why) {
		return o.create(ctx, call, why, bound, holder, dead)
	}
	key := approver.Key("same", scopeOf(call, bound.Fingerprint))
	claimed := ""
	for give := time.Now(); ; {
		id, rev, err := o.store.Get(ctx, key)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return Request{}, err
		}
		if other := string(id); other != "" {
			r, err := o.joinOpen(ctx, other, call, why, bound.Fingerprint, holder, dead)
			if !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, errApart) {
				return r, err
			}
			if claimed != other {
				claimed, give = other, time.Now().Add(claimTime)
			}
			// Another identical call is making it at this moment, or has died over it.
			if errors.Is(err, approver.ErrNotFound) && time.Now().Before(give) && sleep(ctx, retryEvery) {
				continue
			}
		}
		mine, err := uuid.NewV7()
		if err != nil {
			return Request{}, err
		}
		next := approver.NewRev()
		err = o.records.put(ctx, key, []byte(mine.String()), rev, next, time.Time{}, time.Now().Add(o.keepFor+time.Hour))
		if errors.Is(err, approver.ErrConflict) {
			continue
		} else if err != nil {
			return Request{}, err
		}
		r, err := o.createAs(ctx, mine.String(), call, why, bound, holder, dead)
		if err != nil { // nobody is to wait for it
			_ = o.records.put(context.WithoutCancel(ctx), key, nil, next, approver.NewRev(), time.Time{}, time.Now().Add(o.keepFor))
		}
		return r, err
	}
}

// errApart means that a request is not one that this call can wait for.
var errApart = errors.New("the request is not for this call")

// joinOpen lets a call wait for the answer to an identical one. ErrNotFound means that
// there is no record of that, errApart that this call needs a request of its own.
func (o *opener) joinOpen(ctx context.Context, id string, call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint, holder, dead string) (Request, error) {
	r, _, now, err := o.requests.loadNow(ctx, id)
	switch {
	case unreadable(err):
		return r, errApart
	case err != nil:
		return r, err
	case r.State != approver.Pending || r.Parked || !r.sameCall(call, fp) || r.Verdict.Appeal.Of != "" || !covers(r.Verdict, why):
		return r, errApart
	}
	// The agent kills its hook at its own deadline, which must not be before the answer.
	// Calls that come at once have deadlines that are not quite the same.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline)-AnswerMargin/2 < r.Due.Sub(now) {
		return r, errApart
	}
	// A courier whose connection is lost finds its request by the call's id.
	led := false
	if dead != id {
		led, err = o.requests.leadTo(ctx, call.ID, dead, id, r.Due.Add(o.keepFor))
	}
	if err != nil {
		return r, err
	}
	// A call that waits is in the audit, whatever ends this process or fails next. That is
	// recorded once, however often it is tried.
	_, err = o.audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventAsked, At: call.At, Request: id, Once: id + ":asked:" + call.ID, Fingerprint: fp, Call: call, Verdict: why,
		Note: "it waits for the answer to an identical call",
	})
	if err != nil {
		return r, err
	}
	r, err = o.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.lists(call.ID) {
			return r, errReused // the same courier is here on two connections: it has its request
		}
		return r.Join(call.ID, holder, now)
	})
	switch {
	case errors.Is(err, ErrSettled), errors.Is(err, approver.ErrOverdue), errors.Is(err, ErrTooSoon):
		switch {
		case dead == id:
			return r, errApart
		case !led: // another connection of this courier is at it
			return r, errReused
		}
		// The id leads there now; left says that the answer is not for this call.
		return o.requests.apart(ctx, call.ID, id, dead, err)
	}
	return r, err
}

// leadTo makes a call's id lead to a request, and reports whether it did not before. An
// id that leads to another than dead is in use on two connections at once.
func (q *Requests) leadTo(ctx context.Context, callID, dead, id string, keep time.Time) (led bool, err error) {
	was, rev, err := q.requestOf(ctx, callID)
	switch {
	case err != nil && !errors.Is(err, approver.ErrNotFound):
		return false, err
	case was == id:
		return false, nil
	case was != dead:
		return false, errReused
	}
	err = q.records.put(ctx, approver.Key("call", callID), []byte(id), rev, approver.NewRev(), time.Time{}, keep)
	if errors.Is(err, approver.ErrConflict) {
		return false, errReused
	}
	return err == nil, err
}

// apart undoes leadTo for a call that came too late to a request.
func (q *Requests) apart(ctx context.Context, callID, id, dead string, why error) (Request, error) {
	if _, err := q.leadTo(ctx, callID, id, dead, time.Now().Add(q.keepFor)); err != nil {
		return Request{}, errors.Join(why, err)
	}
	return Request{}, errApart
}

// share releases one more call of a request whose yes is for several. A call that comes
// back for it may be judged otherwise by now: why is what asks about it.
func (l *releases) share(ctx context.Context, r Request, call approver.ToolCall, why approver.Verdict, holder string) (Request, bool, error) {
	if !covers(r.Verdict, why) {
		return r, false, ErrNotBound
	}
	bound, err := l.fingerprint(context.WithoutCancel(ctx), call)
	if err != nil {
		return r, false, err
	}
	var at time.Time
	r, err = l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		at = now
		return r.Share(call.ID, bound.Fingerprint, holder, l.uptime.backSince(now), now)
	})
	switch {
	case errors.Is(err, ErrSettled):
		return r, false, errAnswered
	case errors.Is(err, approver.ErrOverdue):
		return r, false, errTooOld
	case err != nil:
		return r, false, err
	}
	err = l.grants.stillGood(ctx, r, call)
	if err == nil {
		rec := r.record(approver.EventReleased)
		rec.At, rec.Once, rec.Call = at, approver.OnceShared(r.ID, r.Also[r.beside(call.ID)].N), call
		rec.Note = "by the yes to a card that showed this call with identical ones"
		_, err = l.audit.Record(context.WithoutCancel(ctx), rec)
	}
	if err != nil {
		l.lose(ctx, r, call.ID)
		return r, false, err
	}
	return r, ctx.Err() == nil, ctx.Err()
}

// lose notes that a call took its yes and was not released, so that no card counts it.
func (l *releases) lose(ctx context.Context, r Request, callID string) {
	_, err := l.requests.change(context.WithoutCancel(ctx), r.ID, func(r Request, _ time.Time) (Request, error) {
		i, was := r.beside(callID), r
		if i < 0 || r.Also[i].Lost {
			return r, errNoChange
		}
		r.Also = slices.Clone(r.Also)
		r.Also[i].Lost = true
		return r.sayAnew(was), nil
	})
	if err != nil && !errors.Is(err, errNoChange) {
		l.log.Warn("cards may count a call that was not released", "request", r.ID, "call", callID, "error", err)
	}
	l.editor.settle(r.ID)
}

// shown has the codes of the cards that this process posted, while they wait, and what it
// last said on each: a code is in no record, so only who posted a card can edit it.
type shown struct {
	mu sync.Mutex
	of map[string]*shownCards // by request
}

type shownCards struct {
	due   time.Time
	codes map[int]tokens.Code
	said  map[int]string    // the last notice on a card, by posting; none is not known
	later map[int]time.Time // before which a card whose edit failed is left alone
	tries map[int]int       // how often in a row it failed
	late  map[int]bool      // an edit of it may still be carried out: see Posting.Late
	busy  bool
}

// note remembers codes of a request, and forgets those whose time is over.
func (s *shown) note(r Request, codes map[int]tokens.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*shownCards{}
	}
	now := time.Now()
	for id, c := range s.of {
		if now.After(c.due) && !c.busy {
			delete(s.of, id)
		}
	}
	c := s.of[r.ID]
	if c == nil {
		c = &shownCards{due: now.Add(r.Due.Sub(r.Created)), codes: map[int]tokens.Code{}, said: map[int]string{}, later: map[int]time.Time{}, tries: map[int]int{}, late: map[int]bool{}}
		s.of[r.ID] = c
	}
	for i, code := range codes {
		c.codes[i] = code
	}
}

// stale lists the cards of a request that this process can edit and that do not say how
// many calls wait, or what a yes does. The caller holds mu.
func (c *shownCards) stale(r Request, host string) (stale []int) {
	if r.State != approver.Pending || r.Parked {
		return nil
	}
	for i, p := range r.Postings {
		_, ours := c.codes[i]
		if ours && p.Phase == Posted && !p.Ref.Partial && (p.Hub == "" || p.Hub == host) && (c.said[i] != r.callersNotice(p) || p.Upto != r.Joined && !p.Late) && r.Joined > 0 {
			stale = append(stale, i)
		}
	}
	return stale
}

// Edits of a card that waits: so that a burst of calls is one edit.
const (
	firstEdit = 100 * time.Millisecond
	nextEdit  = time.Second
)

// recount brings the number of identical calls on the cards of a request up to date, if
// this process posted them. At most one goroutine does it for each request.
func (e *editor) recount(r Request) {
	e.shown.mu.Lock()
	defer e.shown.mu.Unlock()
	c := e.shown.of[r.ID]
	if c == nil || c.busy || len(c.stale(r, e.host)) == 0 {
		return
	}
	c.busy = true
	e.tasks.start(func(ctx context.Context) {
		defer func() {
			e.shown.mu.Lock()
			c.busy = false
			e.shown.mu.Unlock()
		}()
		for wait := firstEdit; sleep(ctx, wait) && e.recountOnce(ctx, r.ID, c); wait = nextEdit {
		}
	})
}

// edited notes what became of the edit of a card. One that the platform refuses for good,
// or that does not fit, stays as it is; any other is tried again, ever more rarely and not
// before the platform allows it. On a screen that is because nobody watches: whoever comes
// is to see what waits then. The caller holds mu.
func (c *shownCards) edited(i int, notice string, fits, screen bool, err error) {
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

// recountOnce edits the cards that need it, and reports whether there were any.
func (e *editor) recountOnce(ctx context.Context, id string, c *shownCards) bool {
	r, _, err := e.requests.load(ctx, id)
	if err != nil {
		return false
	}
	e.shown.mu.Lock()
	stale := c.stale(r, e.host)
	some := len(stale) > 0
	stale = slices.DeleteFunc(stale, func(i int) bool { return time.Now().Before(c.later[i]) })
	cards := make([]approver.Card, len(stale))
	fits := make([]bool, len(stale))
	for n, i := range stale {
		cards[n], fits[n] = withCallers(e.cards.card(r, c.codes[i]), r, r.Postings[i])
	}
	e.shown.mu.Unlock()
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
	e.shown.mu.Lock()
	for n, i := range stale {
		c.edited(i, r.callersNotice(r.Postings[i]), fits[n], e.channels.screen(r.Postings[i].To.Channel), errs[n])
		late[n] = c.late[i]
	}
	e.shown.mu.Unlock()
	now, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) { return fresh.nowShows(r, stale, done, late, now) })
	if now.ended() {
		e.over(ctx, now, stale)
		return false
	}
	return err == nil || errors.Is(err, errNoChange)
}

// nowShows notes that cards show the callers that r had, or may at any time show fewer.
func (fresh Request) nowShows(r Request, cards []int, done, late []bool, now time.Time) (Request, error) {
	if fresh.State != approver.Pending || len(fresh.Postings) < len(r.Postings) {
		return fresh, ErrTooSoon
	}
	changed := false
	postings := append([]Posting(nil), fresh.Postings...)
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

// over shows the end of a request on cards that were edited while it came: that edit may
// have been the later one.
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
