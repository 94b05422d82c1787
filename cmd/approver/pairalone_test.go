package main

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/cmd/approver/internal/pairing"
	"approver.example/tokens"
)

// open makes the channel that pair has when no daemon receives.
func (a chatApp) open() (approver.Pairer, error) {
	log := slog.New(slog.DiscardHandler)
	switch a.name { // of the flags: a file, and for Slack another, and the server
	case telegram.Name:
		return telegram.Config{TokenFile: a.flags[1], APIURL: a.flags[3]}.ForPairing(log)
	case discord.Name:
		return discord.Config{TokenFile: a.flags[1], APIURL: a.flags[3]}.ForPairing(log)
	default:
		return slack.Config{BotTokenFile: a.flags[1], AppTokenFile: a.flags[3], APIURL: a.flags[5]}.ForPairing(log)
	}
}

// staysOpen is a channel that goes on to receive after the code was sent, until
// after has returned.
type staysOpen struct {
	approver.Pairer
	after func()
}

func (s staysOpen) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	who, err := s.Pairer.Pair(ctx, code)
	s.after()
	return who, err
}

// The story: Ada sends the code, and Eve, who has read it in the room, the same
// code after her, while the bot still listens. It is Ada's: the code was void
// when Eve sent it, also for the pairing that comes next.
func TestPairAloneTakesTheFirst(t *testing.T) {
	for _, app := range chatApps(t) {
		t.Run(app.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			ch, err := app.open()
			if err != nil {
				t.Fatal(err)
			}
			code, next := mintPair(t), mintPair(t)
			// again sends a code until stop: nobody knows when the bot begins to listen.
			again := func(who string, code tokens.Code) (stop func()) {
				sending, end := context.WithCancel(ctx)
				var sender sync.WaitGroup
				sender.Go(func() {
					for sending.Err() == nil {
						app.fake.Type(who, app.room, "/pair "+code.Reveal())
						select {
						case <-sending.Done():
						case <-time.After(300 * time.Millisecond):
						}
					}
				})
				return func() { end(); sender.Wait() }
			}
			stopFirst := again(app.ada, code)
			who, err := pairing.Alone(ctx, staysOpen{ch, func() {
				stopFirst()
				app.fake.Type(app.eve, app.room, "/pair "+code.Reveal())
				stop := again(app.ada, next)
				defer stop()
				if who, err := ch.Pair(ctx, next); err != nil || who.ID != app.ada {
					t.Errorf("the next code: %+v, %v", who, err)
				}
			}}, code)
			if err != nil || who.ID != app.ada || who.Chat != app.room {
				t.Errorf("paired %+v, %v", who, err)
			}
		})
	}
}

func mintPair(t *testing.T) tokens.Code {
	t.Helper()
	code, err := tokens.Mint(pairing.CodeLength)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
