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

// sameName is what everybody is called: who somebody is, their id says.
const sameName = "Ann"

// keeper is an audit that keeps nothing.
type keeper struct{}

func (keeper) Record(context.Context, approver.Record) (string, error) { return "hash", nil }

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
		a.AddBot(a.last, sameName)
	default:
		a.AddUser(a.last, sameName)
	}
	return strconv.FormatInt(a.last, 10)
}

func (a *telegramApp) open(approvers []approver.Approver) (approver.Channel, approver.Destination, error) {
	cfg := telegram.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Approvers: approvers,
		Chats: []telegram.Chat{{ID: strconv.FormatInt(group, 10)}}}
	c, err := telegram.New(cfg, slog.New(slog.DiscardHandler))
	return c, cfg.Destinations()[0], err
}

func (a *telegramApp) press(user, conversation, message, request string, b fake.Button) {
	a.Forge(user, conversation, message, request, b)
}

func (*telegramApp) elsewhere() string { return strconv.FormatInt(otherGroup, 10) }

func (a *telegramApp) pressCopy(t try, b fake.Button) {
	id, _ := strconv.ParseInt(t.user, 10, 64)
	card := a.Copy(group, t.message)
	card["chat"] = map[string]any{"id": otherGroup, "type": "supergroup"}
	a.Inject(map[string]any{"callback_query": map[string]any{"id": a.NewQuery(id), "message": card,
		"from": a.Payload(id, otherGroup, "")["from"], "chat_instance": "1",
		"data": discordtest.CustomID(t.request, letters[b])}})
}

func (a *telegramApp) asks(user string) bool { return len(a.AskedToReply(user, group)) > 0 }

func (*telegramApp) unseen() []string { return nil }

func (a *telegramApp) also() []way {
	altered := func(name string, kind string, more map[string]any) way {
		return never(way{name: name, quiet: true, send: func(t try) {
			id, _ := strconv.ParseInt(t.user, 10, 64)
			m := a.Payload(id, group, "/deny "+t.code)
			maps.Copy(m, more)
			if m["text"] == "" {
				m["caption"] = "/deny " + t.code
			}
			a.Inject(map[string]any{kind: m})
		}})
	}
	return []way{typed("/pending", false), elsewhere("CODE"), elsewhere("/deny CODE"),
		altered("/deny CODE, edited", "edited_message", map[string]any{"edit_date": time.Now().Unix()}),
		altered("/deny CODE, forwarded", "message", map[string]any{"forward_origin": map[string]any{
			"type": "hidden_user", "date": 1, "sender_user_name": sameName}}),
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
		return a.AddBot(sameName)
	}
	return a.AddUser(sameName)
}

func (a *discordApp) open(approvers []approver.Approver) (approver.Channel, approver.Destination, error) {
	cfg := discord.Config{Token: secret.New(a.Token()), APIURL: a.URL(), Channels: []string{a.here}, Approvers: approvers}
	c, err := discord.New(cfg, slog.New(slog.DiscardHandler))
	return c, cfg.Destinations()[0], err
}

func (a *discordApp) press(user, conversation, message, request string, b fake.Button) {
	a.SendPress(user, conversation, message, discordtest.CustomID(request, letters[b]), 1, nil)
}

func (a *discordApp) elsewhere() string { return a.there }

func (a *discordApp) pressCopy(t try, b fake.Button) {
	a.SendPress(t.user, a.there, t.message, discordtest.CustomID(t.request, letters[b]), 1, func(e map[string]any) {
		e["message"].(map[string]any)["channel_id"] = a.there
	})
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
		never(way{name: "elsewhere: @approver CODE", quiet: true, send: func(t try) {
			a.Type(t.user, a.there, "<@"+a.Bot()+"> "+t.code)
		}})}
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
	u := slacktest.User{ID: fmt.Sprintf("U0PERSON%03d", a.last), Name: sameName, Bot: kind == "bot"}
	if kind == "outsider" {
		u.Team = "T0OTHER123"
	}
	a.AddUser(u)
	a.bots[u.ID] = u.Bot
	return u.ID
}

func (a *slackApp) open(approvers []approver.Approver) (approver.Channel, approver.Destination, error) {
	cfg := slack.Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
		Channels: []string{channelID}, Approvers: approvers, APIURL: a.URL()}
	c, err := slack.New(cfg, slog.New(slog.DiscardHandler))
	return c, cfg.Destinations()[0], err
}

func (a *slackApp) press(user, conversation, message, request string, b fake.Button) {
	a.Forge(user, conversation, message, request, b)
}

func (*slackApp) elsewhere() string { return otherID }

func (a *slackApp) pressCopy(t try, b fake.Button) {
	for _, m := range a.Messages(channelID) {
		if m.TS == t.message {
			copied := a.AddMessage(otherID, slacktest.Message{User: slacktest.BotUser, BotID: slacktest.BotID, Blocks: m.Blocks})
			a.press(t.user, otherID, copied, t.request, b)
		}
	}
}

func (a *slackApp) asks(user string) bool { return a.Dialog(user) != "" || a.Home(user) != "" }

func (*slackApp) unseen() []string { return nil }

func (a *slackApp) also() []way {
	return []way{typed("/approve pending", false), {name: "the app's Home", send: func(t try) {
		if !a.bots[t.user] { // a bot opens nothing
			a.OpenHome(t.user)
		}
	}}, elsewhere("CODE"), elsewhere("no CODE, use a branch"),
		never(way{name: "an old button", send: func(t try) {
			a.Deliver("interactive", a.ButtonPayload(t.user, channelID, t.message, "ap:x:1", "x", "approve_all"))
		}})}
}
