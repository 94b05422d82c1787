package telegram

import (
	"testing"

	"approver.example/channels/channeltest"
)

func TestConformance(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		s := newWorld(t)
		cfg := testConfig(s)
		to := cfg.Destinations()
		return channeltest.Fixture{
			Channel: newChannel(t, cfg), Fake: s, Here: to[0], There: to[2], // a topic of the same forum
			Approver: text(ann), Second: text(bob), Stranger: text(mallory),
			CodeByMessage: true, FatalRevoked: true, Secrets: []string{s.Token()},
		}
	})
}
