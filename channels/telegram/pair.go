package telegram

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/pairing"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// Platform says how pairing works here, and where the platform is.
func (c *Config) Platform() section.Platform {
	return section.Platform{
		API: &c.APIURL, UsualAPI: DefaultAPI,
		Receiver: "Telegram bot",
		How: "send this to the bot, in the chat that is to get " +
			"cards; in a group as a command, /pair %s",
		Link:    "https://t.me/",
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
	channel, err := New(c, log)
	if err != nil {
		return nil, err
	}
	channel.pairsOnly = true
	return channel, nil
}

// Pair waits for a person's own, new message with the code: not a forwarded one,
// not one of a channel or an anonymous admin.
func (c *Channel) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	return c.pairing.Pair(ctx, code)
}

// pairs takes a message that may have the code of a pairing, and reports whether it had.
// refused is the guard's error for it.
func (l *listener) pairs(ctx context.Context, m *models.Message, refused error) bool {
	if m == nil || refused != nil && !errors.Is(refused, errStranger) && !errors.Is(refused, errElsewhere) {
		return false // not typed by a person here and now
	}
	at := whereIs(m)
	who := approver.Paired{ID: strconv.FormatInt(m.From.ID, 10), Name: displayName(m.From),
		Chat: strconv.FormatInt(at.chat, 10), Title: m.Chat.Title, Thread: at.thread}
	if l.forAnotherBot(m.Text) || !l.pairing.Sent(m.Text, who) {
		return false
	}
	l.others.try(who.ID,
		l.safely(func() { l.say(ctx, sender{place: at, id: m.From.ID, name: who.Name}, m.ID, pairing.PairedText) }))
	return true
}
