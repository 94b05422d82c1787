package discord_test

import (
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/internal/secret"
)

var (
	_ approver.Receiver   = (*discord.Channel)(nil)
	_ approver.Fitter     = (*discord.Channel)(nil)
	_ approver.Speaker    = (*discord.Channel)(nil)
	_ approver.Overhearer = (*discord.Channel)(nil)
)

func TestConformance(t *testing.T) {
	channeltest.Run(t, fixture)
}

func fixture(t *testing.T) channeltest.Fixture {
	s := discordtest.New()
	t.Cleanup(s.Close)
	first, second, stranger := s.AddUser("Ann"), s.AddUser("Bob"), s.AddUser("Mallory")
	cfg := discord.Config{
		Token: secret.New(s.Token()), APIURL: s.URL(), Channels: []string{s.AddChannel(), s.AddChannel()},
		Approvers: []approver.Approver{{ID: first}, {ID: second}},
	}
	c, err := discord.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	to := cfg.Destinations()
	return channeltest.Fixture{
		Channel: c, Fake: s, Here: to[0], There: to[1], Approver: first, Second: second, Stranger: stranger,
		CodeByMessage: false, FatalRevoked: true, Secrets: []string{s.Token()}, Gone: s.RemoveChannel, Delete: s.Delete,
	}
}
