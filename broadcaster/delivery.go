package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// This file brings cards before people and up to date. What is still to be
// done is always in the record, so that any replica can go on after a crash.

// A report is what became of trying to post one card. Unless again is set it is the
// last one.
type report struct {
	i     int // of the posting
	ref   approver.Ref
	err   error
	again bool // it is tried again
	tries int
	// unsure reports that a try may have been carried out although it failed, and
	// whole that the card would show everything: see Posting.
	unsure, whole bool
	replaces      bool // another card, which a crash left without a trace
}

// sendingFor is how long the note that a card is on its way holds others off. Who
// sends it renews that in good time.
const sendingFor = PostTimeout + time.Second

// A poster brings the cards of requests before people.
type poster struct {
	cards        *Cards
	channels     *Channels
	requests     *Requests
	codes        *codes
	editor       *editor
	tasks        *tasks
	uptime       *uptime
	audit        approver.Recorder
	destinations []approver.Destination
	host         string
	keepFor      time.Duration
	log          *slog.Logger
	process      string
	store        approver.KV
}

// post sends the cards whose codes are given, all at once: a dead channel
// delays nobody. When none could be shown anywhere, the request is denied.
// replaces says that they take the place of others: see note.
func (d *poster) post(ctx context.Context, r Request, codes map[int]tokens.Code, replaces bool) {
	if !d.askedFor(ctx, r) {
		return
	}
	reports := make(chan report, 3*len(codes)) // as many as there can be
	under := map[int]bool{}
	for i, code := range codes {
		under[i] = true
		go func() { // awaited below: each sends exactly one last report
			reports <- d.postUntil(ctx, r, i, code, reports)
		}()
	}
	renew := time.NewTicker(sendingFor / 2)
	defer renew.Stop()
	shown := false
	for len(under) > 0 {
		var batch []report
		select {
		case <-renew.C:
			d.renew(ctx, r.ID, under)
			continue
		case rep := <-reports:
			batch = append(batch, rep)
		}
		for more := true; more; {
			select {
			case rep := <-reports:
				batch = append(batch, rep)
			default:
				more = false
			}
		}
		for n, rep := range batch {
			batch[n].replaces = replaces
			if !rep.again {
				delete(under, rep.i)
			}
			shown = shown || rep.err == nil
		}
		d.noteBatch(ctx, r.ID, batch)
	}
	if ctx.Err() == nil && !shown {
		d.noteUnreachable(ctx, r.ID)
	}
}

// noteBatch stores what became of some cards, and does what follows. What is on the
// phones is noted even while this process stops: a card without a note would be
// posted twice.
func (d *poster) noteBatch(ctx context.Context, id string, batch []report) {
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*PostTimeout)
	defer cancel()
	now, err := d.note(noting, id, batch, ctx.Err() != nil)
	for err != nil && sleep(noting, pollEvery) { // the store may come back in time
		now, err = d.note(noting, id, batch, ctx.Err() != nil)
	}
	if err != nil {
		d.log.Error("could not note where a card is", "request", id, "error", err)
		return
	}
	for _, rep := range batch {
		d.posted(noting, now, rep)
	}
	if now.ended() {
		d.editor.settle(id) // the answer was faster than the card
	}
}

// renew notes that this process still tries to post some cards, so that nobody else
// does.
func (d *poster) renew(ctx context.Context, id string, under map[int]bool) {
	ctx, cancel := context.WithTimeout(ctx, sendingFor/4) // a store that is away must not hold up the rest
	defer cancel()
	_, err := d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending {
			return r, ErrSettled
		}
		changed := false
		r.Postings = slices.Clone(r.Postings)
		for i := range r.Postings {
			if p := &r.Postings[i]; under[i] && p.Phase == Sending {
				p.Until, changed = now.Add(sendingFor), true
			}
		}
		if !changed {
			return r, errNoChange
		}
		return r, nil
	})
	if err != nil && !errors.Is(err, ErrSettled) && !errors.Is(err, errNoChange) {
		d.log.Debug("could not note that a card is still on its way", "request", id, "error", err)
	}
}

