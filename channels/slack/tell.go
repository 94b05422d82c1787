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
)

// Texts for one person.
//
//approver:texts
const (
	textStranger = "You are not on the approver list for Slack: your answer does not count."

	textElsewhere = "Codes and answers count only in the conversations that get cards, where the card stands. Nothing " +
		"was changed."
	textWhich      = "That does not say which card you mean, so nothing was changed. Reply in the thread of the card."
	textNoCard     = "That message is no card of approver. Nothing was changed."
	textNoShortcut = "approver has no such shortcut: its manifest in docs/channels/slack.md has those that it knows."
	textPlain      = "Only a plain message counts, without a file and not sent to the channel beside the thread. " +
		"Nothing was changed."
	textEdited = "An edited message does not count. Send your answer as a new message."
	textUnread = "approver could not read which card that answers, so nothing was changed. Answer again, or press a " +
		"button of the card."
	textOldButton = "This button or command is not one that approver knows. It may come from an older version."
	textOver      = "That card takes no answer any more. Nothing was changed."
)

// refuse logs a refusal. If the sender is a colleague who is not on the list, it also tells
// them, once in a while.
func (s *session) refuse(ctx context.Context, at place, user string, err error) {
	s.log.Info("slack answer refused", "user", user, "conversation", at.Channel, "reason", err)
	if !errors.Is(err, errStranger) {
		return
	}
	if s.refusals.Begin(user, refuseEvery) {
		s.tell(ctx, at, user, display.Msg(textStranger))
	}
}

// tell tells one person alone something of the channel's own.
func (s *session) tell(ctx context.Context, at place, user string, says display.Message) {
	s.show(ctx, at, user, approver.Outcome{Text: s.To(user, at.Channel).Message(says)}, "")
}

// show shows an outcome to one person alone. elsewhere says where its details are whole.
func (s *session) show(ctx context.Context, at place, user string, out approver.Outcome, elsewhere string) {
	if out.Text == "" && out.Details == "" {
		return
	}
	opts := plainOptions(clip(out.Text))
	if blocks := told(s.To(user, at.Channel), out, elsewhere); len(blocks) > 0 {
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
func told(t display.Texts, out approver.Outcome, elsewhere string) []slack.Block {
	if out.Details == "" {
		return nil
	}
	for room := maxBlocksJSON - roomForRest; ; room /= 2 { // escapes may take more than the text
		blocks := append([]slack.Block{plainSection(clip(orElse(out.Text, "approver")))},
			pieces(t, out.Details, room, elsewhere)...)
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
	case approver.WantAnswer, approver.WantTime, approver.WantDisown, approver.WantEdit, approver.WantHelp,
		approver.WantPending, approver.WantFreeze:
	}
	return "approver pending"
}

// formHelp says what is wrong with a code.
func (s *session) formHelp(err error) display.Message {
	approve, deny := s.Commands()
	return display.Msg("%s What else you can send, %s help says.", intent.Problem(err, approve, deny), approve)
}

// sayNoYes says how to approve where messages do not.
func (s *session) sayNoYes() display.Message {
	return display.Msg("A message cannot approve in Slack. Use the card's buttons, or the command %s with the code.",
		s.cfg.approve())
}

// sayHint says how to answer, to somebody who wrote something else to approver.
func (s *session) sayHint() display.Message {
	approve, deny := s.Commands()
	return display.Msg("approver did not understand that, and nothing was changed. Press a button of a card, reply in "+
		"its thread with no and your reason, or send %s or %s with its code. What else you can send, %[1]s help says.",
		approve, deny)
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
