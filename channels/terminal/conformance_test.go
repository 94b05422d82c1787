package terminal_test

import (
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/terminal"
	"approver.example/channels/terminal/terminaltest"
)

var _ approver.Speaker = (*terminal.Channel)(nil)

func TestConformance(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		channel, err := terminal.New(terminal.Config{
			Approvers:    []approver.Approver{{ID: "1001", Name: "Ann"}, {ID: "1002"}},
			AllowAnswers: true,
			Isolated:     true,
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		fake := terminaltest.New(channel, "1001", "1002", "1003")
		t.Cleanup(fake.Close)
		return channeltest.Fixture{
			Press:   approver.ByTyped,
			Channel: channel, Fake: fake,
			Here:     approver.Destination{Channel: terminal.Name, Conversation: terminal.Conversation},
			Approver: "1001", Second: "1002", Stranger: "1003", CodeByMessage: true,
		}
	})
}
