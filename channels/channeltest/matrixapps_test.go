package channeltest_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// elsewhere types something in a conversation that gets no cards.
func elsewhere(conversation, text string) way {
	return way{name: "elsewhere: " + text, quiet: true, send: func(t try) {
		t.Type(t.user, conversation, strings.ReplaceAll(text, "CODE", t.code))
	}}
}

type telegramApp struct {
	*telegramtest.Server
	last int64
}

const (
	group      int64 = -1001234567890
	otherGroup int64 = -1009876543210 // gets no cards
)

func newTelegram(t *testing.T) app {
	a := &telegramApp{telegramtest.New(), 10_000}
	t.Cleanup(a.Close)
	a.AddChat(telegramtest.Chat{ID: group})
	a.AddChat(telegramtest.Chat{ID: otherGroup})
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

func (a *telegramApp) also() []way {
	altered := func(name string, kind string, more map[string]any) way {
		return way{name: name, quiet: true, send: func(t try) {
			id, _ := strconv.ParseInt(t.user, 10, 64)
			m := a.Payload(id, group, "/deny "+t.code)
			maps.Copy(m, more)
			if m["text"] == "" {
				m["caption"] = "/deny " + t.code
			}
			a.Inject(map[string]any{kind: m})
		}}
	}
	return []way{typed("/pending", false), elsewhere(strconv.FormatInt(otherGroup, 10), "CODE"),
		elsewhere(strconv.FormatInt(otherGroup, 10), "/deny CODE"),
		altered("/deny CODE, edited", "edited_message", map[string]any{"edit_date": time.Now().Unix()}),
		altered("/deny CODE, forwarded", "message", map[string]any{"forward_origin": map[string]any{"type": "hidden_user",
			"date": 1, "sender_user_name": "x"}}),
		altered("/deny CODE, below a picture", "message", map[string]any{"text": "",
			"photo": []any{map[string]any{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}}}),
	}
}

type discordApp struct {
	*discordtest.Server
	here, there string // only here are cards

	mu      sync.Mutex
	threads map[string]bool // the cards that have one
}

// letters are the actions of the buttons in the data of Discord's.
var letters = map[fake.Button]string{
	fake.ApproveButton: "o", fake.QuarterButton: "m", fake.SessionButton: "s", fake.DenyButton: "d",
	fake.DetailsButton: "i", fake.TimeButton: "t", fake.DisownButton: "x", fake.WhyButton: "r", fake.EditButton: "e",
	fake.CodeButton: "c",
}

func newDiscord(t *testing.T) app {
	a := &discordApp{Server: discordtest.New(), threads: map[string]bool{}}
	t.Cleanup(a.Close)
	a.here, a.there, a.PostLimit = a.AddChannel(), a.AddChannel(), 1000
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

func (a *discordApp) also() []way {
	inThread := func(text string, quiet bool) way {
		return way{name: "in its thread: " + text, quiet: quiet, send: func(t try) {
			a.mu.Lock()
			if !a.threads[t.message] {
				a.threads[t.message] = a.AddThread(t.message) != ""
			}
			a.mu.Unlock()
			says := strings.ReplaceAll(text, "CODE", t.code)
			if !strings.HasPrefix(text, "/") {
				says = "<@" + a.Bot() + "> " + says
			}
			a.Type(t.user, t.message, says)
		}}
	}
	return []way{typed("/pending", false), inThread("no, use a branch", true), inThread("yes", true),
		inThread("CODE", true), inThread("/deny CODE", false), inThread("/approve CODE", false),
		{name: "elsewhere: @approver CODE", quiet: true, send: func(t try) {
			a.Type(t.user, a.there, "<@"+a.Bot()+"> "+t.code)
		}}}
}

type slackApp struct {
	*slacktest.Server
	last int
	bots map[string]bool
}

const (
	channelID = "C0HERE1234"
	otherID   = "C0THERE123" // gets no cards
)

func newSlack(t *testing.T) app {
	a := &slackApp{Server: slacktest.New(slacktest.Options{PingInterval: time.Second}), bots: map[string]bool{}}
	t.Cleanup(a.Close)
	a.AddConversation(slacktest.Conversation{ID: channelID})
	a.AddConversation(slacktest.Conversation{ID: otherID})
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
	}}, elsewhere(otherID, "CODE"), elsewhere(otherID, "no CODE, use a branch"),
		{name: "an old button", send: func(t try) {
			a.Deliver("interactive", a.ButtonPayload(t.user, channelID, t.message, "ap:x:1", "x", "approve_all"))
		}}}
}
