package slack

import (
	"context"
	"errors"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// The ids of the shortcuts of our app, and of the dialog that one of them opens.
const (
	pendingShortcut = "approver_pending"
	freezeShortcut  = "approver_freeze"
	detailsShortcut = "approver_details"
	freezeModal     = "ap:freeze"
)

// shortcut handles a shortcut that belongs to no message. It has no conversation either, so everything is
// told in a dialog.
func (s *session) shortcut(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	a.done(nil)
	t := s.To(cb.User.ID, "")
	show := func(out approver.Outcome) { s.open(ctx, cb, place{}, detailsDialog(t, out, "approver pending")) }
	switch {
	case errors.Is(refused, errStranger):
		show(approver.Outcome{Text: t.Text(textStranger)})
	case refused != nil:
		s.log.Info("slack shortcut refused", "user", cb.User.ID, "reason", refused)
	case cb.CallbackID == pendingShortcut:
		r := approver.Reply{Want: approver.WantPending, Method: approver.ByCommand}
		view := detailsDialog(t, approver.Outcome{}, "")
		view.Blocks.BlockSet = homeView(t, s.reply(ctx, place{}.reply(cb.User, r)), whole(r), time.Now())
		s.open(ctx, cb, place{}, view)
	case cb.CallbackID == freezeShortcut:
		s.open(ctx, cb, place{}, freezeDialog(t))
	default:
		show(approver.Outcome{Text: t.Text(textNoShortcut)})
	}
}

// cardShortcut handles a shortcut of a message: it opens the details of a card.
func (s *session) cardShortcut(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	a.done(nil)
	g, at := s.who(), place{Channel: cb.Channel.ID, Message: cb.MessageTs, Thread: cb.Message.ThreadTimestamp}
	t := s.To(cb.User.ID, at.Channel)
	why, request, ours := "", "", false
	if ours = g.ours(&cb.Message); ours {
		request, _ = requestIn(&cb.Message)
	}
	switch {
	case errors.Is(refused, errStranger):
		why = textStranger
	case refused != nil:
		s.log.Info("slack shortcut refused", "user", cb.User.ID, "reason", refused)
		return
	case cb.CallbackID != detailsShortcut:
		why = textNoShortcut
	case g.place(at.Channel) != nil:
		why = textElsewhere
	case !ours:
		why = textNoCard
	case request == "":
		why = textOver
	}
	if why != "" {
		s.open(ctx, cb, at, detailsDialog(t, approver.Outcome{Text: t.Text(why)}, ""))
		return
	}
	at.Request = request
	r, _ := cards.Details.Reply()
	r = at.reply(cb.User, r)
	s.open(ctx, cb, at, detailsDialog(t, s.reply(ctx, r), whole(r)))
}

// freezeDialog asks before everything is stopped: a shortcut is pressed by mistake more easily than a command
// is typed.
func freezeDialog(t display.Texts) slack.ModalViewRequest {
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plainText(t.Text("Stop everything?")), Submit: plainText(t.Text("Stop everything")),
		Close: plainText(t.Text("Cancel")), CallbackID: freezeModal,
		Blocks: slack.Blocks{BlockSet: []slack.Block{plainSection(t.Text("Every call of every agent is denied from then " +
			"on, and so is every open request, until people lift that with approver unfreeze."))}},
	}
}

// frozen handles the dialog that stops everything. Its answer is shown in the place of the question.
func (s *session) frozen(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	t := s.To(cb.User.ID, "")
	out := approver.Outcome{Text: t.Text(textStranger)}
	switch {
	case refused == nil:
		r := approver.Reply{Want: approver.WantFreeze, Method: approver.ByCommand}
		late := time.AfterFunc(ackIn, func() { a.done(nil) })
		defer late.Stop()
		out = s.reply(ctx, place{event: cb.TriggerID}.reply(cb.User, r))
	case !errors.Is(refused, errStranger):
		s.log.Info("slack dialog refused", "user", cb.User.ID, "reason", refused)
		return
	}
	view := detailsDialog(t, out, "approver status")
	a.done(slack.NewUpdateViewSubmissionResponse(&view))
}
