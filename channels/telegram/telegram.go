// Package telegram is the Telegram channel: cards in private chats, groups and
// forum topics, answered by a button, by /approve and /deny, by the code as a
// message, or by yes and no as a reply to the card. A no may have a reason.
//
// # Who is listened to
//
// A person whose user id is on the approver list, in a configured chat and topic, under their
// own name, with a new message or a button press. The guard checks that first in every event; a
// user name, an anonymous admin, a channel, a bot, a forwarded or an edited message never counts.
//
// # How events arrive
//
// By long polling, so that no port is open to the world. An update is confirmed
// to Telegram only after it was handled, and counted once however often it
// comes. With receive: webhook Telegram brings the same updates to the daemon's listener, with a
// secret, and the rest is the same code: see webhook.go. One process at a time may poll for a bot:
// Telegram breaks the older poll with 409. With several replicas the receiver holds the lease that
// [Channel.LeaseName] names; all of them may post.
//
// # What a card may not do
//
// Texts that are not ours are in code entities, where Telegram looks for no mention, link,
// hashtag or command, and link previews are off.
//
// # Reading order
//
// Settings: config.go, first.go, pair.go, commands.go. Cards: telegram.go, render.go, attach.go. Answers:
// poll.go, webhook.go, identity.go, answer.go, why.go, tell.go, hint.go, ledger.go. The way to Telegram: api.go,
// floods.go, trouble.go, health.go.
package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/internal/receiving"
)

// Name is the channel's name in the configuration and in destinations.
const Name = "telegram"

// A Channel is one bot. Make it with New; the zero value cannot be used.
type Channel struct {
	receiving.Speech
	receiving.Overheard
	log    *slog.Logger
	token  *calls.Token
	url    string
	client *http.Client
	api    *bot.Bot
	guard  guard
	pace   pace
	floods floods
	meter  approver.ReceptionMeter
	told   troubleLog
	asked  prompts

	pairing   pairing.Waiting
	pairsOnly bool // made by ForPairing

	hook *hook // where Telegram brings updates; nil if it is polled
}

// pace holds the channel's times, so that tests need not wait for them.
type pace struct {
	poll     time.Duration // how long Telegram holds an empty poll, whole seconds
	margin   time.Duration // how much later than that the answer may come
	retry    calls.Backoff // after a failed poll
	empty    time.Duration // from one empty poll to the next, where Telegram does not hold them
	conflict time.Duration // after another process took the poll
	alone    time.Duration // how long after a conflict the other process is assumed to be still there
	doubt    time.Duration // between checks whether the token is valid after all
	repeat   time.Duration // from one log line to the next for the same cause
	lasting  time.Duration // a new trouble that lasts this long is logged even within repeat
	look     time.Duration // from one look at the webhook to the next
	hold     time.Duration // how long an update that a webhook brought may take before it is acknowledged
	hint     time.Duration // from one hint to a person to the next
	saying   time.Duration // kept free of a Post's time, to say that the file could not be attached
	patience time.Duration // how long a tap waits for its outcome before it is acknowledged
	verdict  time.Duration // how long an answer may take to be judged
	telling  time.Duration // how long it may take to tell the person
}

func defaultPace() pace {
	return pace{
		poll: 25 * time.Second, margin: 10 * time.Second,
		retry: calls.Usual(), empty: time.Second,
		conflict: 30 * time.Second, alone: 90 * time.Second, doubt: 3 * time.Second,
		look: 15 * time.Second, hold: 2 * time.Second,
		repeat: 10 * time.Minute, lasting: time.Minute, hint: time.Minute, saying: 2 * time.Second,
		// Telegram drops a query that is not answered within about 15 s.
		patience: 8 * time.Second, verdict: 30 * time.Second, telling: 15 * time.Second,
	}
}

// New makes the channel. It reads the token file and makes no connection. If Validate finds
// problems, New returns them all.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	token, err := calls.NewToken("token", cfg.Token, cfg.TokenFile, checkToken)
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	address, err := apiURL(cfg.APIURL)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Channel{log: log, token: token, url: address, client: newClient(token), pace: defaultPace()}
	c.api, err = bot.New(token.StandIn(),
		bot.WithSkipGetMe(), // it would wait for the platform, without a context
		bot.WithServerURL(c.url),
		bot.WithHTTPClient(callTimeout, doer{c.client}),
		bot.WithDefaultHandler(func(context.Context, *bot.Bot, *models.Update) {}), // the library's own logs whole updates
		bot.WithErrorsHandler(func(err error) { c.log.Debug("telegram library", "error", c.scrub(err.Error())) }),
	)
	if err != nil {
		return nil, fmt.Errorf("telegram: %s", c.scrub(err.Error()))
	}
	id, err := botOf(token.Reveal())
	if err != nil {
		return nil, err
	}
	c.guard = guard{bot: id, people: approver.People{}, places: map[place]bool{}}
	c.guard.people.Add(Name, cfg.Approvers)
	for _, chat := range cfg.Chats {
		at, err := placeOf(chat.ID, chat.Thread)
		if err != nil {
			return nil, fmt.Errorf("telegram: %w", err)
		}
		c.guard.places[at] = true
	}
	if c.hook, err = newHook(cfg, c); err != nil {
		return nil, err
	}
	return c, nil
}

