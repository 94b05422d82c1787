package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/tokens"
)

// The ids of the code dialog.
const (
	codeModal = "ap:code"
	codeInput = "code"
)

// A place is where an answer was given; a dialog carries it as JSON.
type place struct {
	Request string `json:"r,omitempty"`
	Channel string `json:"c"`
	Message string `json:"m,omitempty"`
	Thread  string `json:"t,omitempty"`
	Shown   int    `json:"n,omitempty"` // of the card whose button opened the dialog: see approver.Reply
}

func (s *session) handle(ctx context.Context, a *ack, ev socketmode.Event) {
	switch d := ev.Data.(type) {
	case slack.InteractionCallback:
		s.interaction(ctx, a, &d)
	case slack.SlashCommand:
		s.command(ctx, a, &d)
	case slackevents.EventsAPIEvent:
		if m, ok := d.InnerEvent.Data.(*slackevents.MessageEvent); ok {
			s.message(ctx, a, &d, m)
		}
	}
}

// interaction handles buttons and the code dialog.
func (s *session) interaction(ctx context.Context, a *ack, cb *slack.InteractionCallback) {
	err := s.who().admit(interactionOrigin(cb))
	switch cb.Type {
	case slack.InteractionTypeBlockActions:
		s.button(ctx, a, cb, err)
	case slack.InteractionTypeViewSubmission:
		s.dialog(ctx, a, cb, err)
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
	at := place{Channel: cb.Container.ChannelID, Message: cb.Container.MessageTs, Thread: cb.Container.ThreadTs}
	err := refused
	if err == nil || errors.Is(err, errStranger) {
		if wrong := g.place(at.Channel); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		a.done(nil)
		s.refuse(ctx, at, cb.User.ID, err)
		return
	}
	if cb.Container.Type != "message" || cb.Container.IsEphemeral || at.Message == "" || cb.Channel.ID != at.Channel ||
		!g.ours(&cb.Message) {
		s.log.Info("slack button refused", "user", cb.User.ID, "reason", "not on a message of ours")
		return
	}
	if len(cb.ActionCallback.BlockActions) != 1 {
		return
	}
	act := cb.ActionCallback.BlockActions[0]
	request, ok := requestOf(act.BlockID)
	value, upto, known := approver.CutUpto(act.Value)
	if !ok || !known || value != request {
		s.log.Info("slack button refused", "user", cb.User.ID, "reason", "not a button of ours")
		return
	}
	at.Request = request
	choice := choiceOf(act.ActionID)
	if choice > 0 {
		act.ActionID = actApprove
	}
	switch act.ActionID {
	case actApprove, actDeny:
		s.settle(ctx, a, at, approver.Reply{
			Channel: Name, Conversation: at.Channel, Request: at.Request, Message: at.Message,
			Sender: cb.User.ID, Name: cmp.Or(cb.User.Name, cb.User.RealName),
			Approve: act.ActionID == actApprove, Choice: choice, Method: approver.ByTap, Shown: upto,
		})
	case actCode:
		a.done(nil)
		at.Shown = upto
		data, err := json.Marshal(at)
		if err != nil {
			return
		}
		s.open(ctx, cb, at, codeDialog(titleOf(cb.Message.Blocks.BlockSet), string(data)))
	case actDetails:
		a.done(nil)
		s.open(ctx, cb, at, detailsDialog(cb.Message.Blocks.BlockSet))
	}
}

// choiceOf is the number of the choice whose button has this action; zero for any other button.
func choiceOf(action string) int {
	for n := 1; n <= approver.MaxChoices; n++ {
		if action == actChoice+strconv.Itoa(n) {
			return n
		}
	}
	return 0
}

// textForeign is appended to the outcome of an answer that another daemon may count.
const textForeign = " If the card has not changed by now, answer again: another approver may receive with the same " +
	"Slack app."

// settle passes an answer on and tells its sender the outcome. It does not acknowledge an
// answer to a card that is not ours, so that Slack may deliver it to another daemon, which may
// be the one that asked.
func (s *session) settle(ctx context.Context, a *ack, at place, r approver.Reply) {
	out := s.reply(ctx, r)
	if out.Kind != approver.OutcomeUnknown || r.Request == "" {
		a.done(nil)
		s.tell(ctx, at, r.Sender, out.Text)
		return
	}
	s.contested()
	s.foreign.First(a.keys...)
	if a.leave() && calls.Sleep(ctx, s.leave) != nil {
		return
	}
	s.tell(ctx, at, r.Sender, out.Text+textForeign)
}

// open shows a dialog. Slack allows three seconds from the press.
func (s *session) open(ctx context.Context, cb *slack.InteractionCallback, at place, view slack.ModalViewRequest) {
	err := s.call(ctx, "views.open", func(ctx context.Context) error {
		_, err := s.api.OpenViewContext(ctx, cb.TriggerID, view)
		return err
	})
	if err != nil {
		s.log.Warn("could not open a slack dialog", "error", err)
		s.tell(ctx, at, cb.User.ID,
			"Slack did not open the dialog in time. Press the button again, or send /approve with the code.")
	}
}

// dialog handles a code that was typed into the dialog. The acknowledgement carries the
// outcome, so it waits for it, but not for longer than Slack waits.
func (s *session) dialog(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	if cb.View.CallbackID != codeModal {
		return
	}
	wrong := func(text string) bool {
		return a.done(slack.NewErrorsViewSubmissionResponse(map[string]string{codeInput: clip(text)}))
	}
	var at place
	err := refused
	if err == nil {
		// Slack keeps what we put there, and people cannot change it.
		if err = json.Unmarshal([]byte(cb.View.PrivateMetadata), &at); err == nil {
			err = s.who().place(at.Channel)
		}
	}
	switch {
	case errors.Is(err, errStranger):
		wrong(err.Error())
		return
	case err != nil:
		s.log.Info("slack dialog refused", "user", cb.User.ID, "reason", err)
		return
	}
	code, err := typedCode(cb.View.State)
	if err != nil {
		wrong(formHelp(err))
		return
	}
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	out := s.reply(ctx, approver.Reply{
		Channel: Name, Conversation: at.Channel, Sender: cb.User.ID, Name: cmp.Or(cb.User.Name, cb.User.RealName),
		Approve: true, Method: approver.ByCode, Request: at.Request, Message: at.Message, Code: code, Shown: at.Shown,
	})
	switch out.Kind {
	case approver.OutcomeUnknown, approver.OutcomeLocked, approver.OutcomeRefused, approver.OutcomeNeedCode:
		if wrong(out.Text) { // the dialog stays open for another try
			return
		}
	default:
		a.done(slack.NewClearViewSubmissionResponse())
	}
	s.tell(ctx, at, cb.User.ID, out.Text)
}

func typedCode(state *slack.ViewState) (tokens.Code, error) {
	if state == nil {
		return tokens.Code{}, tokens.ErrForm
	}
	text := state.Values[codeInput][codeInput].Value
	if code, err := tokens.Parse(text); err == nil {
		return code, nil
	}
	in, err := intent.Parse(text)
	if err == nil && !in.Approve { // the dialog approves; a refusal typed into it is unclear
		err = intent.ErrUnclear
	}
	if err == nil && in.Code.IsZero() {
		err = tokens.ErrForm
	}
	if err != nil {
		return tokens.Code{}, err
	}
	return in.Code, nil
}

// command handles /approve and /deny. The acknowledgement can carry the outcome.
func (s *session) command(ctx context.Context, a *ack, cmd *slack.SlashCommand) {
	g := s.who()
	err := g.admit(commandOrigin(cmd))
	if s.pairs(ctx, a, cmd, err) {
		return
	}
	if err == nil {
		if g.place(cmd.ChannelID) != nil {
			answerCommand(a, "Codes count only in the conversation whose card shows them.")
			return
		}
	}
	switch {
	case errors.Is(err, errStranger):
		answerCommand(a, err.Error())
		return
	case err != nil:
		s.log.Info("slack command refused", "user", cmd.UserID, "reason", err)
		return
	}
	at := place{Channel: cmd.ChannelID}
	in, err := intent.Parse(cmd.Command + " " + cmd.Text)
	if err != nil || in.Method != approver.ByCommand {
		answerCommand(a, formHelp(err))
		return
	}
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	out := s.reply(ctx, approver.Reply{
		Channel: Name, Conversation: at.Channel, Sender: cmd.UserID, Name: cmd.UserName,
		Approve: in.Approve, Method: approver.ByCommand, Code: in.Code, Grant: in.Grant, Sent: a.at,
	})
	if !a.rich || !answerCommand(a, out.Text) {
		s.tell(ctx, at, cmd.UserID, out.Text)
	}
}

// answerCommand acknowledges a command with a text that only its sender sees. It reports
// whether the text was sent.
func answerCommand(a *ack, text string) bool {
	return a.done(map[string]any{
		"response_type": "ephemeral",
		"text":          escape(clip(text)),
		"mrkdwn":        false,
	})
}

// message handles an ordinary message. It ignores talk, and everybody who is not an approver.
func (s *session) message(
	ctx context.Context, a *ack, outer *slackevents.EventsAPIEvent, ev *slackevents.MessageEvent,
) {
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	g := s.who()
	err := g.admit(messageOrigin(outer, ev))
	if s.pairsByMessage(ctx, ev, err) {
		return
	}
	if err != nil || g.place(ev.Channel) != nil {
		return // silence: most messages are not for us, and strangers may talk
	}
	at := place{Channel: ev.Channel, Thread: ev.ThreadTimeStamp}
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(ev.Text), "<@"+s.bot+">"))
	in, err := intent.Parse(text)
	switch {
	case errors.Is(err, intent.ErrNotAnAnswer):
		return
	case err != nil:
		s.tell(ctx, at, ev.User, formHelp(err))
		return
	}
	r := approver.Reply{Sender: ev.User, Approve: in.Approve, Method: in.Method, Code: in.Code, Grant: in.Grant,
		Sent: sentAt(ev.TimeStamp)}
	if in.Method == approver.ByPlain {
		request, ok := s.parent(ctx, ev)
		if !ok {
			return // a bare yes or no that answers no card of ours is talk
		}
		at.Request, at.Message = request, ev.ThreadTimeStamp
	}
	if in.Approve && !s.cfg.TextApprovals {
		s.tell(ctx, at, ev.User,
			"A message cannot approve in Slack. Use the card's buttons, or the command /approve with the code.")
		return
	}
	r.Channel, r.Conversation, r.Request, r.Message = Name, at.Channel, at.Request, at.Message
	s.settle(ctx, a, at, r)
}

