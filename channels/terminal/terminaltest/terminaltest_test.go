package terminaltest_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/terminal"
	"approver.example/channels/terminal/terminaltest"
)

// A card's buttons come with what a person types for them.
func TestCardsHaveLabels(t *testing.T) {
	channel, err := terminal.New(terminal.Config{
		Approvers: []approver.Approver{{ID: "1001"}}, AllowAnswers: true, Isolated: true,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := terminaltest.New(channel, "1001")
	t.Cleanup(s.Close)
	_, err = channel.Post(t.Context(), approver.Destination{Channel: terminal.Name, Conversation: terminal.Conversation},
		approver.Card{
			Request: "r", State: approver.Pending, Severity: approver.High, OneTap: true, Push: "push",
			Body: channeltest.Command("make"),
			Due:  time.Now().Add(time.Minute),
		})
	if err != nil {
		t.Fatal(err)
	}
	var cards []fake.Shown
	for end := time.Now().Add(30 * time.Second); len(cards) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		cards = s.Cards(terminal.Conversation)
	}
	if len(cards) != 1 || !slices.Equal(cards[0].Labels[:2], []string{"y 1", "n 1"}) ||
		len(cards[0].Labels) != len(cards[0].Buttons) {
		t.Errorf("cards: %+v", cards)
	}
}
