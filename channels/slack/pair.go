package slack

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"approver.example"
	"approver.example/channels/internal/pairing"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// pairCommand is the command that takes a pairing code. An app that was made before the command
// existed may lack it: then /approve takes the code too.
const pairCommand = "/pair"

// Platform says how pairing works here, and where the platform is.
func (c *Config) Platform() section.Platform {
	return section.Platform{
		API: &c.APIURL, UsualAPI: defaultAPI,
		Receiver: "Slack app",
		How: "in the channel that is to get cards, use the command /pair %s (of an older " +
			"app, /approve takes it too), or send it to the app as a direct message",
		Example: "--bot-token-file ~/.approver/slack.bot --app-token-file ~/.approver/slack.app",
		Places:  "channels",
	}
}

// ForPairing makes a channel that only pairs: it ignores the channels and approvers of c.
func (c Config) ForPairing(log *slog.Logger) (approver.Pairer, error) {
	c.Channels, c.Approvers = []string{"C00000000"}, []approver.Approver{{ID: "U00000000"}}
	channel, err := New(c, log)
	if err != nil {
		return nil, err
	}
	channel.pairsOnly = true
	return channel, nil
}

// Pair waits for the command /pair or /approve with the code, or for a message
// with it, from a member of our own workspace in a conversation that can get
// cards.
func (c *Channel) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	return c.pairing.Pair(ctx, code)
}

// pairs takes a command that may have the code of a pairing, and reports whether it has handled
// the command. refused is the guard's error for it.
func (s *session) pairs(ctx context.Context, a *ack, cmd *slack.SlashCommand, refused error) bool {
	mine := s.pairing.Matches(cmd.Text)
	if cmd.Command != pairCommand && !mine || refused != nil && !errors.Is(refused, errStranger) {
		return false
	}
	who := approver.Paired{ID: cmd.UserID, Name: cmd.UserName, Chat: cmd.ChannelID, Title: cmd.ChannelName}
	answerCommand(a, s.paired(ctx, cmd.Text, mine, who))
	return true
}

// pairsByMessage is pairs for a message. It leaves a message without the code to others.
func (s *session) pairsByMessage(ctx context.Context, ev *slackevents.MessageEvent, refused error) bool {
	if refused != nil && !errors.Is(refused, errStranger) || !s.pairing.Matches(ev.Text) {
		return false
	}
	text := s.paired(ctx, ev.Text, true, approver.Paired{ID: ev.User, Name: ev.User, Chat: ev.Channel})
	s.tell(ctx, place{Channel: ev.Channel, Thread: ev.ThreadTimeStamp}, ev.User, text)
	return true
}

// paired returns the text for the person. The code stays valid if the conversation where it was
// sent cannot show cards.
func (s *session) paired(ctx context.Context, text string, mine bool, who approver.Paired) string {
	if mine {
		ctx, cancel := context.WithTimeout(ctx, ackIn)
		defer cancel()
		if err := s.vet(ctx, who.Chat); err != nil {
			return "Cards could not be shown here, so nothing was changed: " + err.Error()
		}
	}
	if !s.pairing.Sent(text, who) {
		return pairing.NotPairedText
	}
	return pairing.PairedText
}
