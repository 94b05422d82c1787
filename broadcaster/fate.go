package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// A Fate is what became of a call after its release, as far as anybody said. The zero
// value is that nobody said anything, and nothing is claimed. It decides nothing.
type Fate uint8

// The fates. What an agent reports is its own claim.
const (
	NoFate  Fate = iota
	Untaken      // its courier never said that it has the answer
	NotRun       // the agent has gone on, and reported no run of it
	DidRun       // the agent reported that it ran, after one of the others was noted, or unasked
)

var fateNames = [...]string{"", "untaken", "not_run", "ran"}

// MarshalText writes the word.
func (f Fate) MarshalText() ([]byte, error) {
	if int(f) < len(fateNames) {
		return []byte(fateNames[f]), nil
	}
	return nil, nil
}

// UnmarshalText reads the word; anything else is NoFate.
func (f *Fate) UnmarshalText(b []byte) error {
	*f = Fate(max(slices.Index(fateNames[:], string(b)), 0))
	return nil
}

// resultLine says of a yes what became of it; empty where nothing is to be said.
func (f Fate) resultLine(who string) string {
	switch f {
	case Untaken:
		return "↩ Approved by " + who + " · nobody took the answer: the agent was gone, and most likely nothing ran"
	case NotRun:
		return "↩ Approved by " + who + " · the agent reported no run of it: most likely its own rules or mode refused it"
	case NoFate, DidRun:
	}
	return ""
}

// lateText says the same to somebody who answered later.
func (f Fate) lateText() string {
	switch f {
	case Untaken:
		return "but nobody took the answer: the agent was gone, and most likely nothing ran."
	case NotRun:
		return "and the agent reported no run of it."
	case NoFate, DidRun:
	}
	return "and it has been released."
}

// outcomeText says the same to the person whose yes it was; empty where nothing is to be said.
func (f Fate) outcomeText() string {
	switch f {
	case Untaken:
		return "Approved, but nobody took the answer: the agent was gone, and most likely nothing ran."
	case NotRun:
		return "Approved and released to the agent, which reported no run of it: most likely its own rules or mode refused it."
	case NoFate, DidRun:
	}
	return ""
}

// outcomeText says of a yes what became of it to the person whose yes it was.
func (r Request) outcomeText() string {
	if text := r.fate().outcomeText(); text != "" {
		return text
	}
	return "Approved: " + r.releasedText() + "."
}

// releasedText says what a yes released, or still releases.
func (r Request) releasedText() string {
	got, all := r.released()
	switch {
	case all == 1:
		return "released to the agent, this once"
	case got < all:
		return fmt.Sprintf("%d of %d identical calls released to the agent, once each", got, all)
	}
	return fmt.Sprintf("%d identical calls released to the agent, once each", all)
}

// released is how many calls a yes was for, and how many of them got it. One that may
// still take it counts.
func (r Request) released() (got, all int) {
	got, all = 1, 1+len(r.Also)
	if r.Withheld != approver.NoCause && r.Repeats == 0 {
		got = 0
	}
	for _, c := range r.Also {
		if !c.Lost && (!c.Taken.IsZero() || !r.Lapsed) {
			got++
		}
	}
	return got, all
}

// fate is what people are told of a yes: of one that was for several calls, only what
// holds for all of them.
func (r Request) fate() Fate {
	for _, c := range r.Also {
		never := c.Lost || r.Lapsed && c.Taken.IsZero()
		if !never && (r.Fate != NotRun || c.Fate != NotRun) {
			return NoFate
		}
	}
	return r.Fate
}

// givenAt is when a call was released; zero if it was not.
func (r Request) givenAt(callID string) time.Time {
	if i := r.beside(callID); i >= 0 {
		return r.Also[i].Taken
	}
	return r.ReleasedAt
}

// takenAfterAll takes back that nobody took the answer, if that was noted.
func (r Request) takenAfterAll() (Request, bool) {
	if r.State != approver.Consumed || r.Fate != Untaken {
		return r, false
	}
	was := r
	r.Fate = NoFate
	return r.sayAnew(was), true
}

// sayAnew has every card brought up to date, if people are told something else than of was.
func (r Request) sayAnew(was Request) Request {
	if r.endLine() == was.endLine() {
		return r
	}
	return r.anew()
}

// fated notes what became of a call that was released, and has every card say it. That
// it ran is the last word, and is noted only where something else was. A call that took
// the place of the one that asked may have a courier that acknowledges nothing.
func (r Request) fated(callID string, f Fate) (Request, error) {
	i, had, acked := r.beside(callID), r.Fate, !r.Acked.IsZero()
	if i >= 0 {
		had, acked = r.Also[i].Fate, true
	}
	switch {
	case r.State != approver.Consumed:
		return r, ErrTooSoon
	case !r.lists(callID), i >= 0 && (r.Also[i].Taken.IsZero() || r.Also[i].Lost), i < 0 && r.Withheld != approver.NoCause:
		return r, ErrNotBound // it was not released
	case had == f, had == DidRun, f == NoFate:
		return r, errNoChange
	case f == DidRun && had == NoFate && acked:
		return r, errNoChange // as the cards say
	case f == Untaken && (had != NoFate || !r.Call.Acks || r.N > 0):
		return r, errNoChange
	}
	was := r
	if i >= 0 {
		r.Also = slices.Clone(r.Also)
		r.Also[i].Fate = f
	} else {
		r.Fate = f
	}
	return r.sayAnew(was), nil
}

// Became notes what the agent's user reports of a call that was released: that it ran,
// or that the agent went on without. It changes what cards say, and nothing else: a call
// that ran although it was reported otherwise is judged like any other. A call that
// nobody was asked about has no card. A run that the store cannot note now is kept until
// it can. That there was none is claimed only where a report would have been heard.
func (p *Reports) Became(ctx context.Context, peer approver.Peer, callID string, f Fate) error {
	if f != DidRun {
		return p.became(ctx, peer, callID, f)
	}
	return p.noteOrKeep(ctx, callID, func(ctx context.Context) error { return p.became(ctx, peer, callID, f) })
}

func (p *Reports) became(ctx context.Context, peer approver.Peer, callID string, f Fate) error {
	id, _, err := p.requests.requestOf(ctx, callID)
	if errors.Is(err, approver.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	var at time.Time
	r, err := p.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.lists(callID) || !r.Call.Peer.SameUser(peer) {
			return r, ErrNotBound
		}
		at = now
		next, err := r.fated(callID, f)
		if err == nil && f == NotRun && (!p.uptime.heardSince(r.givenAt(callID)) || p.unnoted.has(callID)) {
			return r, errNoChange // a report may have been missed
		}
		return next, err
	})
	if errors.Is(err, errNoChange) {
		return nil
	} else if err != nil {
		return err
	}
	p.editor.settle(r.ID)
	if f != NotRun { // the report of a run is recorded by itself
		return nil
	}
	rec := r.record(approver.EventNotRun)
	rec.At, rec.Note = at, "its agent went on, and reported no run of it"
	if callID != r.CallID {
		rec.Once, rec.Call.ID = rec.Once+":"+callID, callID
	}
	if _, err := p.audit.Record(ctx, rec); err != nil {
		return fmt.Errorf("that a released call did not run could not be recorded: %w", err)
	}
	return nil
}