// parent finds the card that a message replies to: the first message of its thread, if that is
// a pending card of ours.
func (s *session) parent(ctx context.Context, ev *slackevents.MessageEvent) (request string, ok bool) {
	if ev.ThreadTimeStamp == "" || ev.ThreadTimeStamp == ev.TimeStamp {
		return "", false
	}
	var list []slack.Message
	err := s.call(ctx, "conversations.replies", func(ctx context.Context) (err error) {
		list, _, _, err = s.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: ev.Channel, Timestamp: ev.ThreadTimeStamp, Limit: 1, Inclusive: true})
		return err
	})
	if err != nil {
		s.log.Warn("could not read the card that a message answers", "error", err)
		return "", false
	}
	if len(list) == 0 || list[0].Timestamp != ev.ThreadTimeStamp {
		return "", false
	}
	g := s.who()
	if !g.ours(&list[0]) {
		return "", false
	}
	return requestIn(list[0].Blocks)
}

// refuse logs a refusal. If the sender is a colleague who is not on the list, it also tells
// them, once in a while.
func (s *session) refuse(ctx context.Context, at place, user string, err error) {
	s.log.Info("slack answer refused", "user", user, "conversation", at.Channel, "reason", err)
	if !errors.Is(err, errStranger) {
		return
	}
	if s.refusals.Begin(user, refuseEvery) {
		s.tell(ctx, at, user, err.Error())
	}
}

