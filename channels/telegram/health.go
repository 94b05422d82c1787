package telegram

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-telegram/bot"
)

// Health asks Telegram who we are and about every chat that gets cards, and, with a webhook, whether
// Telegram reaches it. It returns the bot's name.
func (c *Channel) Health(ctx context.Context) (who string, err error) {
	name, err := c.me(ctx)
	if err != nil {
		return "", err
	}
	who = "@" + name
	var chats []int64
	for at := range c.guard.places {
		chats = append(chats, at.chat)
	}
	slices.Sort(chats)
	for _, chat := range slices.Compact(chats) {
		err := c.call(ctx, chat, "getChat", func(ctx context.Context) error {
			_, err := c.api.GetChat(ctx, &bot.GetChatParams{ChatID: chat})
			return err
		})
		if err != nil {
			return "", fmt.Errorf("chat %d: %w", chat, err)
		}
	}
	if c.hook == nil {
		return who, nil
	}
	info, err := c.webhookInfo(ctx)
	if err == nil {
		err = c.hook.problem(info)
	}
	return fmt.Sprintf("%s, which brings updates to %s", who, c.hook.at), err
}

// me asks Telegram for the bot's name.
func (c *Channel) me(ctx context.Context) (name string, err error) {
	err = c.call(ctx, 0, "getMe", func(ctx context.Context) error {
		me, err := c.api.GetMe(ctx)
		if err == nil {
			name = me.Username
		}
		return err
	})
	return name, err
}
