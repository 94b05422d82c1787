package slack

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/display"
	"approver.example/tokens"
)

// Texts for one person.
const (
	textElsewhere = "Codes and answers count only in the conversations that get cards, where the card stands. Nothing " +
		"was changed."
	textWhich = "That does not say which card you mean, so nothing was changed. Reply in the thread of the card."
	textOver  = "That card takes no answer any more. Nothing was changed."
)

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
	s.show(ctx, at, user, approver.Outcome{Text: text}, "")
}

// show shows an outcome to one person alone. elsewhere says where its details are whole.
func (s *session) show(ctx context.Context, at place, user string, out approver.Outcome, elsewhere string) {
	if out.Text == "" && out.Details == "" {
		return
	}
	opts := plainOptions(clip(out.Text))
	if blocks := told(out, elsewhere); len(blocks) > 0 {
		opts = append(opts, slack.MsgOptionBlocks(blocks...))
	}
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

// told are the blocks of a message with what a person wanted to see; none if the text is all.
func told(out approver.Outcome, elsewhere string) []slack.Block {
	if out.Details == "" {
		return nil
	}
	for room := maxBlocksJSON - roomForRest; ; room /= 2 { // escapes may take more than the text
		blocks := append([]slack.Block{plainSection(clip(orElse(out.Text, "approver")))},
			pieces(out.Details, room, elsewhere)...)
		if jsonLength(blocks) <= maxBlocksJSON || room < 100 {
			return blocks
		}
	}
}

// whole is the command that shows all of what somebody wants to see on the daemon's machine.
func whole(r approver.Reply) string {
	switch r.Want {
	case approver.WantDetails:
		return "approver approve " + r.Request
	case approver.WantStatus:
		return "approver status"
	case approver.WantGrants:
		return "approver grants"
	case approver.WantAnswer, approver.WantTime, approver.WantDisown, approver.WantHelp, approver.WantPending,
		approver.WantFreeze:
	}
	return "approver pending"
}

// formHelp says what is wrong with a code.
func (s *session) formHelp(err error) string {
	approve, deny := s.cfg.approve(), s.cfg.deny()
	if errors.Is(err, tokens.ErrMany) {
		return "There is more than one code in that: send one at a time."
	}
	if errors.Is(err, intent.ErrUnclear) {
		return "That is neither a clear yes nor a clear no: " +
			strings.Replace(intent.ErrUnclear.Error(), defaultDenyCommand, deny, 1) + "."
	}
	return "That is not a confirmation code. It looks like CONFIRM-ABC234; copy it from the card, as in " + approve +
		" CONFIRM-ABC234. What else you can send, " + approve + " help says."
}

// textNoYes says how to approve where messages do not.
func (s *session) textNoYes() string {
	return "A message cannot approve in Slack. Use the card's buttons, or the command " + s.cfg.approve() +
		" with the code."
}

// textHint says how to answer, to somebody who wrote something else to approver.
func (s *session) textHint() string {
	return "approver did not understand that, and nothing was changed. Press a button of a card, reply in its thread " +
		"with no and your reason, or send " + s.cfg.approve() + " or " + s.cfg.deny() + " with its code. What else you " +
		"can send, " + s.cfg.approve() + " help says."
}

func clip(s string) string {
	s, _ = display.Cut(s, maxTold)
	return s
}

// escape is Slack's own escaping of text, after which nothing in it is markup.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// unescape is its inverse.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
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
