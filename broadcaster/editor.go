package broadcaster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// An editor updates the cards of requests.
type editor struct {
	*Options
	cards     *Cards
	channels  *Channels
	requests  *Requests
	history   *history
	tasks     *tasks
	handovers *handovers

	live liveCards
}

// A settling is the key of the task that updates the cards of a request that has ended.
type settling string

// settle updates every card of a request that has ended, in the background. At most one update
// runs per request; a further call makes it run once more.
func (e *editor) settle(id string) {
	e.tasks.startSingle(settling(id), true, func(ctx context.Context) { e.settleOnce(ctx, id) })
}

// settleOnce records the end of a request and updates its cards, once.
func (e *editor) settleOnce(work context.Context, id string) {
	ctx := work
	e.handovers.wait(ctx, id)
	was, _, _ := e.requests.cache.last(id)
	noted := e.history.someNoted(was) // now, because the note may be stored once the record is read
	r, _, now, err := e.requests.loadNow(ctx, id)
	for err == nil && e.handovers.some(id) { // it began since, and what was read may be before its last look
		e.handovers.wait(ctx, id)
		r, _, now, err = e.requests.loadNow(ctx, id)
	}
	if err != nil || !r.ended() {
		return
	}
	e.channels.outbox.drop(id) // its cards that were not posted yet are not needed
	if r.State == approver.Consumed && !r.Closed && (noted || e.history.someNoted(r)) {
		return // it may not have been given: whoever stores that settles it, and it is due again
	}
	if r.State == approver.Consumed && !r.Closed && r.ReleasedBy != e.process && now.Sub(r.ReleasedAt) < settleGrace {
		return // its process looks once more before it says so, and the request is due again soon
	}
	todo := e.toShow(r, now)
	if len(todo) == 0 && r.State.Settled() && r.logged() {
		e.forget(id)
		return // all is done
	}
	if err := e.history.follow(ctx, r); err != nil {
		e.Log.Error("the end of a request could not be recorded; trying again", "request", id, "error", err)
		if r.State == approver.Consumed {
			return // nobody is told "approved" while the audit does not follow
		}
	}
	failed, later := e.showNow(ctx, r, todo, now)
	if ctx.Err() != nil {
		todo = nil // what came of the cards is not known
	}
	// The request is closed even if this process ends, so that the next one need not look for
	// what the audit has of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(work), PostTimeout)
	defer cancel()
	var closeErr error
	if !r.logged() {
		closeErr = e.history.durable(ctx, r, false)
	}
	if closeErr != nil {
		e.Log.Error("the records of a request are not durable; trying again", "request", id, "error", closeErr)
		if !r.State.Settled() { // a yes that waits is due only at its end
			e.tasks.start(func(ctx context.Context) {
				if sleep(ctx, time.Second) {
					e.settle(id)
				}
			})
		}
	}
	crossed := false
	after, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (next Request, err error) {
		if next, crossed, err = e.noteShown(fresh, r, todo, failed, now); crossed {
			return next, err
		}
		if closeErr == nil && !next.logged() && next.State.Settled() {
			next, err = next.asLogged(r), nil
		}
		return next, err
	})
	if after.logged() && !crossed && len(later) == 0 {
		e.forget(id)
	}
	if crossed && err == nil {
		e.settle(id)
	}
	for n, i := range todo {
		e.logUpdate(r.Postings[i], id, failed[n], i < len(after.Postings) && after.Postings[i].GivenUp)
	}
	if err == nil && !crossed && len(later) > 0 {
		e.tasks.startSingle(showing(id), false, func(ctx context.Context) { e.showLater(ctx, id, later) })
	}
}

// turnFor is for how long other processes leave cards to this one whose edits wait for their turn.
const turnFor = time.Minute

// errQueued is the error of an edit that begins to wait for its turn.
var errQueued = errors.New("it waits for its turn")

// showNow shows the end of a request on those of its cards whose chats take an edit now. later are the others: they
// do not hold up what is still to be stored of the request.
func (e *editor) showNow(ctx context.Context, r Request, todo []int, now time.Time) (failed []error, later []int) {
	failed = make([]error, len(todo))
	for n, i := range todo {
		if e.channels.outbox.busy(r.Postings[i].To, true) {
			failed[n], later = errQueued, append(later, i)
		}
	}
	e.show(ctx, r, todo, failed, now, PostTimeout, func(int) (Request, error) { return r, nil })
	return failed, later
}

// show shows the end of a request on those of its cards that have no error yet. fresh returns the request when it is
// the turn of the nth of them.
func (e *editor) show(
	ctx context.Context, r Request, todo []int, failed []error, now time.Time, patience time.Duration,
	fresh func(n int) (Request, error),
) {
	since := time.Now().Add(-max(now.Sub(r.Resolution.At), 0))
	_ = inParallel(len(todo), func(n int) error {
		p := r.Postings[todo[n]]
		switch {
		case failed[n] != nil:
		case p.refusedTo(e.process):
			failed[n] = errRefused
		default:
			failed[n] = e.update(ctx, p, func() (approver.Card, error) {
				r, err := fresh(n)
				return e.cards.card(r, e.cards.textsOf(p.To), tokens.Code{}), err
			}, since, patience)
		}
		return nil
	})
}