// tell shows a text to one person alone.
func (s *session) tell(ctx context.Context, at place, user, text string) {
	if text == "" {
		return
	}
	opts := plainOptions(clip(text))
	if at.Thread != "" {
		opts = append(opts, slack.MsgOptionTS(at.Thread))
	}
	err := s.call(ctx, "chat.postEphemeral", func(ctx context.Context) error {
		_, err := s.api.PostEphemeralContext(ctx, at.Channel, user, opts...)
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn("could not tell a person what became of the answer", "user", user, "error", err)
	}
}

func formHelp(err error) string {
	if errors.Is(err, tokens.ErrMany) {
		return "There is more than one code in that: send one at a time."
	}
	if errors.Is(err, intent.ErrUnclear) {
		return "That is neither a clear yes nor a clear no: " + intent.ErrUnclear.Error() + "."
	}
	return "That is not a confirmation code. It looks like CONFIRM-ABC234; copy it from the card, as in /approve " +
		"CONFIRM-ABC234."
}

func clip(s string) string {
	s, _ = display.Cut(s, maxTold)
	return s
}

// escape is Slack's own escaping of text, after which nothing in it is markup.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// sentAt is the second in which Slack received a message: its id begins with that time. It is
// zero for a text that is not an id.
func sentAt(ts string) time.Time {
	digits, _, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
