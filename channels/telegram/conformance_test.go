package telegram

import (
	"strconv"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/telegram/telegramtest"
)

var (
	_ approver.Receiver   = (*Channel)(nil)
	_ approver.Fitter     = (*Channel)(nil)
	_ approver.Speaker    = (*Channel)(nil)
	_ approver.Overhearer = (*Channel)(nil)
)

func chatID(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestConformance(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		s := newWorld(t)
		cfg := testConfig(s)
		to := cfg.Destinations()
		return channeltest.Fixture{
			Channel: newChannel(t, cfg), Fake: s, Here: to[0], There: to[1],
			Approver: text(ann), Second: text(bob), Stranger: text(mallory),
			CodeByMessage: true, Reasons: true, FatalRevoked: true, Secrets: []string{s.Token()},
			Reads: func(shown string) string { return strings.ReplaceAll(shown, string(tab), "\t") },
			Gone: func(conversation string) {
				s.AddChat(telegramtest.Chat{ID: chatID(t, conversation), Kicked: true})
			},
			Delete: func(conversation, message string) { s.Delete(chatID(t, conversation), message) },
		}
	})
}
