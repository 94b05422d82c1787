package broadcaster

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// A poster posts the cards of requests.
type poster struct {
	*Options
	cards    *Cards
	channels *Channels
	requests *Requests
	codes    *codes
	history  *history
	editor   *editor
	tasks    *tasks
	uptime   *uptime
	senders  *senders

	turns turns // of renewals
}

// A report is the result of trying to post one card. The last one of a card has again unset.
type report struct {
	i     int // of the posting
	ref   approver.Ref
	err   error
	again bool // more tries follow
	tries int
	// unsure reports that a try may have been carried out although it failed: see Posting.
	unsure   bool
	left     bool // to the other processes that share the store
	page     bool // it only calls people to the cards: see Posting
	replaces bool // another card, which a crash left without a trace
}

// ensureQuestionRecorded has the audit take the question before anybody sees it. If that fails,
// the request is denied.
func (d *poster) ensureQuestionRecorded(ctx context.Context, r Request) bool {
	err := d.history.followQuestion(ctx, r)
	if err == nil {
		return true
	}
	d.Log.Error("a question could not be recorded, so the call is denied", "request", r.ID, "error", err)
	if _, err := d.requests.fail(ctx, r.ID, approver.Unrecorded); err != nil {
		d.Log.Error("nor could the denial be stored; no card goes out", "request", r.ID, "error", err)
	}
	return false
}

// postUntil posts one card. A failure that may be temporary is tried again while the request
// needs the card, always with the same code: if the platform carried out a post whose answer
// was lost, that card works as well. Interim results are stored meanwhile, at most twice. limit bounds the first
// try, whose turn it is.
func (d *poster) postUntil(ctx context.Context, r Request, c *carried, limit time.Duration, end turn) report {
	rep := report{i: c.i, page: r.Postings[c.i].Page}
	c.tried = time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		rep.tries++
		rep.ref, rep.err = d.postOne(ctx, r, c.i, c.code, limit)
		// A refused post was not carried out; every other failure may have been.
		was := rep.unsure
		rep.unsure = was || rep.err != nil && ctx.Err() == nil && mayBeDone(rep.err)
		if end(unlessEnded(rep.err)); rep.err == nil || ctx.Err() != nil || errors.Is(rep.err, approver.ErrFinal) ||
			d.hopeless(ctx, r, c.tried, &rep) {
			return rep
		}
		wait, more := jittered(pause), time.Duration(0)
		var patience approver.Patience
		if errors.As(rep.err, &patience) {
			wait = max(patience.RetryAfter(), 0)
			more = rand.N(wait/10 + time.Millisecond) //nolint:gosec // only not all at once
		}
		if rep.tries == 1 || rep.unsure && !was {
			said := rep
			said.again = true
			d.tasks.start(func(ctx context.Context) { c.tell(ctx, said) })
		}
		var left time.Duration
		if left, end = c.again(ctx, wait, more); left <= 0 {
			return rep
		}
		limit = min(left, PostTimeout)
	}
}

// unlessEnded is what a try says of its platform: nothing if its channel has ended.
func unlessEnded(err error) error {
	if errors.Is(err, errEnded) {
		return errUnused
	}
	return err
}

// postOne tries once to post a card.
func (d *poster) postOne(
	work context.Context, r Request, i int, code tokens.Code, limit time.Duration,
) (ref approver.Ref, err error) {
	ctx, cancel := context.WithTimeout(work, limit)
	defer cancel()
	to := r.Postings[i].To
	if err := d.channels.Deaf(to.Channel); err != nil {
		return ref, err
	}
	err = unpanicked(func() (err error) {
		ref, err = d.channels.byName[to.Channel].Post(ctx, to, d.cards.card(r, d.cards.textsOf(to), code))
		return err
	})
	if err == nil && ref.Message == "" {
		err = errors.New("the channel returned no message id")
	}
	d.channels.noteSent(work, to, err, d.channels.states.posted)
	ref.Destination = to
	return ref, err
}

