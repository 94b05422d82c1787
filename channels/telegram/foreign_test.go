package telegram

import (
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
)

// The status of a channel had a whole page of nginx in it, and not what it said in short.
func TestAnswersOfNoTelegram(t *testing.T) {
	s := newWorld(t)
	channeltest.ForeignError(t, func(t *testing.T, url string, log *slog.Logger) (approver.Channel, approver.Destination) {
		cfg := testConfig(s)
		cfg.APIURL = url
		c, err := New(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		return c, cfg.Destinations()[0]
	})
}
