package slack

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/display"
)

// Commands are the names of the commands that approve and deny.
func (c *Channel) Commands() (approve, deny string) { return c.cfg.approve(), c.cfg.deny() }

// read reads a command, or a text that may be one. The names of our commands are the configuration's.
func (s *session) read(text string) (intent.Intent, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(verb) {
	case s.cfg.approve():
		// Other apps use commands such as /pending, so what they ask for stands behind ours.
		if in, ok := intent.Wanted(rest); ok {
			return in, nil
		}
		return intent.Parse(defaultCommand + " " + rest)
	case s.cfg.deny():
		return intent.Parse(defaultDenyCommand + " " + rest)
	}
	return intent.Parse(noSigns.Replace(text))
}

// noSigns are the names under which Slack sends the signs of a no, and the tones of skin behind them.
var noSigns = strings.NewReplacer(":-1:", "👎", ":thumbsdown:", "👎", ":x:", "❌", ":no_entry:", "⛔", ":octagonal_sign:",
	"🛑", ":no_entry_sign:", "🚫", ":skin-tone-2:", "", ":skin-tone-3:", "", ":skin-tone-4:", "", ":skin-tone-5:", "",
	":skin-tone-6:", "")

// command handles our slash commands. The acknowledgement can carry the outcome, which nobody but the
// sender sees.
func (s *session) command(ctx context.Context, a *ack, cmd *slack.SlashCommand) {
	g := s.who()
	err := g.admit(commandOrigin(cmd))
	if s.pairs(ctx, a, cmd, err) {
		return
	}
	if errors.Is(err, errStranger) || err == nil && g.place(cmd.ChannelID) != nil {
		s.Note(ctx, cmd.Text,
			approver.Reply{Channel: Name, Conversation: cmd.ChannelID, Sender: cmd.UserID, Name: cmd.UserName})
	}
	switch {
	case errors.Is(err, errStranger):
		s.answer(a, cmd, display.Msg(textStranger))
		return
	case err != nil:
		s.log.Info("slack command refused", "user", cmd.UserID, "reason", err)
		return
	}
	in, err := s.read(cmd.Command + " " + cmd.Text)
	here := g.place(cmd.ChannelID) == nil
	var problem display.Message
	switch {
	case cmd.Command != s.cfg.approve() && cmd.Command != s.cfg.deny():
		problem = display.Msg("That is no command of approver here: use %s and %s.", s.cfg.approve(), s.cfg.deny())
	case err == nil && in.Want != approver.WantAnswer:
	case !here:
		problem = display.Msg(textElsewhere)
	case err != nil || in.Method != approver.ByCommand:
		problem = s.formHelp(err)
	}
	if problem.Format != "" {
		s.answer(a, cmd, problem)
		return
	}
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	r := asked(in, cmd.ChannelID, here)
	r.Sender, r.Name, r.Sent, r.Event = cmd.UserID, cmd.UserName, a.at, cmd.TriggerID
	out := s.reply(ctx, r)
	if !a.rich || !answerCommand(a, s.To(r.Sender, cmd.ChannelID), out, whole(r)) {
		s.show(ctx, place{Channel: cmd.ChannelID}, cmd.UserID, out, whole(r))
	}
}

// asked is what a person says with a command or a message in a conversation; here says whether it
// gets cards. Who wants to see something elsewhere, or in a direct message, sees it alone.
func asked(in intent.Intent, conversation string, here bool) approver.Reply {
	if in.Want != approver.WantAnswer && (!here || isDirect(conversation)) {
		conversation = ""
	}
	return approver.Reply{Want: in.Want, Channel: Name, Conversation: conversation, Approve: in.Approve,
		Method: in.Method, Code: in.Code, Grant: in.Grant, Reason: in.Reason}
}

// isDirect reports whether a conversation is with the bot alone: it sees no other direct messages.
func isDirect(conversation string) bool { return strings.HasPrefix(conversation, "D") }

// answer acknowledges a command with something of the channel's own.
func (s *session) answer(a *ack, cmd *slack.SlashCommand, says display.Message) {
	t := s.To(cmd.UserID, cmd.ChannelID)
	answerCommand(a, t, approver.Outcome{Text: t.Message(says)}, "")
}

// answerCommand acknowledges a command with an outcome that only its sender sees. It reports
// whether it was sent.
func answerCommand(a *ack, t display.Texts, out approver.Outcome, elsewhere string) bool {
	answer := map[string]any{
		"response_type": "ephemeral",
		"text":          escape(clip(out.Text)),
		"mrkdwn":        false,
	}
	if blocks := told(t, out, elsewhere); len(blocks) > 0 {
		answer["blocks"] = blocks
	}
	return a.done(answer)
}
