package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file is about codes that are typed where they do not belong.

// A misplaced error is the code of a card that is typed elsewhere, or that the card does not take. It
// counts as a wrong code.
type misplaced struct {
	request Request
	posting Posting
}

func (m misplaced) Error() string { return "the code is of another card" }

// Unwrap makes it count as a wrong code.
func (m misplaced) Unwrap() error { return approver.ErrNotFound }

// elsewhere tells a person where the code that they typed belongs; nil if err is another one. The audit
// gets both places: a code that leaked says where from.
func (a *Answers) elsewhere(ctx context.Context, err error, rep approver.Reply, left int) *told {
	var m misplaced
	if !errors.As(err, &m) {
		return nil
	}
	from := m.posting.To
	says := display.Msg("This code is of a card that is no longer valid. Use the newest card of the request.")
	switch {
	case m.away(rep):
		a.noteLeak(ctx, m, rep)
		says = display.Msg("This code is on a card in another conversation, on %s: it works only there, and that it was "+
			"typed here is recorded.", display.Platform(from.Channel))
	case rep.Request != "" && rep.Request != m.request.ID:
		says = display.Msg("This code is of another request than the card that you answered.")
	}
	out := newOutcome(approver.OutcomeUnknown, "%s %d more wrong codes lock you out for %d minutes.", says, left,
		int(LockFor.Minutes()))
	if left == 0 {
		out = newOutcome(approver.OutcomeUnknown, "%s Too many wrong codes: you are locked out in this conversation for %d "+
			"minutes.", says, int(LockFor.Minutes()))
	}
	return &out
}

// mostOverheard is how many codes of people who do not count are looked up in a minute. Anybody can send some.
const mostOverheard = 30

// An overheard counts the codes that were looked up in this minute.
type overheard struct {
	mu    sync.Mutex
	since time.Time
	n     int
}

func (o *overheard) take(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.since) >= time.Minute {
		o.since, o.n = now, 0
	}
	o.n++
	return o.n <= mostOverheard
}

// overhear records the code of a card that was sent in another conversation by somebody whose answers do
// not count, or where none do; see [approver.Overhearer]. Nobody is told.
func (a *Answers) overhear(ctx context.Context, rep approver.Reply) {
	if rep.Code.IsZero() || !a.overheard.take(time.Now()) {
		return
	}
	var m misplaced
	if _, _, err := a.postingOfCode(ctx, rep); errors.As(err, &m) && m.away(rep) {
		a.noteLeak(ctx, m, rep)
	}
}

// away reports whether the code was sent in another conversation than that of its card.
func (m misplaced) away(rep approver.Reply) bool {
	return m.posting.To.Channel != rep.Channel || m.posting.To.Conversation != rep.Conversation
}

// noteLeak records that the code of one conversation was typed in another.
func (a *Answers) noteLeak(ctx context.Context, m misplaced, rep approver.Reply) {
	from := m.posting.To
	note := fmt.Sprintf("a code of the card in %s/%s was typed in %s/%s", from.Channel, from.Conversation, rep.Channel,
		rep.Conversation)
	a.Log.Warn(note, "request", m.request.ID, "sender", rep.Sender)
	rec := eventRecord(m.request, approver.EventMisplaced, note)
	rec.Reply = rep
	if _, err := a.Audit.Record(context.WithoutCancel(ctx), rec); err != nil {
		a.Log.Error("audit failed", "request", m.request.ID, "error", err)
	}
}
