package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// This file finds the request that an answer is for, and the card that it answers.

// locate finds the request that a reply is for, and the card that it answers. A non-nil
// outcome means that there is none.
func (a *Answers) locate(
	ctx context.Context, rep approver.Reply, who approver.Person,
) (Request, Posting, *told) {
	if rep.Method == approver.NoMethod {
		return none(approver.OutcomeRefused, "This answer has no form that counts.")
	}
	lock := lockKey(who, rep)
	if !rep.Code.IsZero() {
		return a.byCode(ctx, rep, lock)
	}
	if rep.Approve {
		var until time.Time
		err := whenThere(ctx, func() (err error) { until, err = a.lockout.until(ctx, lock); return err })
		if err != nil {
			return Request{}, Posting{}, a.trouble(err)
		}
		if !until.IsZero() {
			return Request{}, Posting{}, lockedOut(until)
		}
	}
	if rep.Method == approver.ByID {
		return a.byID(ctx, rep)
	}
	return a.byCard(ctx, rep)
}

// byID finds a request that somebody on this machine named by its id. Whoever may see the
// cards of a conversation may answer there, also before the card has arrived: nobody watches a
// terminal when a script answers.
func (a *Answers) byID(ctx context.Context, rep approver.Reply) (Request, Posting, *told) {
	unknown := newOutcome(approver.OutcomeUnknown,
		"There is no such request here: approver pending lists those that are open.")
	if rep.Request == "" || rep.Message != "" {
		return Request{}, Posting{}, &unknown
	}
	r, err := a.requests.loadPatiently(ctx, rep.Request)
	if errors.Is(err, approver.ErrNotFound) {
		return Request{}, Posting{}, &unknown
	} else if err != nil {
		return Request{}, Posting{}, a.trouble(err)
	}
	for _, p := range r.Postings {
		if p.Phase != Void && p.To.Channel == rep.Channel && p.To.Conversation == rep.Conversation {
			return r, p, nil
		}
	}
	if !shownOn(r.Verdict, rep.Channel) { // somebody who knows its id may still deny it
		return r, Posting{}, nil
	}
	return r, Posting{}, &unknown
}

// none is the result when no request is found.
func none(kind approver.OutcomeKind, format string, args ...any) (Request, Posting, *told) {
	out := newOutcome(kind, format, args...)
	return Request{}, Posting{}, &out
}

func lockedOut(until time.Time) *told {
	out := newOutcome(approver.OutcomeLocked, "Too many wrong codes: your codes and approvals are locked in this "+
		"conversation until %s UTC. The Deny button still works.", until.UTC().Format("15:04:05"))
	return &out
}

func (a *Answers) trouble(err error) *told {
	a.Log.Warn("an answer could not be looked up", "error", err)
	out := newOutcome(approver.OutcomeRefused, "The store had a problem, so this answer does not count. Please try again.")
	out.away = comesBack(err)
	return &out
}

// byCard finds the request of a button, or of a reply to a card. The data of a button comes
// through the client and proves nothing, so the message must be a card of that request in that
// conversation.
func (a *Answers) byCard(ctx context.Context, rep approver.Reply) (Request, Posting, *told) {
	unknown := newOutcome(approver.OutcomeUnknown, "There is no such request in this conversation.")
	if !rep.Method.OnCard() && rep.Method != approver.ByPlain || rep.Request == "" || rep.Message == "" {
		return Request{}, Posting{}, &unknown
	}
	waiting, stop := context.WithTimeout(ctx, PostTimeout)
	defer stop()
	var hint <-chan struct{}
	for watched := false; ; {
		r, err := a.requests.loadPatiently(ctx, rep.Request)
		if errors.Is(err, approver.ErrNotFound) {
			return Request{}, Posting{}, a.forgotten(rep)
		} else if err != nil {
			return Request{}, Posting{}, a.trouble(err)
		}
		sending, here, lost := -1, -1, -1
		for i, p := range r.Postings {
			if p.To.Channel != rep.Channel || p.To.Conversation != rep.Conversation {
				continue
			}
			if ref, ok := p.refOf(rep.Message); ok {
				p.Ref = ref
				return r, p, nil
			}
			here = i
			if p.Phase == Sending {
				sending = i
			}
			if p.Unsure && (lost < 0 || !p.Whole || r.Postings[lost].Whole) { // of several, one that shows less
				lost = i
			}
		}
		if here >= 0 && r.ended() { // no card of it takes an answer any more
			if !rep.Method.OnCard() {
				return r, r.Postings[here], nil
			}
			return a.foundCard(ctx, r, here, rep.Message)
		}
		// It may as well be the card that is on its way: a yes waits to know.
		known := sending < 0 || !rep.Approve || lost >= 0 && r.Postings[lost].Whole && r.Postings[lost].Phase != Void
		if lost >= 0 && mayFind(rep) && known {
			return a.find(ctx, r, lost, rep)
		}
		// A fast thumb can be ahead of the platform's answer to our own post.
		if sending >= 0 && !watched {
			watched, hint = true, hints(waiting, a.Store, approver.Key("req", r.ID))
		}
		switch {
		case sending >= 0 && hinted(waiting, &hint, retryEvery):
			continue
		case lost >= 0 && mayFind(rep):
			return a.find(ctx, r, lost, rep)
		case sending >= 0 && mayFind(rep) && (!rep.Approve || r.Postings[sending].Whole):
			// Its note does not come: whoever posted it has most likely died.
			return a.find(ctx, r, sending, rep)
		case sending < 0 && here >= 0 && rep.Method.OnCard(): // else the note of the card may be late
			ref := approver.Ref{Destination: r.Postings[here].To, Message: rep.Message}
			a.tasks.start(func(ctx context.Context) { a.editor.retire(ctx, r, ref) })
		}
		return r, Posting{}, noLongerValid()
	}
}