// askedFor makes the record of the question durable before anybody sees it. If
// that fails, the request is denied.
func (d *poster) askedFor(ctx context.Context, r Request) bool {
	if r.Asked {
		return true
	}
	err := d.recordAsked(ctx, r)
	if err == nil {
		return true
	}
	d.log.Error("a question could not be recorded, so the call is denied", "request", r.ID, "error", err)
	if _, err := d.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(approver.Unrecorded, now) }); err != nil {
		d.log.Error("nor could the denial be stored; no card goes out", "request", r.ID, "error", err)
	}
	return false
}

func (d *poster) recordAsked(ctx context.Context, r Request) error {
	_, err := d.audit.Record(ctx, approver.Record{
		Event: approver.EventAsked, At: r.Created, Request: r.ID, Once: r.ID + ":asked", Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict,
	})
	return err
}

// note stores what became of some cards. A card whose sending was cut off by
// the end of this process stays Sending, and is posted anew by the next. One that this
// process posts in the place of another's, and that the platform refuses it for good, is
// left to the other processes: one of them may have the bot that is in the chat.
func (d *poster) note(ctx context.Context, id string, batch []report, stopping bool) (Request, error) {
	return d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		r.Asked = true
		r.Postings = slices.Clone(r.Postings)
		for _, rep := range batch {
			if rep.i >= len(r.Postings) {
				return r, ErrTooSoon // a fail-over took the posting back
			}
			p := &r.Postings[rep.i]
			p.Unsure, p.Whole = p.Unsure || rep.unsure, p.Whole || rep.whole
			switch {
			case p.Phase == Void:
			case rep.err == nil:
				p.arrived(rep.ref)
			case p.Phase != Sending: // its card was found by its button
			case rep.again:
				p.Error = rep.err.Error()
			case stopping:
			case rep.replaces && errors.Is(rep.err, approver.ErrFinal) && !p.Unsure:
				p.Until, p.Refused, p.Error = now, append(slices.Clone(p.Refused), d.process), rep.err.Error()
			default:
				p.Phase, p.Error = Failed, rep.err.Error()
			}
		}
		return r, nil
	})
}

// posted records what became of one card, and takes a card out of sight that
// was replaced while it was on its way.
func (d *poster) posted(ctx context.Context, r Request, rep report) {
	i, to := rep.i, r.Postings[rep.i].To
	if rep.err != nil {
		d.logReport(r, rep, to.Channel)
		return
	}
	if rep.tries > 1 {
		d.log.Info("a card was posted after all", "request", r.ID, "channel", to.Channel, "tries", rep.tries)
	}
	if r.Postings[i].Phase == Void {
		d.editor.retire(ctx, r, rep.ref)
		return
	}
	d.recordPosted(ctx, r, fmt.Sprint(i), rep.ref, "")
}

// recordPosted records that a card is before people. which tells it from the others.
func (d *poster) recordPosted(ctx context.Context, r Request, which string, ref approver.Ref, how string) {
	if _, err := d.audit.Record(ctx, approver.Record{
		Event: approver.EventPosted, Request: r.ID, Once: r.ID + ":posted:" + which, Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict,
		Note: fmt.Sprintf("%s/%s message %s", ref.Channel, ref.Conversation, ref.Message) + how,
	}); err != nil {
		d.log.Error("audit failed", "request", r.ID, "error", err)
	}
}

// logReport says once that a card is tried again, and once that it is given up. Of a
// channel that has ended the log tells already, and that nobody watches a terminal is
// no fault.
func (d *poster) logReport(r Request, rep report, channel string) {
	level, what := slog.LevelWarn, "a card could not be posted"
	switch {
	case d.channels.nobodyThere(channel, rep.err):
		level, what = slog.LevelDebug, "nobody is there to see a card"
	case errors.Is(rep.err, errEnded) && rep.again:
		level, what = slog.LevelDebug, "a card waits for its channel to come back"
	case rep.again && rep.tries == 1:
		what = "a card could not be posted; trying again until the request's deadline"
	case rep.again:
		level, what = slog.LevelDebug, "a card could not be posted; trying again"
	case r.State != approver.Pending && r.Resolution.Cause != approver.Unreachable && r.Resolution.Cause != approver.TimedOut:
		level, what = slog.LevelInfo, "a card is no longer needed and was not posted"
	case r.State.Settled() && !errors.Is(rep.err, approver.ErrFinal) && !errors.Is(rep.err, errEnded):
		level, what = slog.LevelDebug, "a card was not posted before its request ended" // that it was tried again is told
	}
	d.log.Log(context.Background(), level, what, "request", r.ID, "channel", channel, "tries", rep.tries, "error", rep.err)
}

