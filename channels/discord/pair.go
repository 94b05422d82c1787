package discord

import (
	"context"
	"log/slog"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/pairing"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// pairName is the registered command that takes a pairing code.
const pairName = "pair"

// stand is a placeholder for the ids that pairing is to find.
const stand = "100000000000000000"

// Platform says how pairing works here, and where the platform is.
func (c *Config) Platform() section.Platform {
	return section.Platform{
		API: &c.APIURL, UsualAPI: defaultAPI,
		Receiver: "Discord bot",
		How: "in the channel that is to get cards, use the bot's command " +
			"/pair %s, or send it to the bot as a direct message",
		Example: "--token-file ~/.approver/discord.token --person ada",
		Places:  "channels",
	}
}

// ForPairing makes a channel that only pairs: it ignores the channels and approvers of c, and
// registers the commands in every server that the bot is in.
func (c Config) ForPairing(log *slog.Logger) (approver.Pairer, error) {
	c.Channels, c.Approvers = []string{stand}, []approver.Approver{{ID: stand}}
	channel, err := New(c, log)
	if err != nil {
		return nil, err
	}
	channel.pairsOnly = true
	return channel, nil
}

// Pair waits for the command /pair with the code, or for a message with the code to the bot,
// either in a direct conversation or with a mention: Discord shows the bot no text of other
// messages.
func (c *Channel) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	return c.pairing.Pair(ctx, code)
}

// pairCommand returns the argument of the command /pair.
func pairCommand(i *discordgo.Interaction) (string, bool) {
	d, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	if !ok || d.Name != pairName {
		return "", false
	}
	text := ""
	if opt := d.GetOption("code"); opt != nil {
		text, _ = opt.Value.(string)
	}
	return text, true
}

// paired handles /pair from somebody who need not be on the list. It ignores people in a server
// other than the configured one.
func (in *intake) paired(ctx context.Context, i *discordgo.Interaction, who person, text string) {
	said := pairing.NotPairedText
	if in.fromHome(i.GuildID) && in.pairing.Sent(text, approver.Paired{ID: who.id, Name: who.name, Chat: i.ChannelID}) {
		said = pairing.PairedText
	}
	in.refuse(ctx, i, said)
}

func (c *Channel) fromHome(guild string) bool { return c.cfg.Guild == "" || c.cfg.Guild == guild }

// pairs takes a message that may have the code, and reports whether it had.
func (in *intake) pairs(ctx context.Context, m *discordgo.Message, who person, st standing) bool {
	if st == nobody || !in.fromHome(m.GuildID) ||
		!in.pairing.Sent(m.Content, approver.Paired{ID: who.id, Name: who.name, Chat: m.ChannelID}) {
		return false
	}
	in.workers.try("", maxRefusals, func() { in.answer(ctx, m, pairing.PairedText) })
	return true
}