// waitWhileWanted waits for a pause and returns the request, and for how long it then still needs the
// card. It adds up to more, but leaves time before the deadline. It returns zero at once when
// the request has ended, or when the card was found by its button or replaced.
func (d *poster) waitWhileWanted(
	ctx context.Context, id string, i int, pause, more time.Duration,
) (Request, time.Duration) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hint := hints(ctx, d.Store, approver.Key("req", id))
	over, there := time.Now().Add(pause), time.Now()
	for {
		r, _, now, err := d.requests.loadNow(ctx, id)
		wait, left := max(time.Until(over), 0), r.Due.Sub(now)
		if err == nil && more > 0 {
			more = min(more, max(left-wait, 0)/2)
			over, wait, more = over.Add(more), wait+more, 0
		}
		switch {
		case errors.Is(err, approver.ErrNotFound) && time.Since(there) > vanishedAfter:
			return r, 0
		case err != nil:
			wait = max(wait, pollEvery)
		case r.State != approver.Pending || i >= len(r.Postings) || r.Postings[i].Phase != Sending || left <= 0:
			return r, 0
		case wait == 0:
			return r, left
		default:
			wait, there = min(wait, left), time.Now()
		}
		if !hinted(ctx, &hint, wait) {
			return r, 0
		}
	}
}

// The pause after the first try of a card that failed, which doubles with each, and
// the longest one.
const (
	firstPause = 300 * time.Millisecond
	maxPause   = 10 * time.Second
)

// noteBatch stores the results of some posts and acts on them. A card that is visible is noted
// even while this process stops: without a note it would be posted twice.
func (d *poster) noteBatch(ctx context.Context, id string, batch []report) {
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*PostTimeout)
	defer cancel()
	batch = append(d.senders.takeLost(id), batch...)
	now, err := d.note(noting, id, batch, ctx.Err() != nil)
	for err != nil && sleep(noting, pollEvery) { // the store may come back in time
		now, err = d.note(noting, id, batch, ctx.Err() != nil)
	}
	if err != nil {
		d.Log.Error("could not note yet where a card is", "request", id, "error", err)
		d.senders.lost(id, batch)
		return
	}
	d.recordBatch(noting, now, batch)
}

// noteLost is noteBatch for what could not be stored before.
func (d *poster) noteLost(ctx context.Context, id string) {
	batch := d.senders.takeLost(id)
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, PostTimeout)
	defer cancel()
	now, err := d.note(ctx, id, batch, false)
	switch {
	case isAny(err, approver.ErrNotFound, ErrTooSoon, approver.ErrTampered):
		d.Log.Warn("where a card is cannot be noted", "request", id, "error", err)
	case err != nil:
		d.senders.lost(id, batch)
	default:
		d.recordBatch(ctx, now, batch)
		d.noteUnreachable(ctx, id)
	}
}

// recordBatch acts on the results of some posts, once they are stored.
func (d *poster) recordBatch(ctx context.Context, now Request, batch []report) {
	for _, rep := range batch {
		d.recordOutcome(ctx, now, rep)
	}
	if now.ended() {
		d.editor.settle(now.ID) // the answer was faster than the card
	}
}

// note stores the results of some posts. A card whose post was interrupted by the end of this
// process stays Sending, and the next process posts it anew. A replacement that the platform
// refuses this process for good is left to the others: one of them may have a bot in that
// chat.
func (d *poster) note(ctx context.Context, id string, batch []report, stopping bool) (Request, error) {
	return d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		r.Postings = slices.Clone(r.Postings)
		for _, rep := range batch {
			if rep.i >= len(r.Postings) {
				return r, ErrTooSoon // a fail-over took the posting back
			}
			p := &r.Postings[rep.i]
			p.Unsure = p.Unsure || rep.unsure
			switch {
			case p.Phase == Void:
			case rep.err == nil:
				p.arrived(rep.ref)
				p.PostedAt = now
				if !p.CodeTill.IsZero() {
					p.CodeTill = now.Add(codeLife)
				}
			case p.Phase != Sending: // the card was found by its button
			case rep.again:
				p.Error, p.Full = rep.err.Error(), false
			case stopping:
			case rep.left:
				p.Until, p.Left, p.Error = now, d.process, rep.err.Error()
				p.Sender, p.Full = "", false
			case rep.replaces && errors.Is(rep.err, approver.ErrFinal) && !p.Unsure:
				p.Until, p.Refused, p.Error = now, append(slices.Clone(p.Refused), d.process), rep.err.Error()
				p.Sender, p.Full = "", false
			default:
				p.Phase, p.Error, p.Sender, p.Full = Failed, rep.err.Error(), "", false
			}
		}
		return r, nil
	})
}

