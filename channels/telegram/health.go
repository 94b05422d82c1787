package telegram

import "context"

// Health asks Telegram who we are, and returns the bot's name.
func (c *Channel) Health(ctx context.Context) (who string, err error) {
	err = c.call(ctx, "getMe", func(ctx context.Context) error {
		me, err := c.api.GetMe(ctx)
		if err == nil {
			who = "@" + me.Username
		}
		return err
	})
	return who, err
}