// noteUnreachable denies a pending request that no card is on its way for. One whose
// platform lost its answer may be before people: their time runs.
func (d *poster) noteUnreachable(ctx context.Context, id string) {
	r, err := d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending { // somebody has answered without a card
			return r, ErrSettled
		}
		for _, p := range r.Postings {
			if p.Phase == Posted || p.Phase == Sending || p.Unsure && p.Phase != Void {
				return r, ErrTooSoon
			}
		}
		return r.Fail(approver.Unreachable, now)
	})
	if err == nil {
		if why := d.channels.unreached(r); why != seeLog { // else what each platform said is told
			d.log.Info("nobody could be asked, so a call is denied", "request", id, "why", strings.TrimLeft(why, ":. "))
		}
		d.editor.settle(id)
	}
}

// seeLog is for an agent, whose user may look there.
const seeLog = ". The operator finds why in approver's log, and in what approver status and approver doctor say"

// unreached says, behind a sentence, why nobody was shown a request. What a platform said
// is for the log alone: an error may hold more than an agent is to know.
func (h *Channels) unreached(r Request) string {
	elsewhere := "and no other channel is configured"
	for _, to := range h.destinations {
		if _, volatile := h.byName[to.Channel].(approver.Presence); !volatile {
			elsewhere = "and this was to be asked nowhere else"
		}
	}
	for _, p := range r.Postings {
		if _, volatile := h.byName[p.To.Channel].(approver.Presence); !volatile {
			return seeLog
		}
	}
	if len(r.Postings) == 0 {
		return ": no channel is configured for it"
	}
	return ": nobody watches the " + r.Postings[0].To.Channel + " (approver watch), " + elsewhere
}

func (h *Channels) updateOne(work context.Context, ref approver.Ref, card approver.Card) error {
	ctx, cancel := context.WithTimeout(work, PostTimeout)
	defer cancel()
	c := h.byName[ref.Channel]
	if c == nil {
		return fmt.Errorf("channel %q is no longer configured", ref.Channel)
	}
	err := unpanicked(func() error { return c.Update(ctx, ref, card) })
	h.noteSent(work, ref.Destination, err, h.states.edited)
	return err
}

// A panicError is a panic of a channel. Only the log tells where it was.
type panicError struct {
	value any
	stack []byte
}

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func (e panicError) LogValue() slog.Value {
	return slog.StringValue(e.Error() + "\n" + string(e.stack))
}

// unpanicked makes a panic of a channel an error like any other: it is tried again, told,
// and says how the channel does.
func unpanicked(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p, debug.Stack()}
		}
	}()
	return do()
}

// noteSent keeps what became of a card for who asks how a channel does. What the end
// of this process cut short says nothing of it, nor that nobody watches a terminal, nor
// a destination of another process.
func (h *Channels) noteSent(work context.Context, to approver.Destination, err error, note func(approver.Destination, error)) {
	if work.Err() == nil && slices.Contains(h.destinations, to) && !h.nobodyThere(to.Channel, err) {
		note(to, err)
	}
}

// nobodyThere reports that a channel whose messages do not outlive the process has
// nobody to show one to, which is no failure of it.
func (h *Channels) nobodyThere(channel string, err error) bool {
	return h.screen(channel) && errors.Is(err, approver.ErrFinal)
}

// screen reports a channel whose cards are nowhere but on the screens of who watches.
func (h *Channels) screen(channel string) bool {
	_, is := h.byName[channel].(approver.Presence)
	return is
}
