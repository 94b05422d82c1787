package slack

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/pairing"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
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
		Token: "At https://api.slack.com/apps make an app from the manifest in docs/channels/slack.md and install it:\n" +
			"that gives the bot's token, xoxb-…; Basic Information, App-Level Tokens gives the app's, xapp-….",
		Heading: "The Slack app, and who answers it; written by approver pair.",
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

// appInToken finds the app's id in its token: "xapp-1-A0123456789-…".
var appInToken = lazyregexp.New(`^xapp-\d+-(A[A-Z0-9]{2,})-`)

// Introduce names the app, and the links that open it.
func (c *Channel) Introduce(ctx context.Context, code tokens.Code) (approver.Introduction, error) {
	me, err := c.me(ctx)
	if calls.KindOf(err) == calls.Revoked {
		err = approver.TokenError{Cause: err}
	}
	if err != nil {
		return approver.Introduction{}, err
	}
	steps := []approver.Step{
		{Text: "In the channel that is to get cards, type /invite @" + me.User + " and then: /pair " + code.Reveal()},
	}
	id := c.cfg.AppID
	if found := appInToken().FindStringSubmatch(c.app.Reveal()); id == "" && found != nil {
		id = found[1]
	}
	if id != "" && teamID().MatchString(me.TeamID) {
		steps = append(steps,
			approver.Step{Text: "Cards in private: open the app, and send it the code in its messages:",
				Link: "https://slack.com/app_redirect?app=" + id + "&team=" + me.TeamID},
			approver.Step{Text: "The same, straight into the Slack app on this device:",
				Link: "slack://app?team=" + me.TeamID + "&id=" + id})
	}
	return approver.Introduction{Name: me.User + " in " + me.Team, Steps: steps}, nil
}

// Tell writes to the conversation where the code was sent.
func (c *Channel) Tell(ctx context.Context, who approver.Paired, text string) error {
	return c.call(ctx, "chat.postMessage", func(ctx context.Context) error {
		_, _, err := c.api.PostMessageContext(ctx, who.Chat, plainOptions(clip(text))...)
		return err
	})
}

// Passed counts what was sent in the meantime that was not the code.
func (c *Channel) Passed() approver.Passed {
	passed := c.pairing.Passed()
	passed.Others = int(c.elsewhere.Load())
	return passed
}

// Pair waits for the command /pair or /approve with the code, or for a message
// with it, from a member of our own workspace in a conversation that can get
// cards.
func (c *Channel) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	return c.pairing.Pair(ctx, code)
}

// sayHow follows what the bot says of itself.
//
//approver:texts
const sayHow = "%s To become one: on the machine where approver runs, approver pair slack shows a " +
	"code. Send it with /pair in the channel that gets cards, or to me."

// pairs takes a command that may have the code of a pairing, and reports whether it has handled
// the command. refused is the guard's error for it.
func (s *session) pairs(ctx context.Context, a *ack, cmd *slack.SlashCommand, refused error) bool {
	mine := s.pairing.Matches(cmd.Text)
	if cmd.Command != pairCommand && !mine || refused != nil && !errors.Is(refused, errStranger) {
		return false
	}
	who := approver.Paired{ID: cmd.UserID, Name: cmd.UserName, Chat: cmd.ChannelID, Title: cmd.ChannelName}
	said, told := s.paired(ctx, cmd.Text, mine, who)
	defer told()
	s.answer(a, cmd, said)
	return true
}

// pairsByMessage is pairs for a message. It leaves a message without the code to others, but for
// that of a colleague who writes to the app itself.
func (s *session) pairsByMessage(ctx context.Context, ev *slackevents.MessageEvent, refused error) bool {
	stranger := errors.Is(refused, errStranger)
	if refused != nil && !stranger {
		return false
	}
	at := place{Channel: ev.Channel, Thread: ev.ThreadTimeStamp}
	if s.pairing.Matches(ev.Text) {
		who := approver.Paired{ID: ev.User, Name: ev.User, Chat: ev.Channel}
		said, told := s.paired(ctx, ev.Text, true, who)
		defer told()
		s.tell(ctx, at, ev.User, said)
		return true
	}
	s.pairing.Other(ev.Text)
	if stranger && strings.HasPrefix(ev.Channel, "D") && s.refusals.Begin(ev.User, refuseEvery) {
		s.tell(ctx, at, ev.User, display.Msg(sayHow, display.Msg(pairing.WhoText)))
	}
	return false
}

// paired returns the text for the person, and what to call once they have it. The code stays valid if
// the conversation where it was sent cannot show cards.
func (s *session) paired(
	ctx context.Context, text string, mine bool, who approver.Paired,
) (says display.Message, told func()) {
	if mine {
		ctx, cancel := context.WithTimeout(ctx, ackIn)
		defer cancel()
		if err := s.vet(ctx, who.Chat); err != nil {
			return display.Msg("Cards could not be shown here, so nothing was changed: %s", err.Error()), func() {}
		}
	}
	told, sent := s.pairing.Sent(text, who)
	if !sent {
		return display.Msg(pairing.NotPairedText), told
	}
	return display.Msg(pairing.PairedText), told
}
