package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/pairing"
	"approver.example/display"
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
		Token: "At https://discord.com/developers/applications make an application; its page Bot gives a token " +
			"(Reset Token).",
		Heading: "The bot of the Discord application, and who answers it; written by approver pair.",
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

// permissions are what the bot needs in a channel: View Channel, Send Messages, Embed Links, Attach
// Files and Read Message History.
const permissions = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages |
	discordgo.PermissionEmbedLinks | discordgo.PermissionAttachFiles | discordgo.PermissionReadMessageHistory

// Introduce names the application, and the link that invites its bot.
func (c *Channel) Introduce(ctx context.Context, code tokens.Code) (approver.Introduction, error) {
	var app struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Bot  struct {
			ID string `json:"id"`
		} `json:"bot"`
	}
	if err := c.call(ctx, "ask who the bot is", http.MethodGet, "applications/@me", nil, nil, &app); err != nil {
		if calls.KindOf(err) == calls.Revoked {
			err = approver.TokenError{Cause: err}
		}
		return approver.Introduction{}, err
	}
	if !snowflake(app.ID) {
		return approver.Introduction{}, errors.New("discord: ask who the bot is: the answer has no application id")
	}
	steps := []approver.Step{
		{Text: "If the bot is not in your server yet, invite it:",
			Link: fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d",
				app.ID, permissions)},
		{Text: "In the channel that is to get cards, use its command: /pair " + code.Reveal()},
	}
	if snowflake(app.Bot.ID) && c.hook == nil { // no message arrives at a webhook
		steps = append(steps, approver.Step{Text: "Cards in private: open the bot, choose Message, and send it the code:",
			Link: "https://discord.com/users/" + app.Bot.ID})
	}
	return approver.Introduction{Name: app.Name, Steps: steps}, nil
}

// Tell writes to the conversation where the code was sent.
func (c *Channel) Tell(ctx context.Context, who approver.Paired, text string) error {
	path := "channels/" + url.PathEscape(who.Chat) + "/messages"
	return c.call(ctx, "greet a person", http.MethodPost, path, note(text), nil, nil)
}

// Passed counts what was sent in the meantime that was not the code.
func (c *Channel) Passed() approver.Passed { return c.pairing.Passed() }

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
	if in.fromHome(i.GuildID) {
		told, sent := in.pairing.Sent(text, approver.Paired{ID: who.id, Name: who.name, Chat: i.ChannelID})
		if sent {
			in.welcome(told, func() { in.whisper(ctx, i, who, display.Msg(pairing.PairedText)) })
			return
		}
	}
	in.refuse(ctx, i, who, display.Msg(pairing.NotPairedText))
}

// welcome runs tell, which tells a person that they sent the code, and then told.
func (in *intake) welcome(told, tell func()) {
	if !in.workers.try("", maxRefusals, func() { defer told(); tell() }) {
		told()
	}
}

func (c *Channel) fromHome(guild string) bool { return c.cfg.Guild == "" || c.cfg.Guild == guild }

// sayHow follows what the bot says of itself.
//
//approver:texts
const sayHow = "%s To become one: on the machine where approver runs, approver pair discord shows a " +
	"code. Use my command /pair with it in the channel that gets cards, or send it to me."

// pairs takes a message that may have the code, and reports whether it had.
func (in *intake) pairs(ctx context.Context, m *discordgo.Message, who person, st standing) bool {
	if st == nobody || !in.fromHome(m.GuildID) {
		return false
	}
	told, sent := in.pairing.Sent(m.Content, approver.Paired{ID: who.id, Name: who.name, Chat: m.ChannelID})
	if sent {
		in.welcome(told, func() { in.say(ctx, m, who, display.Msg(pairing.PairedText)) })
	}
	return sent
}

// tellEvery is the time between two times that somebody is told why their messages do not count.
const tellEvery = time.Minute

// joined registers the commands in a server that the bot has just been invited to, while somebody
// waits for a code from there.
func (in *intake) joined(ctx context.Context, guild string) {
	in.mu.Lock()
	known, app := slices.Contains(in.homes, guild), in.app
	if !known {
		in.homes = append(in.homes, guild)
	}
	in.mu.Unlock()
	if !known {
		in.workers.try("set-up "+guild, 1, func() { in.register(ctx, app, guild) })
	}
}
