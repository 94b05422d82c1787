package channeltest_test

import (
	"log/slog"
	"strconv"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/internal/secret"
)

// A postman is what the stories of delivery need of a platform.
type postman interface {
	// refuseMarkup makes the platform refuse what cards are usually made of.
	refuseMarkup()
	// openTopic makes the channel for the approvers and a topic or thread within the conversation that has a message,
	// and returns where its cards go. closeTopic takes the topic away.
	openTopic(message string, approvers []approver.Approver) (approver.Channel, approver.Destination, error)
	closeTopic(message string)
	// around is what the bot has written in that conversation outside of the topic.
	around() []string
	// expel takes the bot out of its conversation.
	expel()
}

const topic = 7

func (a *telegramApp) refuseMarkup() { a.RefuseMarkup(true) }

func (a *telegramApp) openTopic(
	_ string, approvers []approver.Approver,
) (approver.Channel, approver.Destination, error) {
	a.AddChat(telegramtest.Chat{ID: group, Topics: []int{topic}})
	cfg := telegram.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Approvers: approvers,
		Chats: []telegram.Chat{{ID: strconv.FormatInt(group, 10), Thread: topic}}}
	c, err := telegram.New(cfg, slog.New(slog.DiscardHandler))
	return c, cfg.Destinations()[0], err
}

func (a *telegramApp) closeTopic(string) { a.AddChat(telegramtest.Chat{ID: group}) }

func (a *telegramApp) around() []string { return texts(a.Cards(strconv.FormatInt(group, 10))) }

func (a *telegramApp) expel() { a.AddChat(telegramtest.Chat{ID: group, Kicked: true}) }

func texts(all []fake.Shown) (out []string) {
	for _, s := range all {
		out = append(append(out, s.Push+s.Text), s.Files...)
	}
	return out
}

func (a *discordApp) refuseMarkup() { a.Refuse(discordtest.Embeds) }

func (a *discordApp) openTopic(
	message string, approvers []approver.Approver,
) (approver.Channel, approver.Destination, error) {
	cfg := discord.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Channels: []string{a.AddThread(message)},
		Approvers: approvers}
	c, err := discord.New(cfg, slog.New(slog.DiscardHandler))
	return c, cfg.Destinations()[0], err
}

func (a *discordApp) closeTopic(message string) { a.RemoveChannel(message) }

func (a *discordApp) around() []string { return texts(a.Cards(a.here)) }

func (a *discordApp) expel() { a.RemoveChannel(a.here) }

func (a *slackApp) refuseMarkup() { a.RefuseBlocks("invalid_blocks", "rich_text", "context") }

func (a *slackApp) openTopic(
	message string, approvers []approver.Approver,
) (approver.Channel, approver.Destination, error) {
	c, to, err := a.open(approvers)
	to.Thread = message
	return c, to, err
}

func (a *slackApp) closeTopic(message string) { a.Delete(channelID, message) }

func (a *slackApp) around() (out []string) {
	for _, m := range a.Messages(channelID) {
		if m.BotID == slacktest.BotID && m.Thread == "" {
			out = append(append(out, m.Text+string(m.Blocks)), m.Files...)
		}
	}
	return out
}

func (a *slackApp) expel() {
	a.AddConversation(slacktest.Conversation{ID: channelID, NotMember: true})
}
