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

// This file gives the cards of a request that waits for long fresh codes.

const (
	// codeLife is how long a code lives on a card whose request renews its codes, and renewBefore how long before
	// its end the card is given another one.
	codeLife    = 2 * time.Minute
	renewBefore = 30 * time.Second
	// renewWithin is how long a process has to show the code that it made. Then any process makes another one.
	renewWithin = 15 * time.Second
	// renewEdit is how much of that is kept for the edit itself: if its turn has not come by then, it would show
	// a code that another one is about to replace.
	renewEdit = 3 * time.Second
	// oldCodeFor is how long the code of before lives at most once a card shows another one.
	oldCodeFor = 15 * time.Second
	// renewsApart is the time between two renewals in one place, so that hardly more codes are made than it can
	// soon show.
	renewsApart = time.Second
)

// A formerCode is a code that a card showed before its present one, and may still show.
type formerCode struct {
	Code tokens.Hash `json:"code"`
	Till time.Time   `json:"till"`
}

// A renewal is what a posting has of the codes that it renews. The zero value is a code that lives as long as its
// request.
type renewal struct {
	// CodeTill is the end of Posting.Code. Was are the codes before it that still live.
	CodeTill time.Time    `json:"code_till,omitzero"`
	Was      []formerCode `json:"was,omitempty"`
	// Renewing is until when a process has to show the code. It is zero once the card is known to show it.
	Renewing time.Time `json:"renewing,omitzero"`
	// Fixed says that the platform refuses to edit the card for good: it stays as it is.
	Fixed bool `json:"fixed,omitempty"`
}

// waits reports whether the wait of a severity is for a call, and how long it is: the agent hears that it is to come
// back, or waits itself.
func (o *Options) waits(call approver.ToolCall, s approver.Severity) (time.Duration, bool) {
	wait := o.Wait[s]
	return wait, wait > 0 && call.Acks && !call.AboutApprover()
}

// comesBack reports that the agent of a call that waits can be told to come back with it.
func (o *Options) comesBack(call approver.ToolCall, v approver.Verdict) bool {
	_, waits := o.waits(call, v.Severity)
	return waits && !v.Prompt
}

// renewAt is when the posting is to be given another code; zero is never.
func (p Posting) renewAt(due time.Time) time.Time {
	switch {
	case p.CodeTill.IsZero() || p.Phase != Posted || p.Fixed:
		return time.Time{}
	case !p.Renewing.IsZero():
		return p.Renewing
	case !p.CodeTill.Before(due):
		return time.Time{}
	}
	return p.CodeTill.Add(-renewBefore)
}

// knows reports that a code is, or was until lately, that of the posting.
func (p Posting) knows(code tokens.Hash) bool {
	return p.Code.Equal(code) || slices.ContainsFunc(p.Was, func(f formerCode) bool { return f.Code.Equal(code) })
}

// lives reports that a code of the posting still counts.
func (p Posting) lives(code tokens.Hash, now time.Time) bool {
	if p.Code.Equal(code) {
		return p.CodeTill.IsZero() || now.Before(p.CodeTill)
	}
	return slices.ContainsFunc(p.Was, func(f formerCode) bool { return f.Code.Equal(code) && now.Before(f.Till) })
}

// mostFormer bounds the former codes of a posting that are known.
const mostFormer = 32

// renew gives the posting another code, which its card does not show yet.
func (p *Posting) renew(code tokens.Hash, now time.Time) {
	// One that has ended still counts for an answer that was typed before, and waits for the store.
	was := append(slices.Clone(p.Was), formerCode{p.Code, p.CodeTill})
	was = was[max(0, len(was)-mostFormer):]
	p.Was, p.Code, p.CodeTill, p.Renewing = was, code, now.Add(codeLife), now.Add(renewWithin)
}

// renewed notes that the card shows its code.
func (p *Posting) renewed(now time.Time) {
	p.Renewing, p.Was = time.Time{}, slices.Clone(p.Was)
	for i := range p.Was {
		if till := now.Add(oldCodeFor); till.Before(p.Was[i].Till) {
			p.Was[i].Till = till
		}
	}
}

// errUnseen is the result of editing a card that nobody sees now.
var errUnseen = errors.New("nobody watches the card")

