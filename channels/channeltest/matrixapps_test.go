package channeltest_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/internal/secret"
)

// What the matrix needs of each platform.

// keeper is an audit that keeps nothing.
type keeper struct{}

func (keeper) Record(context.Context, approver.Record) (string, error) { return "hash", nil }

func replied(text string) way {
	return way{name: "reply: " + text, quiet: true, send: func(t try) {
		t.ReplyTo(t.user, t.to.Conversation, t.message, strings.ReplaceAll(text, "CODE", t.code))
	}}
}

func opened[C any](t *testing.T, make func(C, *slog.Logger) (approver.Channel, error), cfg C) approver.Channel {
	t.Helper()
	c, err := make(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type telegramApp struct {
	*telegramtest.Server
	last int64
}

const group int64 = -1001234567890

func newTelegram(t *testing.T) app {
	a := &telegramApp{telegramtest.New(), 10_000}
	t.Cleanup(a.Close)
	a.AddChat(telegramtest.Chat{ID: group})
	a.SetRate(10_000)
	return a
}

func (a *telegramApp) add(kind string) string {
	a.last++
	switch kind {
	case "outsider":
		return "" // whoever is in a group is a member
	case "bot":
		a.AddBot(a.last, "Bot")
	default:
		a.AddUser(a.last, fmt.Sprint("P", a.last))
	}
	return strconv.FormatInt(a.last, 10)
}

func (a *telegramApp) open(t *testing.T, approvers []approver.Approver) (approver.Channel, approver.Destination) {
	cfg := telegram.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Approvers: approvers,
		Chats: []telegram.Chat{{ID: strconv.FormatInt(group, 10)}}}
	c := opened(t, func(c telegram.Config, l *slog.Logger) (approver.Channel, error) { return telegram.New(c, l) }, cfg)
	return c, cfg.Destinations()[0]
}

func (a *telegramApp) press(user, conversation, message, request string, b fake.Button) {
	a.Forge(user, conversation, message, request, b)
}

func (a *telegramApp) asks(user string) bool { return len(a.AskedToReply(user, group)) > 0 }

func (*telegramApp) unseen() []string { return nil }

func (a *telegramApp) also() []way { return []way{typed("/pending", false)} }

type discordApp struct {
	*discordtest.Server
	here string
}

// letters are the actions of the buttons in the data of Discord's.
var letters = map[fake.Button]string{
	fake.ApproveButton: "o", fake.QuarterButton: "m", fake.SessionButton: "s", fake.DenyButton: "d",
	fake.DetailsButton: "i", fake.TimeButton: "t", fake.DisownButton: "x", fake.WhyButton: "r", fake.EditButton: "e",
	fake.CodeButton: "c",
}

func newDiscord(t *testing.T) app {
	a := &discordApp{Server: discordtest.New()}
	t.Cleanup(a.Close)
	a.here, a.PostLimit = a.AddChannel(), 1000
	return a
}

func (a *discordApp) add(kind string) string {
	switch kind {
	case "outsider":
		return "" // who sees a channel is a member of its server
	case "bot":
		return a.AddBot("Bot")
	}
	return a.AddUser("P")
}

func (a *discordApp) open(t *testing.T, approvers []approver.Approver) (approver.Channel, approver.Destination) {
	cfg := discord.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Channels: []string{a.here}, Approvers: approvers}
	c := opened(t, func(c discord.Config, l *slog.Logger) (approver.Channel, error) { return discord.New(c, l) }, cfg)
	return c, cfg.Destinations()[0]
}

func (a *discordApp) press(user, conversation, message, request string, b fake.Button) {
	a.SendPress(user, conversation, message, discordtest.CustomID(request, letters[b]), 1, nil)
}

func (a *discordApp) asks(user string) bool { return a.Dialogs(user) > 0 }

// Type waits until the commands are registered.
func (a *discordApp) Type(user, conversation, text string) {
	for range 1000 {
		if names, _ := a.Commands(""); slices.Contains(names, "pending") {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.Server.Type(user, conversation, text)
}

// ReplyTo mentions the bot, as Discord's client does unless it is told not to: else the bot sees no text.
func (a *discordApp) ReplyTo(user, conversation, message, text string) bool {
	return a.ReplyMentioning(user, conversation, message, text)
}

func (*discordApp) unseen() []string { return []string{"CODE"} }

func (a *discordApp) also() []way { return []way{typed("/pending", false)} }

type slackApp struct {
	*slacktest.Server
	last int
	bots map[string]bool
}

const channelID = "C0HERE1234"

func newSlack(t *testing.T) app {
	a := &slackApp{Server: slacktest.New(slacktest.Options{PingInterval: time.Second}), bots: map[string]bool{}}
	t.Cleanup(a.Close)
	a.AddConversation(slacktest.Conversation{ID: channelID})
	return a
}

func (a *slackApp) add(kind string) string {
	a.last++
	u := slacktest.User{ID: fmt.Sprintf("U0PERSON%03d", a.last), Name: "p", Bot: kind == "bot"}
	if kind == "outsider" {
		u.Team = "T0OTHER123"
	}
	a.AddUser(u)
	a.bots[u.ID] = u.Bot
	return u.ID
}

func (a *slackApp) open(t *testing.T, approvers []approver.Approver) (approver.Channel, approver.Destination) {
	cfg := slack.Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
		Channels: []string{channelID}, Approvers: approvers, APIURL: a.URL()}
	c := opened(t, func(c slack.Config, l *slog.Logger) (approver.Channel, error) { return slack.New(c, l) }, cfg)
	return c, cfg.Destinations()[0]
}

func (a *slackApp) press(user, conversation, message, request string, b fake.Button) {
	a.Forge(user, conversation, message, request, b)
}

func (a *slackApp) asks(user string) bool { return a.Dialog(user) != "" || a.Home(user) != "" }

func (*slackApp) unseen() []string { return nil }

func (a *slackApp) also() []way {
	return []way{typed("/approve pending", false), {name: "the app's Home", send: func(t try) {
		if !a.bots[t.user] { // a bot opens nothing
			a.OpenHome(t.user)
		}
	}}}
}
