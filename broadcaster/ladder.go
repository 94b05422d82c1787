package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
	"approver.example/tokens"
)

// An escalator takes requests up the ladder: from step to step, more chats get a card of them.
type escalator struct {
	*Options
	approvers *Approvers
	channels  *Channels
	requests  *Requests
	codes     *codes
	editor    *editor
	poster    *poster
	tasks     *tasks
}

// A Climb is how far a request has come on the ladder. It is zero without one.
type Climb struct {
	At time.Time `json:"at,omitzero"` // when the last step was taken
	// Next is when the next step is due at the latest; zero if none is left.
	Next time.Time `json:"next,omitzero"`
	// Quiet is when the first of the quiet hours is over that kept the request from a chat at the last step.
	Quiet time.Time `json:"quiet,omitzero"`
	reminding
}

// undeliveredAfter is for how long a post that has failed is tried again before the next step is taken.
const undeliveredAfter = 3 * time.Second

// downAfter is how long no answers must have come from a channel before its step is of no use. A platform
// may be away for a moment, and after a start it takes a while to connect.
const downAfter = 10 * time.Second

// due is when the next step is to be taken, as far as the cards say: at once if none of them could be
// delivered. It is zero if no step is left.
func (c Climb) due(cards Postings) time.Time {
	if c.Next.IsZero() {
		return time.Time{}
	}
	at := c.At
	for _, p := range cards {
		switch {
		case p.Page:
		case p.Phase == Posted, p.Phase == Sending && p.Error == "":
			return c.Next
		case p.Phase == Sending:
			at = c.At.Add(undeliveredAfter)
		}
	}
	if at.After(c.Next) {
		return c.Next
	}
	return at
}

// delivers reports whether a card reaches people, or may still. since is when it began to be posted at the
// latest.
func (p Posting) delivers(since, now time.Time) bool {
	return !p.Page && (p.Phase == Posted ||
		p.Phase == Sending && (p.Error == "" || now.Before(since.Add(undeliveredAfter))))
}

// A quietError means that quiet hours keep a question from everybody.
type quietError struct{ until time.Time }

func (e quietError) Error() string {
	return "quiet hours until " + e.until.Format("15:04 MST") + ": nobody is asked before"
}

// quietCure tells an agent, after a quietError, what it can do.
const quietCure = ". Run the call again after that, or have the user run it"

// isQuiet reports a quietError.
func isQuiet(err error) bool {
	_, is := errors.AsType[quietError](err)
	return is
}

// first returns the chats that get a card of a new request at once, of those that may show it.
func (e *escalator) first(
	why approver.Verdict, call approver.ToolCall, may []approver.Destination, now time.Time,
) ([]approver.Destination, Climb, error) {
	if e.Ladder.IsZero() {
		return may, Climb{}, nil
	}
	q := e.question(Request{Verdict: why, Call: call, Created: now}, may, now)
	taken := e.Ladder.Take(q)
	climb := Climb{Quiet: taken.Quiet}
	if every := e.Ladder.Remind(); every > 0 {
		climb.RemindAt = now.Add(every)
	}
	to := slices.DeleteFunc(slices.Clone(may), func(d approver.Destination) bool {
		return !slices.Contains(taken.To, d)
	})
	switch {
	case !taken.Reach && !taken.Quiet.IsZero() && !slices.ContainsFunc(to, e.seen):
		return nil, Climb{}, quietError{taken.Quiet}
	case !taken.Reach && !slices.ContainsFunc(to, e.seen): // no step for this severity has a chat that a rule names
		to, climb.Quiet = e.awake(may, q)
		if !climb.Quiet.IsZero() && !slices.ContainsFunc(to, e.answerable) {
			return nil, Climb{}, quietError{climb.Quiet}
		}
		return to, climb, nil
	case !taken.Next.IsZero():
		climb.At, climb.Next = now, taken.Next
	}
	return to, climb, nil
}

// awake returns the chats that have no quiet hours, and when the first of the others' are over.
func (e *escalator) awake(all []approver.Destination, q ladder.Question) (to []approver.Destination, until time.Time) {
	for _, d := range all {
		end := e.Ladder.Quiet(d, q)
		switch {
		case end.IsZero():
			to = append(to, d)
		case until.IsZero() || end.Before(until):
			until = end
		}
	}
	return to, until
}

// answerable reports that people can answer in a chat now, as far as its kind says.
func (e *escalator) answerable(to approver.Destination) bool {
	return e.seen(to) || !e.channels.screen(to.Channel) && !e.channels.pages(to.Channel)
}

