package main

import (
	"context"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
)

type pairCmd struct {
	Telegram pairTelegramCmd `cmd:"" help:"Let somebody send a code to the Telegram bot, and add them."`
	Discord  pairDiscordCmd  `cmd:"" help:"Let somebody send a code to the Discord bot, and add them."`
	Slack    pairSlackCmd    `cmd:"" help:"Let somebody send a code to the Slack app, and add them."`
}

// Help is the long text.
func (pairCmd) Help() string {
	return `Finds out who somebody is on a chat platform, without anybody looking up numbers.

Example:
  approver pair telegram --token-file ~/.approver/telegram.token`
}

const pairHelp = `Prints a code that works once. The person sends it from the place that is to get cards. You see who it was, and say whether they may approve; then person and place are added to the configuration, whose comments stay, and count from the daemon's next start.
The daemon may run or not. Whoever is added after the first approver needs the yes of those who are, in their chats, as a CATASTROPHIC request; an isolated daemon takes the operator's word.
` + exitCodes

// pairFlags are what the platforms have in common.
type pairFlags struct {
	Config  string        `help:"Configuration file, which init has written." short:"c" placeholder:"FILE"`
	Person  string        `help:"Whom the account belongs to, where they have others: votes and lock-outs count per person." placeholder:"ID"`
	APIURL  string        `help:"The platform's server, for a proxy or one of your own." name:"api-url" placeholder:"URL"`
	Timeout time.Duration `help:"How long to wait for the code." default:"5m"`
}

type pairTelegramCmd struct {
	pairFlags
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
	pairFlags
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
	pairFlags
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
