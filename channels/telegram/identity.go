package telegram

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"approver.example/display"
	"github.com/go-telegram/bot/models"

	"approver.example"
)

// A place is a chat, or one topic of a forum. To the core each is a conversation of its own: a
// code that the card of one topic shows does not work in another.
type place struct {
	chat   int64
	thread int // 0 is the chat itself, or a forum's General topic
}

// conversation is the core's name for the place: "<chat>" or "<chat>/<topic>".
func (p place) conversation() string {
	name := strconv.FormatInt(p.chat, 10)
	if p.thread != 0 {
		name += "/" + strconv.Itoa(p.thread)
	}
	return name
}

// parsePlace is the inverse of conversation. It accepts nothing else.
func parsePlace(conversation string) (place, error) {
	chat, topic, inTopic := strings.Cut(conversation, "/")
	if !inTopic {
		return placeOf(chat, 0)
	}
	n, err := number(topic)
	if err != nil || n <= 0 || n > math.MaxInt32 {
		return place{}, fmt.Errorf("%q is not a topic: it has a positive number", topic)
	}
	return placeOf(chat, int(n))
}

// String names the place for errors and logs.
func (p place) String() string {
	if p.thread == 0 {
		return fmt.Sprintf("chat %d", p.chat)
	}
	return fmt.Sprintf("chat %d thread %d", p.chat, p.thread)
}

func placeOf(chat string, thread int) (place, error) {
	id, err := number(chat)
	if err != nil || id == 0 {
		return place{}, fmt.Errorf("%q is not a chat id: expected a number such as -1001234567890, never a @name", chat)
	}
	if thread < 0 || thread > math.MaxInt32 {
		return place{}, fmt.Errorf("thread %d: a topic has a positive number", thread)
	}
	return place{id, thread}, nil
}

// A sender is a person on the approver list, authenticated by Telegram, and
// where they spoke.
type sender struct {
	place
	id   int64
	name string // for display only
	// query is the tap that is answered, if it is one. aside is the id of a message that only this bot
	// was sent, if it is one. Both let Telegram show an answer to this person alone.
	query string
	aside int
	event string // the update's id, by which a repeat is known
}

// Why an event is refused. The texts are for the log.
var (
	errNotAnAct   = errors.New("neither a new message nor a button press")
	errNoPerson   = errors.New("not sent by a person under their own name")
	errSecondHand = errors.New("not written by the sender here and now: forwarded, scheduled, or through another bot " +
		"or account")
	errElsewhere = errors.New("not in a configured chat or topic")
	errStranger  = errors.New("the sender is not on the approver list")
	errNotOurs   = errors.New("the button is not on a message of this bot that can still be read")
)

// A guard decides who may answer. It is asked before anything else in an event is read. The
// zero value lets nobody in.
type guard struct {
	bot    int64 // our own id
	people approver.People
	places map[place]bool
}

// message lets in a text that a person on the list has typed, under their own
// name, in a configured place.
func (g guard) message(m *models.Message) (sender, error) {
	if err := own(m); err != nil {
		return sender{}, err
	}
	if m.EditDate != 0 {
		return sender{}, errSecondHand
	}
	return g.admit(m.From, whereIs(m))
}

// own is nil for a text that a person has typed themselves under their own name, now or when they edited it.
func own(m *models.Message) error {
	switch {
	case m == nil:
		return errNotAnAct
	// If there is a sender chat (an anonymous admin, a channel), From is a placeholder that
	// Telegram fills in, and nobody.
	case m.From == nil || m.SenderChat != nil || m.IsAutomaticForward || m.AuthorSignature != "":
		return errNoPerson
	case m.ForwardOrigin != nil || m.ViaBot != nil || m.IsFromOffline || m.SenderBusinessBot != nil ||
		m.BusinessConnectionID != "":
		return errSecondHand
	}
	return nil
}

// tap lets in a button press of a person on the list, on a message that our bot posted in a
// configured place. It does not look at the button's data, because a client can make them up.
func (g guard) tap(q *models.CallbackQuery) (sender, error) {
	m := q.Message.Message
	if q.InlineMessageID != "" || m == nil || m.From == nil || m.From.ID != g.bot || m.SenderChat != nil ||
		m.ForwardOrigin != nil || m.BusinessConnectionID != "" {
		return sender{}, errNotOurs
	}
	return g.admit(&q.From, whereIs(m))
}

func (g guard) admit(u *models.User, at place) (sender, error) {
	switch {
	case u.IsBot || u.ID <= 0 || u.ID == g.bot:
		return sender{}, errNoPerson
	case !g.places[at]:
		return sender{}, errElsewhere
	case !g.lists(u):
		return sender{}, errStranger
	}
	return sender{place: at, id: u.ID, name: displayName(u)}, nil
}

// lists reports whether a person is on the list, wherever they speak.
func (g guard) lists(u *models.User) bool {
	_, ok := g.people.Lookup(Name, strconv.FormatInt(u.ID, 10))
	return ok && !u.IsBot
}

// whereIs returns the place of a message. Outside forums Telegram uses the same field for
// threads of replies; those belong to the chat itself.
func whereIs(m *models.Message) place {
	at := place{chat: m.Chat.ID}
	if m.IsTopicMessage {
		at.thread = m.MessageThreadID
	}
	return at
}

// displayName is what a person calls themselves, made safe to show. It is never
// an identity.
func displayName(u *models.User) string {
	const longest = 64
	name := display.OneLine(strings.TrimSpace(u.FirstName + " " + u.LastName))
	if utf8.RuneCountInString(name) > longest {
		name = string([]rune(name)[:longest-1]) + "…"
	}
	if name == "" {
		return strconv.FormatInt(u.ID, 10)
	}
	return name
}

// cardOf returns the request and the message of the card of ours that m replies to, read from
// Telegram's own copy of our message. ok is false if m replies to nothing of ours, or to a card
// that takes no more answers.
func (g guard) cardOf(m *models.Message) (request string, message int, ok bool) {
	card := m.ReplyToMessage
	if card == nil || card.From == nil || card.From.ID != g.bot || card.SenderChat != nil ||
		card.ForwardOrigin != nil || card.ViaBot != nil || whereIs(card) != whereIs(m) || card.ReplyMarkup == nil {
		return "", 0, false
	}
	for _, row := range card.ReplyMarkup.InlineKeyboard {
		for _, b := range row {
			if id, _, _, ours := parseButton(b.CallbackData); ours {
				return id.String(), card.ID, true
			}
		}
	}
	return "", 0, false
}
