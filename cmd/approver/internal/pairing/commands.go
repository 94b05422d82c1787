// Package pairing is the command pair: it finds out who somebody is in a chat, and adds them
// to the configuration. run.go waits for the code, text.go changes the text of the file.
package pairing

import (
	"context"
	"log/slog"

	"approver.example"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
)

// Cmd is the command pair.
type Cmd struct {
	Telegram pairTelegramCmd `cmd:"" help:"Let somebody send a code to the Telegram bot, and add them."`
	Discord  pairDiscordCmd  `cmd:"" help:"Let somebody send a code to the Discord bot, and add them."`
	Slack    pairSlackCmd    `cmd:"" help:"Let somebody send a code to the Slack app, and add them."`
}

// Help is the long text.
func (Cmd) Help() string {
	return `Finds out who somebody is on a chat platform, without anybody looking up numbers.

Example:
  approver pair telegram --token-file ~/.approver/telegram.token`
}

type pairTelegramCmd struct {
	flags
	TokenFile string `help:"File with the bot's token; left out, that of the configuration." placeholder:"FILE"`
}

// Help is the long text.
func (pairTelegramCmd) Help() string {
	return pairHelp + `
Example:
  approver pair telegram
  approver pair telegram --token-file ~/.approver/telegram.token`
}

// Run pairs.
func (c pairTelegramCmd) Run(ctx context.Context) error {
	at, err := c.read()
	if err != nil {
		return err
	}
	cfg := orEmpty(at.channels.Telegram)
	p := platform{name: telegram.Name, link: "https://t.me/", how: "send this to the bot, in the chat that is to get cards; in a group as a command, /pair %s"}
	if err := p.secret(c.TokenFile, "token_file", &cfg.Token, &cfg.TokenFile); err != nil {
		return err
	}
	if err := p.noToken("token-file", "token_file", cfg.Token, cfg.TokenFile); err != nil {
		return err
	}
	p.api(c.APIURL, &cfg.APIURL)
	p.open = func() (approver.Pairer, error) { return telegram.ForPairing(cfg, slog.New(slog.DiscardHandler)) }
	p.lines = c.mappings("chats", "approvers")
	return c.run(ctx, at, p)
}

type pairDiscordCmd struct {
	flags
	TokenFile string `help:"File with the bot's token; left out, that of the configuration." placeholder:"FILE"`
}

// Help is the long text.
func (pairDiscordCmd) Help() string {
	return pairHelp + `
Example:
  approver pair discord
  approver pair discord --token-file ~/.approver/discord.token --person ada`
}

// Run pairs.
func (c pairDiscordCmd) Run(ctx context.Context) error {
	at, err := c.read()
	if err != nil {
		return err
	}
	cfg := orEmpty(at.channels.Discord)
	p := platform{name: discord.Name, how: "in the channel that is to get cards, use the bot's command /pair %s, or send it to the bot as a direct message"}
	if err := p.secret(c.TokenFile, "token_file", &cfg.Token, &cfg.TokenFile); err != nil {
		return err
	}
	if err := p.noToken("token-file", "token_file", cfg.Token, cfg.TokenFile); err != nil {
		return err
	}
	p.api(c.APIURL, &cfg.APIURL)
	p.open = func() (approver.Pairer, error) { return discord.ForPairing(cfg, slog.New(slog.DiscardHandler)) }
	p.lines = c.scalars("channels", "approvers")
	return c.run(ctx, at, p)
}

type pairSlackCmd struct {
	flags
	BotTokenFile string `help:"File with the bot's token, xoxb-…; left out, that of the configuration." placeholder:"FILE"`
	AppTokenFile string `help:"File with the app's token, xapp-…; left out, that of the configuration." placeholder:"FILE"`
}

// Help is the long text.
func (pairSlackCmd) Help() string {
	return pairHelp + `
Example:
  approver pair slack
  approver pair slack --bot-token-file ~/.approver/slack.bot --app-token-file ~/.approver/slack.app`
}

// Run pairs.
func (c pairSlackCmd) Run(ctx context.Context) error {
	at, err := c.read()
	if err != nil {
		return err
	}
	cfg := orEmpty(at.channels.Slack)
	p := platform{name: slack.Name, how: "in the channel that is to get cards, use the command /pair %s (of an older app, /approve takes it too), or send it to the app as a direct message"}
	if err := p.secret(c.BotTokenFile, "bot_token_file", &cfg.BotToken, &cfg.BotTokenFile); err != nil {
		return err
	}
	if err := p.secret(c.AppTokenFile, "app_token_file", &cfg.AppToken, &cfg.AppTokenFile); err != nil {
		return err
	}
	if err := p.noToken("bot-token-file", "bot_token_file", cfg.BotToken, cfg.BotTokenFile); err != nil {
		return err
	}
	if err := p.noToken("app-token-file", "app_token_file", cfg.AppToken, cfg.AppTokenFile); err != nil {
		return err
	}
	p.api(c.APIURL, &cfg.APIURL)
	p.open = func() (approver.Pairer, error) { return slack.ForPairing(cfg, slog.New(slog.DiscardHandler)) }
	p.lines = c.scalars("channels", "approvers")
	return c.run(ctx, at, p)
}

// orEmpty returns a copy of a section that may not be there yet.
func orEmpty[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}