// A showing is the key of the task that shows the end of a request on cards that wait for their turn. It holds up
// nothing else of the request.
type showing string

// showLater is showNow for cards that wait for their turn.
func (e *editor) showLater(ctx context.Context, id string, todo []int) {
	r, _, now, err := e.requests.loadNow(ctx, id)
	if err != nil || !r.ended() {
		return // it is due again
	}
	failed, drawn := make([]error, len(todo)), make([]Request, len(todo))
	e.show(ctx, r, todo, failed, now, turnFor-2*PostTimeout, func(n int) (fresh Request, err error) {
		if fresh, _, err = e.requests.load(ctx, id); err == nil && !fresh.ended() {
			err = ErrTooSoon // a fail-over undid the end
		}
		drawn[n] = fresh
		return fresh, err
	})
	if ctx.Err() != nil {
		return // what came of them is not known
	}
	if n := slices.Index(failed, nil); n >= 0 {
		r = drawn[n]
	}
	for n, err := range failed {
		if err == nil && endLine(drawn[n]) != endLine(r) {
			failed[n] = errNoTurn // it shows what was so before
		}
	}
	crossed := false
	after, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (next Request, err error) {
		next, crossed, err = e.noteShown(fresh, r, todo, failed, now)
		return next, err
	})
	if err == nil && (crossed || slices.ContainsFunc(failed, func(err error) bool { return errors.Is(err, errNoTurn) })) {
		e.settle(id)
	}
	for n, i := range todo {
		e.logUpdate(r.Postings[i], id, failed[n], i < len(after.Postings) && after.Postings[i].GivenUp)
	}
	if after.logged() {
		e.forget(id)
	}
}

// noteShown notes what came of showing the end that r has. crossed reports that the request changed meanwhile, or a
// fail-over undid something: its cards are updated again.
func (e *editor) noteShown(
	fresh, r Request, todo []int, failed []error, now time.Time,
) (next Request, crossed bool, err error) {
	if fresh.State != r.State || endLine(fresh) != endLine(r) || len(fresh.Postings) < len(r.Postings) {
		next, some := fresh.Postings.unshown(todo)
		if !some {
			return fresh, true, ErrTooSoon
		}
		fresh.Postings = next
		return fresh, true, nil
	}
	postings, changed := fresh.Postings.updated(e.process, r.Postings, todo, failed, now, fresh.Due.Add(editsFor))
	if !changed {
		return fresh, false, errNoChange
	}
	fresh.Postings = postings
	return fresh, false, nil
}

// forget forgets a request that is over.
func (e *editor) forget(id string) {
	e.history.forget(id)
	e.live.forget(id)
}

// toShow lists the postings whose cards this process has to update now.
func (e *editor) toShow(r Request, now time.Time) (todo []int) {
	for i, p := range r.Postings {
		from := p.Next
		if p.refusedTo(e.process) {
			from = from.Add(othersGrace)
		}
		if p.stale() && !now.Before(from) {
			todo = append(todo, i)
		}
	}
	return todo
}

// logUpdate logs once that the card of a posting is tried again, once that it is given up, and
// once that it is right again. p is the posting before the update.
func (e *editor) logUpdate(p Posting, id string, err error, givenUp bool) {
	if err == nil && p.Attempts > 0 {
		e.Log.Info("a card that could not be brought up to date is right again", "request", id, "channel", p.To.Channel,
			"tries", p.Attempts+1)
	}
	if err == nil || isAny(err, errElsewhere, errNoTurn, errQueued) {
		return
	}
	level, what := slog.LevelDebug, "a card could not be brought up to date; trying again"
	switch {
	case errors.Is(err, errRefused):
		level, what = slog.LevelInfo, "a card that cannot be brought up to date is given up, and stays as it is"
	case errors.Is(err, approver.ErrFinal):
		level, what = slog.LevelInfo, "a card cannot be brought up to date by this daemon; another one may"
	case givenUp:
		level, what = slog.LevelWarn, "a card could not be brought up to date and is given up"
	case p.Attempts == 0:
		level = slog.LevelWarn
	}
	e.Log.Log(context.Background(), level, what, "request", id, "channel", p.To.Channel, "tries", p.Attempts+1, "error",
		err)
}

// update updates the cards of a posting if they belong to this hub. Its error is final only if
// that of every card is.
func (e *editor) update(
	ctx context.Context, p Posting, draw func() (approver.Card, error), since time.Time, patience time.Duration,
) error {
	if p.Hub != "" && p.Hub != e.Host {
		return errElsewhere
	}
	var passing, final error
	for _, ref := range p.refs() {
		err := e.channels.updateDrawn(ctx, ref, &send{to: ref.Destination, edit: true, since: since}, draw, patience)
		if errors.Is(err, approver.ErrFinal) {
			final = err
		} else if err != nil {
			passing = err
		}
	}
	if passing != nil {
		return passing
	}
	return final
}
