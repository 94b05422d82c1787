package slack_test

import (
	"log/slog"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/intent"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

const (
	here     = "C0HERE1234"
	there    = "C0THERE123"
	direct   = "D0DIRECT12" // with the bot, and without cards
	ann      = "U0ANN12345"
	ben      = "U0BEN12345"
	stranger = "U0STRANGER"
)

func workspace(t *testing.T, opts slacktest.Options) *slacktest.Server {
	t.Helper()
	fake := slacktest.New(opts)
	t.Cleanup(fake.Close)
	for id, name := range map[string]string{ann: "ann", ben: "ben", prober: "probe", stranger: "mallory"} {
		fake.AddUser(slacktest.User{ID: id, Name: name})
	}
	fake.AddConversation(slacktest.Conversation{ID: here})
	fake.AddConversation(slacktest.Conversation{ID: there})
	fake.AddConversation(slacktest.Conversation{ID: direct})
	return fake
}

func config(fake *slacktest.Server) slack.Config {
	return slack.Config{
		BotToken:  secret.New(slacktest.BotToken),
		AppToken:  secret.New(slacktest.AppToken),
		Channels:  []string{here, there},
		Approvers: []approver.Approver{{ID: ann, Name: "Ann"}, {ID: ben}, {ID: prober}},
		APIURL:    fake.URL(),
	}
}

// deniesOnly is Slack as its people know it while messages may only deny: an
// approving reply is sent, but it is no answer.
type deniesOnly struct{ *slacktest.Server }

func (d deniesOnly) ReplyTo(user, conversation, message, text string) bool {
	d.Server.ReplyTo(user, conversation, message, text)
	in, err := intent.Parse(text)
	return err != nil || !in.Approve
}

var (
	_ approver.Receiver   = (*slack.Channel)(nil)
	_ approver.Fitter     = (*slack.Channel)(nil)
	_ approver.Speaker    = (*slack.Channel)(nil)
	_ approver.Overhearer = (*slack.Channel)(nil)
	_ approver.Commander  = (*slack.Channel)(nil)
)

func TestConformance(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		fake := workspace(t, slacktest.Options{PingInterval: time.Second})
		cfg := config(fake)
		c, err := slack.New(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return channeltest.Fixture{
			Channel: c, Fake: deniesOnly{fake}, Here: cfg.Destinations()[0], There: cfg.Destinations()[1],
			Approver: ann, Second: ben, Stranger: stranger, FatalRevoked: true,
			Secrets: []string{slacktest.BotToken, slacktest.AppToken}, Delete: fake.Delete,
			Gone: func(conversation string) {
				fake.AddConversation(slacktest.Conversation{ID: conversation, NotMember: true})
			},
		}
	})
}
