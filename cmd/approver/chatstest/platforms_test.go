package chatstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/channeltest/network"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
)

// A platform is a chat service that runs on this machine, and Alice in it.
type platform interface {
	channel() string
	target() string           // host and port
	names() []string          // other hosts and ports by which it names itself
	adapter() network.Adapter // what it lacks
	config(url string) string // the daemon's channels, where the way to the platform is
	cards(text string) []card // every message of the bot with this text, oldest first
	tap(c card, yes bool) error
	close()
}

// A card is a message as Alice sees it.
type card struct {
	id   string
	open bool // it offers buttons
}

// A maker opens a platform.
type maker struct {
	name    string
	channel string
	own     bool // our own fake
	open    func(t *testing.T) platform
}

// platforms are those that are there: our own fakes, and the emulators that are installed.
func platforms(t *testing.T) []maker {
	own := []maker{
		{"telegram, our fake", "telegram", true, openTelegram},
		{"discord, our fake", "discord", true, openDiscord},
		{"slack, our fake", "slack", true, openSlack},
	}
	return append(own, emulators(t)...)
}

// A faked platform is one of our own fakes.
type faked struct {
	fake.Platform
	name, addr   string
	alice, place string
	settings     func(url string) string
	end          func()
}

func (f *faked) channel() string          { return f.name }
func (f *faked) target() string           { return f.addr }
func (f *faked) names() []string          { return nil }
func (f *faked) adapter() network.Adapter { return network.Adapter{} }
func (f *faked) config(url string) string { return f.settings(url) }
func (f *faked) close()                   { f.end() }

func (f *faked) cards(text string) (out []card) {
	for _, c := range f.Cards(f.place) {
		if strings.Contains(c.Text, text) {
			out = append(out, card{c.Message, len(c.Buttons) > 0})
		}
	}
	return out
}

func (f *faked) tap(c card, yes bool) error {
	button := fake.DenyButton
	if yes {
		button = fake.ApproveButton
	}
	return f.Tap(f.alice, f.place, c.id, button)
}

// openTelegram opens a private chat: a group takes twenty messages a minute, which the channel keeps to.
func openTelegram(*testing.T) platform {
	const alice = 10042
	s := telegramtest.New()
	s.AddUser(alice, "Alice")
	s.AddChat(telegramtest.Chat{ID: alice})
	return &faked{Platform: s, name: "telegram", addr: s.Addr, alice: fmt.Sprint(alice), place: fmt.Sprint(alice),
		end: s.Close, settings: func(url string) string { return telegramConfig(url, s.Token(), fmt.Sprint(alice)) }}
}

func telegramConfig(url, token, alice string) string {
	return fmt.Sprintf("channels:\n  telegram: {token: %q, api_url: %q, chats: [{id: %q}], "+
		"approvers: [{id: %q, name: Alice}]}\n", token, url, alice, alice)
}

func openDiscord(*testing.T) platform {
	s := discordtest.New()
	s.HeartbeatEvery = 5 * time.Second // Discord's own 41 s would only make the silence longer that is waited for
	alice, channel := s.AddUser("Alice"), s.AddChannel()
	return &faked{Platform: s, name: "discord", addr: s.Addr, alice: alice, place: channel, end: s.Close,
		settings: func(url string) string { return discordConfig(url, s.Token(), channel, alice) }}
}

func discordConfig(url, token, channel, alice string) string {
	return fmt.Sprintf(
		"channels:\n  discord: {token: %q, api_url: %q, channels: [%q], approvers: [{id: %q, name: Alice}]}\n",
		token, url+"/api", channel, alice)
}

func openSlack(*testing.T) platform {
	const alice, channel = "U0ALICE42", "C0APPROVAL"
	s := slacktest.New(slacktest.Options{})
	s.AddUser(slacktest.User{ID: alice, Name: "Alice"})
	s.AddConversation(slacktest.Conversation{ID: channel})
	return &faked{Platform: s, name: "slack", addr: s.Addr, alice: alice, place: channel, end: s.Close,
		settings: func(url string) string {
			return slackConfig(url, slacktest.BotToken, slacktest.AppToken, channel, alice)
		}}
}

func slackConfig(url, bot, app, channel, alice string) string {
	return fmt.Sprintf("channels:\n  slack: {bot_token: %q, app_token: %q, api_url: %q, channels: [%q], "+
		"approvers: [{id: %q, name: Alice}]}\n", bot, app, url+"/api/", channel, alice)
}