// Name returns "telegram".
func (c *Channel) Name() string { return Name }

// LeaseName names the lease that the receiving process holds: one per bot. It is empty with a webhook,
// which brings updates to any replica.
func (c *Channel) LeaseName() string {
	if c.hook != nil {
		return ""
	}
	return Name + ":" + strconv.FormatInt(c.guard.bot, 10)
}

// Post sends the card as one message. What does not fit is cut, and the whole follows as a file
// in a reply to the card. If that file cannot be sent, the card stays and says so: it can be
// denied, it takes the typed code, and Details sends the file again.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	at, err := c.placeOf(to)
	if err != nil {
		return approver.Ref{}, calls.Errorf(calls.Refused, "%w", err)
	}
	m, err := render(card, cards.Fresh)
	if err != nil {
		return approver.Ref{}, calls.Errorf(calls.Refused, "%w", err)
	}
	id, err := c.send(ctx, at, m)
	if err != nil {
		return approver.Ref{}, fmt.Errorf("%s: %w", at, err)
	}
	if m.partial {
		c.complete(ctx, at, id, card, m.file)
	}
	return approver.Ref{Destination: to, Message: strconv.Itoa(id), Partial: m.partial}, nil
}

// Fits reports whether a card is shown whole, without a file beside it.
func (c *Channel) Fits(card approver.Card) bool {
	return dialect().Fits(card)
}

func (c *Channel) placeOf(to approver.Destination) (place, error) {
	at, err := placeIn(to)
	if err != nil {
		return place{}, err
	}
	if !c.guard.places[at] {
		return place{}, fmt.Errorf("telegram: %s is not under chats in the configuration: answers from there would not count",
			at)
	}
	return at, nil
}

// placeIn reads a destination, whether it is configured or not.
func placeIn(to approver.Destination) (place, error) {
	if to.Thread != "" {
		return place{}, fmt.Errorf("telegram: a topic is a conversation of its own here: it is %s/%s, without a thread",
			to.Conversation, to.Thread)
	}
	at, err := parsePlace(to.Conversation)
	if err != nil {
		return place{}, fmt.Errorf("telegram: %w", err)
	}
	return at, nil
}

func (c *Channel) send(ctx context.Context, at place, m message) (id int, err error) {
	p := &bot.SendMessageParams{
		ChatID: at.chat, MessageThreadID: at.thread, LinkPreviewOptions: noPreview(),
		Text: m.page.html(), ParseMode: models.ParseModeHTML,
	}
	if m.buttons != nil {
		p.ReplyMarkup = m.buttons
	}
	do := func(ctx context.Context) error {
		sent, err := c.api.SendMessage(ctx, p)
		if err == nil {
			id = sent.ID
		}
		return err
	}
	err = c.call(ctx, at.chat, "sendMessage", do)
	if calls.Coded(err, unparsed) {
		c.log.Warn("telegram did not understand the markup; sending without", "error", err)
		p.ParseMode = ""
		p.Text, p.Entities = m.page.marked()
		err = c.call(ctx, at.chat, "sendMessage", do)
	}
	if err == nil && id <= 0 {
		err = errors.New("telegram sendMessage: the answer has no message id")
	}
	return id, err
}

// Update edits the message to show card. Chats that have left the
// configuration are still updated.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	at, err := placeIn(ref.Destination)
	if err != nil {
		return calls.Errorf(calls.Refused, "%w", err)
	}
	n, err := number(ref.Message)
	if err != nil || n <= 0 || n > 1<<31-1 {
		return calls.Final("telegram: %q is not a message id", ref.Message)
	}
	id, shown := int(n), cards.Fresh
	if ref.Partial {
		shown = cards.MaybeMissing
	}
	m, err := renderAnew(card, shown)
	if err != nil {
		return calls.Errorf(calls.Refused, "%w", err)
	}
	if m.partial && !ref.Partial && !card.State.Settled() {
		return fmt.Errorf("%s: message %d: %w", at, id, approver.ErrShowsLess)
	}
	if err := c.edit(ctx, at, id, m); err != nil {
		return fmt.Errorf("%s: message %d: %w", at, id, err)
	}
	return nil
}

func (c *Channel) edit(ctx context.Context, at place, id int, m message) error {
	p := &bot.EditMessageTextParams{
		ChatID: at.chat, MessageID: id, LinkPreviewOptions: noPreview(),
		Text: m.page.html(), ParseMode: models.ParseModeHTML,
	}
	if m.buttons != nil {
		p.ReplyMarkup = m.buttons
	}
	do := func(ctx context.Context) error {
		_, err := c.api.EditMessageText(ctx, p)
		return err
	}
	err := c.call(ctx, at.chat, "editMessageText", do)
	if calls.Coded(err, unparsed) {
		c.log.Warn("telegram did not understand the markup; editing without", "error", err)
		p.ParseMode = ""
		p.Text, p.Entities = m.page.marked()
		err = c.call(ctx, at.chat, "editMessageText", do)
	}
	if calls.Coded(err, unchanged) {
		return nil
	}
	return err
}

func noPreview() *models.LinkPreviewOptions {
	return &models.LinkPreviewOptions{IsDisabled: bot.True()}
}
