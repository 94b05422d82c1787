package discord

import (
	"context"
	"net/http"
	"strconv"
)

// Health asks Discord about every channel that gets cards; for a channel that only pairs, it
// asks whether the token is good.
func (c *Channel) Health(ctx context.Context) (string, error) {
	if c.pairsOnly {
		return "no channel yet", c.mayIdentify(ctx)
	}
	for _, id := range c.cfg.Channels {
		var there struct {
			ID string `json:"id"`
		}
		if err := c.call(ctx, "look at channel "+id, http.MethodGet, "channels/"+id, nil, nil, &there); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(len(c.cfg.Channels)) + " channels seen", nil
}
