package discord

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/display"
)

// setUp finds out which servers the channels are in, and registers the commands there. It is
// done once, as far as it succeeds: without it, buttons and the dialog still work, and the log
// says what is missing.
func (c *Channel) setUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c.mu.Lock()
	done, app := c.applied, c.app
	c.mu.Unlock()
	if done {
		return
	}
	guilds, good := c.servers(ctx)
	if c.hook == nil {
		good = c.freeGateway(ctx) && good
	}
	for guild := range guilds {
		good = c.register(ctx, app, guild) && good
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applied = good
}

// servers returns the servers to register commands in, and whether every channel was found.
func (c *Channel) servers(ctx context.Context) (guilds map[string]bool, good bool) {
	guilds, good = map[string]bool{}, true
	if c.pairsOnly { // there are no channels yet
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, guild := range c.homes {
			guilds[guild] = true
		}
		return guilds, true
	}
	for _, id := range c.cfg.Channels {
		var got struct {
			ID      string `json:"id"`
			GuildID string `json:"guild_id"`
		}
		if err := c.call(ctx, "look at channel "+id, http.MethodGet, "channels/"+id, nil, nil, &got); err != nil ||
			got.ID != id {
			c.log.Warn("a configured channel cannot be reached", "id", id, "error", err)
			good = false
			continue
		}
		if c.cfg.Guild != "" && got.GuildID != c.cfg.Guild {
			c.log.Warn("a configured channel lies outside the configured server: its answers will be refused", "id", id,
				"server", got.GuildID)
		}
		c.mu.Lock()
		c.guilds[id] = got.GuildID
		c.mu.Unlock()
		if got.GuildID != "" { // a direct conversation belongs to no server
			guilds[got.GuildID] = true
		}
	}
	return guilds, good
}

// register registers the commands in one server. It replaces commands of the same names; the
// application's other commands stay.
func (c *Channel) register(ctx context.Context, app, guild string) bool {
	for _, cmd := range commands() {
		path := "applications/" + app + "/guilds/" + guild + "/commands"
		if err := c.call(ctx, "register /"+cmd.Name, http.MethodPost, path, cmd, nil, nil); err != nil {
			c.log.Warn("a command is not registered: people can still press buttons", "command", cmd.Name, "server", guild,
				"error", err, "hint", "invite the bot with the scope applications.commands")
			return false
		}
	}
	return true
}

// The names of the commands that answer, and of the options. Another bot may have commands of the same
// names: Discord shows whose each one is.
const (
	approveName  = "approve"
	denyName     = "deny"
	codeOption   = "code"
	forOption    = "for"
	reasonOption = "reason"
)

// commandWants are the commands that answer nothing.
var commandWants = map[string]approver.Want{"pending": approver.WantPending, "status": approver.WantStatus,
	"grants": approver.WantGrants, "freeze": approver.WantFreeze, "help": approver.WantHelp}

// commands are all commands. Their names are the same in all languages, because cards tell people what
// to type.
//
//approver:texts
func commands() []*discordgo.ApplicationCommand {
	const theCode = "The code that the card shows, such as CONFIRM-…"
	lasts := optional(forOption, "How long the yes lasts; without it, once")
	for _, choice := range []struct{ value, says string }{
		{"once", "once"},
		{"15m", "15 minutes"},
		{"session", "for this session of the agent"},
	} {
		lasts.Choices = append(lasts.Choices, &discordgo.ApplicationCommandOptionChoice{Name: choice.says,
			NameLocalizations: translated(choice.says), Value: choice.value})
	}
	why := optional(reasonOption, "Why; the agent is told")
	reason := optional(reasonOption, "Why; it is recorded")
	why.MaxLength, reason.MaxLength = maxWhy, maxWhy
	return []*discordgo.ApplicationCommand{
		command(approveName, "Approve the request with this code", required(codeOption, theCode), lasts),
		command(denyName, "Deny the request with this code", required(codeOption, theCode), why),
		command("freeze", "Stop everything: no call of any agent runs any more", reason),
		command("pending", "Show the requests that wait for an answer"),
		command("status", "Show how approver is"),
		command("grants", "Show what runs without asking, by an earlier yes"),
		command("help", "Show what you can do here"),
		command(pairName, "Say who you are to whoever runs approver pair",
			required(codeOption, "The code that approver pair shows")),
	}
}

func command(
	name, says string, options ...*discordgo.ApplicationCommandOption,
) *discordgo.ApplicationCommand {
	others := translated(says)
	return &discordgo.ApplicationCommand{Name: name, Type: discordgo.ChatApplicationCommand, Description: says,
		DescriptionLocalizations: &others, Options: options}
}

func optional(name, says string) *discordgo.ApplicationCommandOption {
	return &discordgo.ApplicationCommandOption{Type: discordgo.ApplicationCommandOptionString, Name: name,
		Description: says, DescriptionLocalizations: translated(says)}
}

func required(name, says string) *discordgo.ApplicationCommandOption {
	o := optional(name, says)
	o.Required = true
	return o
}

// translated is a text for people whose Discord speaks another language that approver speaks.
func translated(says string) map[discordgo.Locale]string {
	others := map[discordgo.Locale]string{}
	for _, language := range display.Languages() {
		t, err := display.In(language.Tag)
		text := t.Text(says)
		for locale := range discordgo.Locales {
			tag, _, _ := strings.Cut(string(locale), "-")
			if err == nil && text != says && tag == language.Tag {
				others[locale] = text
			}
		}
	}
	return others
}