// codesShown notes on which cards the codes that they had in was are shown, by the results of editing them.
func (r Request) codesShown(was Request, cards []int, results []error, now time.Time) (next Request, changed bool) {
	if r.State != approver.Pending || len(r.Postings) < len(was.Postings) {
		return r, false
	}
	next = r
	next.Postings = slices.Clone(r.Postings)
	for n, i := range cards {
		p, err := &next.Postings[i], results[n]
		switch {
		case p.CodeTill.IsZero():
			continue
		case !p.Code.Equal(was.Postings[i].Code): // the card may show the code of before again
			if err != nil && !mayBeDone(err) || !p.Renewing.IsZero() {
				continue
			}
			p.Renewing = now
		case p.Renewing.IsZero():
			continue
		case err == nil:
			p.renewed(now)
		case errors.Is(err, approver.ErrFinal), errors.Is(err, approver.ErrShowsLess):
			p.Fixed = true
		default:
			continue
		}
		changed = true
	}
	return next, changed
}

// A renewing is the key of the task that renews the codes of a request.
type renewing string

// turns are when the cards of each place may next be renewed.
type turns struct {
	mu   sync.Mutex
	next map[approver.Destination]time.Time
}

// take reports whether it is the turn of a place, and takes it.
func (t *turns) take(to approver.Destination) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.next[to]) {
		return false
	}
	if t.next == nil {
		t.next = map[approver.Destination]time.Time{}
	}
	t.next[to] = now.Add(renewsApart)
	return true
}

// renewCodes gives cards of a request whose code is about to end another one. Of several processes one does it, because
// it is stored first. The editor then shows it; if that is not known to have worked in time, any process makes another
// code.
func (d *poster) renewCodes(ctx context.Context, id string) {
	r, _, now, err := d.requests.loadNow(ctx, id)
	if err != nil || r.State != approver.Pending {
		return
	}
	codes, put := map[int]codeLink{}, map[int]bool{}
	for i, p := range r.Postings {
		at := p.renewAt(r.Due)
		switch {
		case at.IsZero() || now.Before(at):
		case !d.mayRenew(p):
			if now.Sub(at) >= othersGrace { // nobody can: look again later
				put[i] = true
			}
		case d.turns.take(p.To):
			if codes[i], err = d.codes.newLink(codeEntry{Request: r.ID, Posting: i}); err != nil {
				return
			}
		}
	}
	links := make([]codeLink, 0, len(codes))
	for _, link := range codes {
		links = append(links, link)
	}
	if len(links) > 0 {
		err = d.codes.saveLinks(ctx, links, r.Due.Add(d.KeepFor))
	}
	if err != nil || len(links)+len(put) == 0 {
		return
	}
	shown := map[int]tokens.Code{}
	for _, link := range links { // a code that was taken was replaced
		codes[link.entry.Posting], shown[link.entry.Posting] = link, link.code
	}
	r, err = d.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		if fresh.State != approver.Pending || len(fresh.Postings) < len(r.Postings) {
			return fresh, ErrTooSoon
		}
		fresh.Postings = slices.Clone(fresh.Postings)
		for i := range r.Postings {
			p, link := &fresh.Postings[i], codes[i]
			if at := p.renewAt(fresh.Due); (link.hash != "" || put[i]) && (at.IsZero() || now.Before(at)) {
				return fresh, ErrTooSoon // another process was faster
			}
			if link.hash != "" {
				p.renew(link.hash, now)
			} else if put[i] {
				p.Renewing = now.Add(renewBefore)
			}
		}
		return fresh, nil
	})
	if err == nil && len(shown) > 0 {
		d.editor.live.renew(r, shown)
		d.editor.updateCounts(r)
	}
}

// mayRenew reports whether this process can edit a card.
func (d *poster) mayRenew(p Posting) bool {
	screen, is := d.channels.byName[p.To.Channel].(approver.Presence)
	return slices.Contains(d.Destinations, p.To) && (p.Hub == "" || p.Hub == d.Host) && !p.refusedTo(d.process) &&
		d.channels.Deaf(p.To.Channel) == nil && (!is || screen.Shows(p.Ref))
}

// An outdated error is a code that a card showed before, and that does not live any more. It is no wrong code.
type outdated struct {
	request Request
	posting Posting
	last    bool // the card has no newer one
}

func (o outdated) Error() string { return "the code has ended" }

// says tells the person who typed it what to do.
func (o outdated) says() told {
	p := o.posting
	switch {
	case p.Fixed || p.Phase == Failed:
		return newOutcome(approver.OutcomeUnknown, "This code is over, as each is after two minutes, and this card cannot "+
			"show a fresh one. Answer on another card of the request; Deny works here. Nothing was approved.")
	case o.last || !p.Renewing.IsZero():
		return newOutcome(approver.OutcomeUnknown, "This code is over, as each is after two minutes, and the card could not "+
			"be given a fresh one yet. Look at it again in a moment; Deny works. Nothing was approved.")
	}
	return newOutcome(approver.OutcomeUnknown, "This code is over, as each is after two minutes. The card shows a fresh "+
		"one: type that. Nothing was approved.")
}
