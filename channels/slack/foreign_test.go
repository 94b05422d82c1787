package slack_test

import (
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

func TestAnswersOfNoSlack(t *testing.T) {
	channeltest.ForeignError(t, func(t *testing.T, url string, log *slog.Logger) (approver.Channel, approver.Destination) {
		cfg := slack.Config{
			BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken), APIURL: url,
			Channels: []string{here}, Approvers: []approver.Approver{{ID: ann}},
		}
		c, err := slack.New(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		return c, cfg.Destinations()[0]
	})
}
