package discord

import (
	"slices"

	"github.com/bwmarrin/discordgo"

	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// standing is what a sender may do. The zero value is nobody, who is not even told of a
// refusal.
type standing uint8

const (
	nobody    standing = iota // not a person, or it is uncertain who it is
	stranger                  // a person who is not on the list
	elsewhere                 // on the list, but not in one of our channels
	listed                    // on the list, in one of our channels
)

// A person is a sender whom Discord has authenticated.
type person struct {
	id   string // the snowflake
	name string // for display only
	// event is the id of what they did, by which a repeat is known.
	event string
}

// presser says who made an interaction. It looks at nothing that the person can choose: who,
// where and on whose message all come from Discord.
func (c *Channel) presser(i *discordgo.Interaction) (person, standing) {
	if i == nil || i.ID == "" || i.Token == "" {
		return person{}, nobody
	}
	app, bot := c.self()
	if app == "" || i.AppID != app {
		return person{}, nobody
	}
	user := i.User
	if i.GuildID != "" { // in a server only the member counts
		user = nil
		if i.Member != nil {
			user = i.Member.User
		}
	}
	who, st := c.standing(user)
	if st != listed {
		return who, st
	}
	if !c.ours(i.ChannelID, i.GuildID) {
		return who, elsewhere
	}
	switch i.Type {
	case discordgo.InteractionMessageComponent, discordgo.InteractionModalSubmit:
		// A button is always on a message. Ours is on a message of our own bot, in the channel
		// where it was pressed. For the dialog, the message is the card that it was opened
		// from.
		m := i.Message
		if m == nil || m.ID == "" || !ownMessage(m, bot, i.ChannelID) {
			return who, nobody
		}
	case discordgo.InteractionApplicationCommand:
	default:
		return who, nobody
	}
	return who, listed
}

// author says who wrote a message. Webhooks can use any name, bots are not people, a forwarded
// text is not the forwarder's own, and messages that Discord itself writes are nobody's.
func (c *Channel) author(m *discordgo.Message) (person, standing) {
	if m == nil || m.ID == "" || m.WebhookID != "" || m.Interaction != nil || m.InteractionMetadata != nil {
		return person{}, nobody
	}
	if m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return person{}, nobody
	}
	if forwarded(m) || m.EditedTimestamp != nil {
		return person{}, nobody
	}
	who, st := c.standing(m.Author)
	if st == listed && !c.ours(m.ChannelID, m.GuildID) {
		return who, elsewhere
	}
	return who, st
}

// forwarded reports whether a message has somebody else's text.
func forwarded(m *discordgo.Message) bool {
	return len(m.MessageSnapshots) > 0 ||
		m.MessageReference != nil && m.MessageReference.Type == discordgo.MessageReferenceTypeForward
}

// standing looks a user up in the approver list by the stable id.
func (c *Channel) standing(u *discordgo.User) (person, standing) {
	if u == nil || u.ID == "" || u.Bot || u.System {
		return person{}, nobody
	}
	who := person{id: u.ID, name: display.OneLine(u.DisplayName())}
	if _, listed := c.people.Lookup(Name, u.ID); !listed {
		return who, stranger
	}
	return who, listed
}

// ours reports whether an event comes from a configured channel, in that channel's server if
// the server is known.
func (c *Channel) ours(channel, guild string) bool {
	if !slices.Contains(c.cfg.Channels, channel) {
		return false
	}
	if c.cfg.Guild != "" {
		return guild == c.cfg.Guild
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.guilds[channel]
	return !ok || known == guild
}

// ownMessage reports whether m is a message of our own bot in channel.
func ownMessage(m *discordgo.Message, bot, channel string) bool {
	return bot != "" && m.Author != nil && m.Author.ID == bot && m.WebhookID == "" &&
		m.ChannelID == channel && m.Flags&discordgo.MessageFlagsEphemeral == 0
}

// requestOf returns the request named by a card's buttons, or by its text if it can have none; empty if the card
// is settled, or its buttons name different requests.
func requestOf(m *discordgo.Message) string {
	if len(m.Components) == 0 {
		request, _ := cards.Referred(m.Content)
		return request
	}
	found := ""
	for _, row := range m.Components {
		r, ok := row.(*discordgo.ActionsRow)
		if !ok {
			continue
		}
		for _, comp := range r.Components {
			b, ok := comp.(*discordgo.Button)
			if !ok {
				continue
			}
			id, _, _, ok := parseButton(b.CustomID)
			if !ok || found != "" && found != id.String() {
				return ""
			}
			found = id.String()
		}
	}
	return found
}