// question is what the ladder has to know of a request.
func (e *escalator) question(r Request, may []approver.Destination, now time.Time) ladder.Question {
	people := e.approvers.Counting()
	return ladder.Question{
		Severity: r.Verdict.Severity, Asked: r.Created, Now: now,
		Awake: r.Call.Control != "", // somebody at the machine wants it now
		May:   func(d approver.Destination) bool { return slices.Contains(may, d) },
		Pages: func(d approver.Destination) bool { return !e.approvers.takesYes(people, r.Verdict, d.Channel) },
		Useful: func(d approver.Destination) bool {
			had := false
			for _, p := range r.Postings {
				if p.To == d {
					had = true
					if p.delivers(r.Climb.At, now) {
						return true
					}
				}
			}
			return !had && e.works(d.Channel)
		},
	}
}

// works reports whether a card on a channel would be of use, as far as is known.
func (e *escalator) works(channel string) bool {
	s := e.channels.State(channel)
	switch {
	case e.channels.screen(channel):
		return e.seen(approver.Destination{Channel: channel})
	case s.Ended != nil:
		return false
	}
	return s.Hearing().Why == "" || s.Since.IsZero() || time.Since(s.Since) < downAfter
}

// seen reports that somebody watches a screen now.
func (e *escalator) seen(to approver.Destination) bool {
	screen, is := e.channels.byName[to.Channel].(approver.Presence)
	return is && watched(screen)
}

// A climbing is the key of the task that takes the next step of a request.
type climbing string

// look takes the next step of a request, reminds people of it, and takes reminders away, if that is due, in the
// background.
func (e *escalator) look(r Request) {
	waits := r.State == approver.Pending && (!r.Climb.Next.IsZero() || !r.Climb.RemindAt.IsZero())
	if !waits && !r.clears() {
		return
	}
	e.tasks.startSingle(climbing(r.ID), false, func(ctx context.Context) {
		e.climb(ctx, r.ID)
		e.remind(ctx, r.ID)
		e.clear(ctx, r.ID)
	})
}

// climb takes the next step of a request, once: whoever stores it posts the cards. A crash after that
// leaves cards on their way, which are posted anew like all others.
func (e *escalator) climb(ctx context.Context, id string) {
	r, _, now, err := e.requests.loadNow(ctx, id)
	if err != nil || r.State != approver.Pending || r.Climb.Next.IsZero() || now.Before(r.Climb.due(r.Postings)) {
		return
	}
	if stray, err := e.requests.orphaned(ctx, r); stray || err != nil {
		if stray && now.Sub(r.Created) >= sendingFor { // else its maker may be about to complete it
			_, _ = e.requests.fail(ctx, id, approver.StoreTrouble)
		}
		return
	}
	to, next, quiet := e.next(r, now)
	minted, before, codes := r, len(r.Postings), map[int]tokens.Code{}
	ways, err := e.codes.mint(&minted, to, now)
	if err == nil {
		err = e.codes.saveLinks(ctx, ways, r.Due.Add(e.KeepFor))
	}
	if err != nil {
		e.Log.Warn("the next step of the ladder could not be taken yet", "request", id, "error", err)
		return
	}
	for _, w := range ways {
		minted.Postings[w.entry.Posting].Code, codes[w.entry.Posting] = w.hash, w.code
	}
	r, err = e.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		// Since it was read, another replica may have taken the step: then this attempt is void.
		if fresh.State != approver.Pending || len(fresh.Postings) != before || !fresh.Climb.Next.Equal(r.Climb.Next) ||
			!fresh.Climb.At.Equal(r.Climb.At) {
			return fresh, ErrTooSoon
		}
		fresh.Postings = append(slices.Clone(fresh.Postings), minted.Postings[before:]...)
		fresh.Climb.At, fresh.Climb.Next, fresh.Climb.Quiet = now, next, quiet
		return fresh, nil
	})
	if err != nil {
		return
	}
	switch {
	case len(codes) == 0 && !next.IsZero():
		return
	case len(codes) > 0:
		e.Log.Info("nobody has answered yet, or nothing was delivered: the next step of the ladder is taken", "request",
			id,
			"to", fmt.Sprint(to))
		e.editor.live.note(r, codes)
	}
	e.tasks.start(func(ctx context.Context) {
		e.poster.post(ctx, r, codes, false)
		if next.IsZero() && ctx.Err() == nil { // nothing else is tried
			e.poster.noteUnreachable(ctx, id)
		}
	})
}

// next returns the chats that get a card of a request now, when the step after that is due, and until when others
// are left alone. A process without a ladder asks everywhere.
func (e *escalator) next(r Request, now time.Time) (to []approver.Destination, next, quiet time.Time) {
	may, err := e.approvers.audience(r.Verdict)
	if err != nil {
		return nil, next, quiet // nobody is left who could answer
	}
	all := may
	if !e.Ladder.IsZero() {
		taken := e.Ladder.Take(e.question(r, may, now))
		all, next, quiet = taken.To, taken.Next, taken.Quiet
	}
	for _, d := range all {
		if !slices.ContainsFunc(r.Postings, func(p Posting) bool { return p.To == d }) {
			to = append(to, d)
		}
	}
	return to, next, quiet
}
