package discord

import (
	"context"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
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

// register registers /approve, /deny and /pair in one server. It replaces commands of the same
// names; the application's other commands stay.
func (c *Channel) register(ctx context.Context, app, guild string) bool {
	for _, cmd := range []struct{ name, does, code string }{
		{"approve", "Approve the request with this code", "The code that the card shows, such as CONFIRM-…"},
		{"deny", "Deny the request with this code", "The code that the card shows, such as CONFIRM-…"},
		{pairName, "Say who you are to whoever runs approver pair", "The code that approver pair shows"},
	} {
		body := map[string]any{
			"name": cmd.name, "type": discordgo.ChatApplicationCommand, "description": cmd.does,
			"options": []map[string]any{{
				"type": discordgo.ApplicationCommandOptionString, "name": "code",
				"description": cmd.code, "required": true,
			}},
		}
		path := "applications/" + app + "/guilds/" + guild + "/commands"
		if err := c.call(ctx, "register /"+cmd.name, http.MethodPost, path, body, nil, nil); err != nil {
			c.log.Warn("a command is not registered: people can still press buttons", "command", cmd.name, "server", guild,
				"error", err, "hint", "invite the bot with the scope applications.commands")
			return false
		}
	}
	return true
}
