package telegram

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/pairing"
	"approver.example/display"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// Platform says how pairing works here, and where the platform is.
func (c *Config) Platform() section.Platform {
	return section.Platform{
		API: &c.APIURL, UsualAPI: DefaultAPI,
		Receiver: "Telegram bot",
		Token: "In Telegram, write /newbot to @BotFather (https://t.me/BotFather) and give it two names.\n" +
			"It answers with a token like 123456:AAE….",
		Heading: "The bot that @BotFather made, and who answers it; written by approver pair.",
		Help:    "/help",
		Example: "--token-file ~/.approver/telegram.token",
		Places:  "chats", Mapped: true,
		First: &firstChat{},
	}
}

// ForPairing makes a channel that only pairs: it ignores the chats and approvers of c. No
// daemon may receive for the same bot in the meantime.
func (c Config) ForPairing(log *slog.Logger) (approver.Pairer, error) {
	// Pairing is to find the chats and approvers: these are placeholders.
	c.Chats, c.Approvers = []Chat{{ID: "1"}}, []approver.Approver{{ID: "1"}}
	c.Receive = "" // the daemon sets its webhook again when it starts
	channel, err := New(c, log)
	if err != nil {
		return nil, err
	}
	channel.pairsOnly = true
	return channel, nil
}

// Introduce names the bot, and the link that opens it and sends the code with one tap.
func (c *Channel) Introduce(ctx context.Context, code tokens.Code) (approver.Introduction, error) {
	name, err := c.me(ctx)
	if calls.KindOf(err) == calls.Revoked {
		err = approver.TokenError{Cause: err}
	}
	if err != nil {
		return approver.Introduction{}, err
	}
	bot := "https://t.me/" + name
	return approver.Introduction{Name: "@" + name, Steps: []approver.Step{
		{Text: "On the phone, open this link and tap Start:", Link: bot + "?start=" + code.Reveal()},
		{Text: "Cards for a group: add the bot with this link instead, or send /pair and the code there:",
			Link: bot + "?startgroup=" + code.Reveal()},
	}}, nil
}

// Tell writes to the chat where the code was sent.
func (c *Channel) Tell(ctx context.Context, who approver.Paired, text string) error {
	at, err := placeOf(who.Chat, who.Thread)
	if err != nil {
		return err
	}
	var p page
	p.prose(shorten(text, maxText/4))
	_, err = c.send(ctx, at, message{page: p})
	return err
}

// Pair waits for a person's own, new message with the code: not a forwarded one,
// not one of a channel or an anonymous admin.
func (c *Channel) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	return c.pairing.Pair(ctx, code)
}

// Passed counts what was sent in the meantime that was not the code.
func (c *Channel) Passed() approver.Passed { return c.pairing.Passed() }

// What the bot says to people whom it does not ask here.
//
//approver:texts
const (
	sayHow = "%s To become one: on the machine where approver runs, approver pair telegram shows a " +
		"link and a code. Open the link, or send me the code."
	sayNoCards = "I am the bot of approver. You may answer my questions, but this chat gets none: answer where the " +
		"cards are. approver pair telegram on the machine where approver runs adds this chat."
)

// pairs takes a message that may have the code of a pairing, and reports whether nobody else
// needs to look at it. refused is the guard's error for it.
func (l *listener) pairs(ctx context.Context, m *models.Message, refused error) bool {
	stranger := errors.Is(refused, errStranger) || errors.Is(refused, errElsewhere)
	if m == nil || refused != nil && !stranger || l.forAnotherBot(m.Text) {
		return false // not typed by a person here and now, or not to this bot
	}
	at := whereIs(m)
	who := approver.Paired{ID: strconv.FormatInt(m.From.ID, 10), Name: displayName(m.From),
		Chat: strconv.FormatInt(at.chat, 10), Title: m.Chat.Title, Thread: at.thread}
	says := display.Msg(pairing.PairedText)
	told, sent := l.pairing.Sent(m.Text, who)
	if !sent {
		says = l.unpaired(m, stranger)
		hinted, pause := &l.hinted, l.pace.hint
		if says.Format == pairing.NotPairedText {
			hinted, pause = &l.tried, l.pace.hint/12 // who mistypes a code tries again soon
		}
		if says.Format == "" || !hinted.Begin(m.From.ID, pause) {
			return false
		}
	}
	l.others.put(who.ID, l.safely(func() {
		defer told()
		l.say(ctx, sender{place: at, id: m.From.ID, name: who.Name}, m.ID, says)
	}), sent)
	return sent || !stranger
}

// unpaired is the answer to a message that is not the code; empty if it is none of pairing's
// business. A person on the list who writes anything else gets the answers of a card.
func (l *listener) unpaired(m *models.Message, stranger bool) display.Message {
	word, _, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	command, _, named := strings.Cut(strings.ToLower(word), "@")
	private := m.Chat.ID == m.From.ID
	switch starts := command == "/start" || command == "/pair"; {
	case starts && pairing.HasCode(m.Text), stranger && private && pairing.HasCode(m.Text):
		return display.Msg(pairing.NotPairedText)
	case !stranger || m.Text == "" || !private && (!named || !starts && command != "/help"):
		return display.Message{}
	}
	if _, listed := l.guard.people.Lookup(Name, strconv.FormatInt(m.From.ID, 10)); listed {
		return display.Msg(sayNoCards)
	}
	return display.Msg(sayHow, display.Msg(pairing.WhoText))
}
