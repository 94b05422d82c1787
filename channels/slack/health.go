package slack

import (
	"context"

	"github.com/slack-go/slack"
)

// Health asks Slack who we are and about every conversation that gets cards, and returns the
// bot's name and workspace.
func (c *Channel) Health(ctx context.Context) (who string, err error) {
	me, err := c.me(ctx)
	if err != nil {
		return "", err
	}
	for _, id := range c.cfg.Channels {
		if err := c.vet(ctx, id); err != nil {
			return "", err
		}
	}
	return me.User + " in " + me.Team, nil
}

// me asks Slack who we are.
func (c *Channel) me(ctx context.Context) (me *slack.AuthTestResponse, err error) {
	err = c.call(ctx, "auth.test", func(ctx context.Context) (err error) {
		me, err = c.api.AuthTestContext(ctx)
		return err
	})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bot = identity(me)
	}
	return me, err
}
