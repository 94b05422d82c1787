package discord

import (
	"context"
	"net/http"
	"strconv"
)

// Health asks Discord about every channel that gets cards and, with a webhook, whether it is entered
// there.
func (c *Channel) Health(ctx context.Context) (string, error) {
	for _, id := range c.cfg.Channels {
		var there struct {
			ID string `json:"id"`
		}
		if err := c.call(ctx, "look at channel "+id, http.MethodGet, "channels/"+id, nil, nil, &there); err != nil {
			return "", err
		}
	}
	seen := strconv.Itoa(len(c.cfg.Channels)) + " channels seen"
	if c.hook == nil {
		return seen, nil
	}
	app, err := c.application(ctx)
	if err == nil {
		err = c.hook.problem(app)
	}
	return seen + ", and presses come to " + c.hook.at, err
}
