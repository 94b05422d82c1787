package discord

import (
	"context"
	"net/http"
	"strconv"
)

// Health asks Discord about every channel that gets cards.
func (c *Channel) Health(ctx context.Context) (string, error) {
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
