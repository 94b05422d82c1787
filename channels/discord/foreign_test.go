package discord_test

import (
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/discord"
	"approver.example/internal/secret"
)

func TestAnswersOfNoDiscord(t *testing.T) {
	channeltest.ForeignError(t, func(t *testing.T, url string, log *slog.Logger) (approver.Channel, approver.Destination) {
		cfg := discord.Config{
			Token: secret.New("MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.abcdefghijklmnopqrstuvwxyz0123456789AB"), APIURL: url,
			Channels: []string{"100000000000000001"}, Approvers: []approver.Approver{{ID: "100000000000000002"}},
		}
		c, err := discord.New(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		return c, cfg.Destinations()[0]
	})
}