// mayFind reports whether an answer makes a card known that has no note: a button does, and so does a no
// in a reply to the card.
func mayFind(rep approver.Reply) bool {
	return rep.Method.OnCard() || rep.Method == approver.ByPlain && !rep.Approve
}

// byCode finds the request of a typed code, and counts wrong codes.
func (a *Answers) byCode(ctx context.Context, rep approver.Reply, lock string) (Request, Posting, *told) {
	if rep.Method != approver.ByCode && rep.Method != approver.ByCommand {
		return none(approver.OutcomeRefused, "This answer has no form that counts.")
	}
	// The try is counted before the code is looked up, and given back if the code
	// was right: many tries at once are no way around the count.
	var try, until time.Time
	event := eventWith(rep, string(rep.Code.Hash(a.CodeKey)))
	err := whenThere(ctx, func() (err error) { try, until, err = a.lockout.try(ctx, lock, event); return err })
	if err != nil {
		return Request{}, Posting{}, a.trouble(err)
	}
	if !until.IsZero() {
		return Request{}, Posting{}, lockedOut(until)
	}
	var r Request
	var p Posting
	err = whenThere(ctx, func() (err error) { r, p, err = a.postingOfCode(ctx, rep); return err })
	var over outdated
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		// Whether it was right nobody knows: it was no try, and told nobody anything.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), PostTimeout)
		defer cancel()
		_ = whenThere(back, func() error { _, err := a.lockout.tried(back, lock, try, true); return err })
		if errors.As(err, &over) { // nor was it a guess
			out := over.says()
			return over.request, over.posting, &out
		}
		return Request{}, Posting{}, a.trouble(err)
	}
	right, wrong := err == nil, err
	var left int
	err = whenThere(ctx, func() (err error) { left, err = a.lockout.tried(ctx, lock, try, right); return err })
	switch {
	case err != nil:
		return Request{}, Posting{}, a.trouble(err)
	case right:
		return r, p, nil
	}
	if out := a.elsewhere(ctx, wrong, rep, left); out != nil {
		return Request{}, Posting{}, out
	}
	if left == 0 {
		return none(approver.OutcomeUnknown, "No request here has that code. Too many wrong codes: you are locked out in "+
			"this conversation for %d minutes.", int(LockFor.Minutes()))
	}
	return none(approver.OutcomeUnknown, "No request here has that code. A code lives two minutes or as the card says, "+
		"and works only in the conversation that shows it. %d more wrong codes lock you out for %d minutes.",
		left, int(LockFor.Minutes()))
}

// postingOfCode returns ErrNotFound for every wrong code, also for one that is misplaced.
func (a *Answers) postingOfCode(ctx context.Context, rep approver.Reply) (Request, Posting, error) {
	r, p, err := a.postingOfHash(ctx, rep, rep.Code.Hash(a.CodeKey))
	for _, old := range a.OldCodeKeys {
		if !errors.Is(err, approver.ErrNotFound) {
			break
		}
		r, p, err = a.postingOfHash(ctx, rep, rep.Code.Hash(old))
	}
	return r, p, err
}

func (a *Answers) postingOfHash(ctx context.Context, rep approver.Reply, hash tokens.Hash) (Request, Posting, error) {
	value, _, err := a.Store.Get(ctx, approver.Key("code", string(hash)))
	if err != nil {
		return Request{}, Posting{}, err
	}
	var entry codeEntry
	if err := json.Unmarshal(value, &entry); err != nil {
		return Request{}, Posting{}, err
	}
	r, _, now, err := a.requests.loadNow(ctx, entry.Request)
	if err != nil {
		return Request{}, Posting{}, err
	}
	if entry.Posting < 0 || entry.Posting >= len(r.Postings) {
		return Request{}, Posting{}, approver.ErrNotFound
	}
	p := r.Postings[entry.Posting]
	if !p.Code.Equal(hash) && p.CodeTill.IsZero() {
		return Request{}, Posting{}, approver.ErrNotFound
	}
	if !p.takesCode() || p.To.Channel != rep.Channel || p.To.Conversation != rep.Conversation ||
		rep.Request != "" && rep.Request != r.ID {
		return Request{}, Posting{}, misplaced{r, p}
	}
	// A no counts with any code that the card ever showed.
	if rep.Approve && !r.ended() && !p.lives(hash, now.Add(-a.kept.waited(ctx))) {
		return Request{}, Posting{}, outdated{r, p, p.Code.Equal(hash)}
	}
	return r, p, nil
}

func noLongerValid() *told {
	out := newOutcome(approver.OutcomeUnknown, "This card is no longer valid. Use the newest card of the request.")
	return &out
}
