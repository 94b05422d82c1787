package daemon

import (
	"context"
	"errors"
	"log/slog"

	"approver.example"
	"approver.example/internal/webhooks"
)

// A hooked channel may receive by webhook.
type hooked interface {
	// Webhook returns where its platform brings answers; nil if it receives otherwise.
	Webhook() webhooks.Hook
}

// openWebhooks listens for the channels whose platforms bring answers over HTTP, and returns what serves
// them; nothing if there are none.
func openWebhooks(
	ctx context.Context, listen string, channels []approver.Channel, log *slog.Logger,
) ([]func(context.Context) error, error) {
	hooks := map[string]webhooks.Hook{}
	for _, c := range channels {
		if h, is := c.(hooked); is && h.Webhook() != nil {
			hooks[c.Name()] = h.Webhook()
		}
	}
	if len(hooks) == 0 {
		return nil, nil
	}
	l, err := webhooks.Listen(ctx, listen)
	if err != nil {
		return nil, err
	}
	log = log.With("part", "webhooks")
	log.Info("listening for the platforms", "on", l.Addr().String())
	door := webhooks.NewDoor(hooks, log)
	return []func(context.Context) error{func(ctx context.Context) error { return door.Serve(ctx, l) }}, nil
}

// closeDoors closes the sockets after a start that failed.
func (a *Admin) closeDoors() (err error) {
	for _, door := range a.doors {
		err = errors.Join(err, door.Close())
	}
	return err
}