// recordOutcome records the result of one post. A card that was replaced while it was on its
// way is retired.
func (d *poster) recordOutcome(ctx context.Context, r Request, rep report) {
	i, to := rep.i, r.Postings[rep.i].To
	if rep.err != nil {
		d.logReport(r, rep, to.Channel)
		return
	}
	if rep.tries > 1 {
		d.Log.Info("a card was posted after all", "request", r.ID, "channel", to.Channel, "tries", rep.tries)
	}
	if r.Postings[i].Phase == Void {
		d.editor.retire(ctx, r, rep.ref)
		return
	}
	if err := d.history.followQuestion(ctx, r); err != nil {
		d.Log.Error("audit failed", "request", r.ID, "error", err)
	}
	if r.Parked && !r.ended() {
		d.editor.follow(r.ID)
	}
}

// recordFound records a card that was found by its button. which distinguishes the cards of a request.
func (d *poster) recordFound(ctx context.Context, r Request, which string, ref approver.Ref, how string) {
	if err := d.history.found(ctx, r, which, ref, how); err != nil {
		d.Log.Error("audit failed", "request", r.ID, "error", err)
	}
}

// logReport logs once that a card is tried again, and once that it is given up. A channel that
// has ended is logged elsewhere, and a terminal that nobody watches is no fault.
func (d *poster) logReport(r Request, rep report, channel string) {
	level, what := slog.LevelWarn, "a card could not be posted"
	switch {
	case d.channels.nobodyThere(channel, rep.err):
		level, what = slog.LevelDebug, "nobody is there to see a card"
	case rep.left:
		level, what = slog.LevelInfo, "a card is left to the other daemons that share the store"
	case errors.Is(rep.err, errEnded) && rep.again:
		level, what = slog.LevelDebug, "a card waits for its channel to come back"
	case rep.again && rep.tries == 1:
		what = "a card could not be posted; trying again until the request's deadline"
	case rep.again:
		level, what = slog.LevelDebug, "a card could not be posted; trying again"
	case r.State != approver.Pending && r.Resolution.Cause != approver.Unreachable &&
		r.Resolution.Cause != approver.TimedOut && r.Resolution.Cause != approver.NoRoom:
		level, what = slog.LevelInfo, "a card is no longer needed and was not posted"
	case r.State.Settled() && !errors.Is(rep.err, approver.ErrFinal) && !errors.Is(rep.err, errEnded):
		// The log says already that it was tried again.
		level, what = slog.LevelDebug, "a card was not posted before its request ended"
	}
	d.Log.Log(context.Background(), level, what, "request", r.ID, "channel", channel, "tries", rep.tries, "error", rep.err)
}

// noteUnreachable denies a pending request none of whose cards is visible or on its way. A
// card whose post was not confirmed may be visible, so its request stays open.
func (d *poster) noteUnreachable(ctx context.Context, id string) {
	r, err := d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending || !r.Climb.Next.IsZero() { // answered without a card, or the ladder goes on
			return r, ErrSettled
		}
		for _, p := range r.Postings {
			if !p.Page && (p.Phase == Posted || p.Phase == Sending || p.Unsure && p.Phase != Void) {
				return r, ErrTooSoon
			}
		}
		return r.End(approver.Denied, approver.Unreachable, now)
	})
	if err == nil {
		if agent, why := d.channels.unreached(r); agent != seeLog { // else the log has each platform's error
			d.Log.Info("nobody could be asked, so a call is denied", "request", id, "why", strings.TrimLeft(why, ":. "))
		}
		d.editor.settle(id)
	}
}
