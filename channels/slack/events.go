package slack

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// A place is where an answer was given; a dialog carries it as JSON.
type place struct {
	Request string `json:"r,omitempty"`
	Channel string `json:"c"`
	Message string `json:"m,omitempty"`
	Thread  string `json:"t,omitempty"`
	Shown   int    `json:"n,omitempty"` // of the card whose button opened the dialog: see approver.Reply

	event string // the id of what the answer was given with, by which a repeat is known
}

func (s *session) handle(ctx context.Context, a *ack, ev socketmode.Event) {
	switch d := ev.Data.(type) {
	case slack.InteractionCallback:
		s.interaction(ctx, a, &d)
	case slack.SlashCommand:
		s.command(ctx, a, &d)
	case slackevents.EventsAPIEvent:
		switch ev := d.InnerEvent.Data.(type) {
		case *slackevents.MessageEvent:
			s.message(ctx, a, &d, ev)
		case *slackevents.AppHomeOpenedEvent:
			s.home(ctx, a, &d, ev)
		}
	}
}

// interaction handles buttons, dialogs and shortcuts.
func (s *session) interaction(ctx context.Context, a *ack, cb *slack.InteractionCallback) {
	err := s.who().admit(interactionOrigin(cb))
	switch cb.Type {
	case slack.InteractionTypeBlockActions:
		s.button(ctx, a, cb, err)
	case slack.InteractionTypeViewSubmission:
		if cb.View.CallbackID == freezeModal {
			s.frozen(ctx, a, cb, err)
			return
		}
		s.dialog(ctx, a, cb, err)
	case slack.InteractionTypeShortcut:
		s.shortcut(ctx, a, cb, err)
	case slack.InteractionTypeMessageAction:
		s.cardShortcut(ctx, a, cb, err)
	default:
		if err != nil {
			s.log.Info("slack interaction refused", "type", cb.Type, "user", cb.User.ID, "reason", err)
		}
	}
}

// button handles a press on one of a card's buttons; refused is the guard's error for it. All
// presses but an answer are acknowledged at once.
func (s *session) button(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	soon := time.AfterFunc(ackTapIn, func() { a.done(nil) })
	defer soon.Stop()
	g := s.who()
	at := place{Channel: cb.Container.ChannelID, Message: cb.Container.MessageTs, Thread: cb.Container.ThreadTs,
		event: cb.TriggerID}
	err := refused
	if err == nil || errors.Is(err, errStranger) {
		if wrong := g.place(at.Channel); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		a.done(nil)
		s.refuse(ctx, at, cb.User.ID, err)
		if refused == nil && g.ours(&cb.Message) {
			s.tell(ctx, at, cb.User.ID, display.Msg(textElsewhere)) // a card from before: it gets none any more
		}
		return
	}
	if cb.Container.Type != "message" || cb.Container.IsEphemeral || at.Message == "" || cb.Channel.ID != at.Channel ||
		!g.ours(&cb.Message) {
		a.done(nil)
		s.log.Info("slack button refused", "user", cb.User.ID, "reason", "not on a message of ours")
		s.tell(ctx, at, cb.User.ID, display.Msg(textNoCard))
		return
	}
	action, request, upto, ok := pressed(cb.ActionCallback.BlockActions)
	if !ok {
		a.done(nil)
		s.log.Info("slack button refused", "user", cb.User.ID, "reason", "not a button of ours")
		s.tell(ctx, at, cb.User.ID, display.Msg(textOldButton))
		return
	}
	at.Request, at.Shown = request, upto
	r, answers := action.Reply()
	r = at.reply(cb.User, r)
	switch {
	case !answers:
		a.done(nil)
		s.ask(ctx, cb, at, action)
	case r.Want == approver.WantDetails:
		a.done(nil)
		out := s.reply(ctx, r)
		if out.Details == "" {
			s.show(ctx, at, cb.User.ID, out, "")
			return
		}
		s.open(ctx, cb, at, detailsDialog(s.To(cb.User.ID, at.Channel), out, whole(r)))
	default:
		s.settle(ctx, a, at, r)
	}
}

// pressed reads the press of one button of ours.
func pressed(presses []*slack.BlockAction) (action cards.Action, request string, upto int, ok bool) {
	if len(presses) != 1 {
		return 0, "", 0, false
	}
	request, ok = requestOf(presses[0].BlockID)
	value, upto, known := approver.CutUpto(presses[0].Value)
	action = actionOf(presses[0].ActionID)
	return action, request, upto, ok && known && value == request && action != 0
}

// reply adds to a reply who gives it, and where.
func (at place) reply(user slack.User, r approver.Reply) approver.Reply {
	r.Channel, r.Conversation, r.Request, r.Message = Name, at.Channel, at.Request, at.Message
	r.Sender, r.Name, r.Shown, r.Event = user.ID, cmp.Or(user.Name, user.RealName), at.Shown, at.event
	return r
}

// textForeign is appended to the outcome of an answer that another daemon may count.
const textForeign = "If the card has not changed by now, answer again: another approver may receive with the same " +
	"Slack app."

// settle passes an answer on and tells its sender the outcome. It does not acknowledge an
// answer to a card that is not ours, so that Slack may deliver it to another daemon, which may
// be the one that asked. A webhook is one daemon's, or that of all that share a store.
func (s *session) settle(ctx context.Context, a *ack, at place, r approver.Reply) {
	out := s.reply(ctx, r)
	if out.Kind != approver.OutcomeUnknown || r.Request == "" || !r.Code.IsZero() || s.hook != nil {
		a.done(nil)
		s.show(ctx, at, r.Sender, out, whole(r))
		return
	}
	s.contested()
	s.foreign.First(a.keys...)
	if a.leave() && calls.Sleep(ctx, s.leave) != nil {
		return
	}
	out.Text += " " + s.To(r.Sender, at.Channel).Text(textForeign)
	s.show(ctx, at, r.Sender, out, "")
}
