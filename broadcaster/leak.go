package broadcaster

import (
	"context"
	"errors"
	"fmt"

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
	case from.Channel != rep.Channel || from.Conversation != rep.Conversation:
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
