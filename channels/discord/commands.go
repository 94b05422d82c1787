package discord

import (
	"context"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
)

// setUp learns in which servers the channels lie and registers the commands
// there. It is best effort and done once: without it buttons and dialogue work
// all the same, and the log says what is missing.
func (c *Channel) setUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c.mu.Lock()
	done, app := c.applied, c.app
	c.mu.Unlock()
	if done {
		return
	}
	good := true
	guilds := map[string]bool{}
	for _, id := range c.cfg.Channels {
		var got struct {
			ID      string `json:"id"`
			GuildID string `json:"guild_id"`
		}
		if err := c.call(ctx, "look at channel "+id, http.MethodGet, "channels/"+id, nil, nil, &got); err != nil || got.ID != id {
			c.log.Warn("a configured channel cannot be reached", "id", id, "err", err)
			good = false
			continue
		}
		if c.cfg.Guild != "" && got.GuildID != c.cfg.Guild {
			c.log.Warn("a configured channel lies outside the configured server: its answers will be refused", "id", id, "server", got.GuildID)
		}
		c.mu.Lock()
		c.guilds[id] = got.GuildID
		c.mu.Unlock()
		if got.GuildID != "" { // a direct conversation has no server
			guilds[got.GuildID] = true
		}
	}
	for guild := range guilds {
		good = c.register(ctx, app, guild) && good
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applied = good
}

// register makes /approve and /deny known in one server. A command of the same
// name is replaced; the application's other commands stay.
func (c *Channel) register(ctx context.Context, app, guild string) bool {
	for _, cmd := range []struct{ name, does string }{
		{"approve", "Approve the request with this code"},
		{"deny", "Deny the request with this code"},
	} {
		body := map[string]any{
			"name": cmd.name, "type": discordgo.ChatApplicationCommand, "description": cmd.does,
			"options": []map[string]any{{
				"type": discordgo.ApplicationCommandOptionString, "name": "code",
				"description": "The code that the card shows, such as CONFIRM-…", "required": true,
			}},
		}
		path := "applications/" + app + "/guilds/" + guild + "/commands"
		if err := c.call(ctx, "register /"+cmd.name, http.MethodPost, path, body, nil, nil); err != nil {
			c.log.Warn("a command is not registered: people can still press buttons", "command", cmd.name, "server", guild,
				"err", err, "hint", "invite the bot with the scope applications.commands")
			return false
		}
	}
	return true
}
