package telegram

import (
	"context"
	"errors"
	"strings"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/display"
)

// What somebody is told whose message is no answer.
//
//approver:texts
const (
	sayNeither = "That is neither yes nor no, so nothing was changed. Reply with yes, or with no and your reason; tap a " +
		"button; or send /approve or /deny with the code on the card."
	sayOver = "That message takes no answer. Nothing was changed."
	sayHelp = "This bot shows approver's questions as cards. On a card, tap a button, or reply yes, or no and your " +
		"reason; or send /approve or /deny with the code on the card. /pending, /status and /grants show what there is."
	sayTextOnly = "Only text counts here. Nothing was changed."
	sayEdited   = "An edited message does not count. Send your answer as a new message."
	sayCopied   = "Only what you write here yourself counts. Nothing was changed."
	sayHidden   = "You write as the group, so approver cannot know who you are. Nothing was changed. Turn off Remain " +
		"anonymous among your rights as an administrator, and answer again."
	sayOutside = "This bot takes no answers in this chat. Nothing was changed."
)

// An attempt is what one person wrote to one message, or to none.
type attempt struct {
	place
	person int64
	to     int
	text   string
}

func attemptOf(m *models.Message) attempt {
	a := attempt{place: whereIs(m), person: m.From.ID, text: m.Text + m.Caption}
	if m.ReplyToMessage != nil {
		a.to = m.ReplyToMessage.ID
	}
	return a
}

// hint tells an approver what works here if their message was surely meant for this bot. Every attempt gets
// its own word; only who repeats one hears it once in a while.
func (l *listener) hint(ctx context.Context, who sender, m *models.Message, meant intent.Intent, onCard bool) {
	text := l.hintFor(who, m, meant, onCard)
	if text.Format != "" && l.answered.Begin(attemptOf(m), l.pace.hint) {
		l.say(ctx, who, m.ID, text)
	}
}

func (l *listener) hintFor(who sender, m *models.Message, meant intent.Intent, onCard bool) display.Message {
	private := who.chat == who.id
	_, addressed := l.withoutMention(m.Text)
	word, _, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	command, _, named := strings.Cut(word, "@") // for another bot: not here
	switch to := m.ReplyToMessage; {
	case onCard:
		return display.Msg(sayNeither)
	case m.Text != "" && to != nil && to.From != nil && to.From.ID == l.guard.bot && !strings.HasPrefix(word, "/"):
		return display.Msg(sayOver)
	case m.Text == "" && (answers(m.Caption) || private && carries(m)):
		return display.Msg(sayTextOnly)
	case m.Text == "":
		return display.Message{} // for example a picture for others, or a notice that a message was pinned
	case addressed:
		return display.Msg(sayHelp)
	// In a group, a command without a bot's name may be for any bot, and talk is for people.
	case private, named && strings.HasPrefix(command, "/"):
		return display.Msg(sayHelp)
	}
	return display.Message{}
}

// carries reports whether a message has something that a person sent, and is no notice of what happened
// in the chat.
func carries(m *models.Message) bool {
	return m.Caption != "" || m.Photo != nil || m.Sticker != nil || m.Voice != nil || m.Video != nil ||
		m.VideoNote != nil || m.Audio != nil || m.Document != nil || m.Animation != nil || m.Story != nil ||
		m.PaidMedia != nil || m.Contact != nil || m.Location != nil || m.Venue != nil || m.Poll != nil ||
		m.Dice != nil || m.Game != nil || m.Checklist != nil
}

// answers reports whether a text would be an answer by itself, were it sent by an approver.
func answers(text string) bool {
	meant, err := intent.Parse(text)
	return err == nil && meant.Want == approver.WantAnswer && meant.Method != approver.ByPlain
}

// unheard tells somebody whom the guard did not let in why their message does not count, if it was
// surely meant as an answer. It changes nothing. A stranger is told only once in a while; anybody else, once
// for each attempt.
func (l *listener) unheard(ctx context.Context, m *models.Message, refusal error) {
	who := sender{place: whereIs(m), id: m.From.ID, name: displayName(m.From)}
	text := l.unheardFor(who, m, refusal)
	if text.Format == "" {
		return
	}
	first := false
	if errors.Is(refusal, errStranger) || text.Format == sayOutside {
		first = l.hinted.Begin(who.id, l.pace.hint)
	} else {
		first = l.answered.Begin(attemptOf(m), l.pace.hint)
	}
	if first {
		l.say(ctx, who, m.ID, text)
	}
}

func (l *listener) unheardFor(who sender, m *models.Message, refusal error) display.Message {
	private := who.chat == who.id
	_, _, onCard := l.guard.cardOf(m)
	_, err := intent.Parse(m.Text)
	_, asks := intent.Wanted(m.Text)
	meant := asks && strings.HasPrefix(m.Text, "/") || answers(m.Text) || answers(m.Caption) || onCard && err == nil
	_, stranger := l.guard.admit(m.From, who.place)
	switch {
	case m.BusinessConnectionID != "" || m.SenderBusinessBot != nil || l.forAnotherBot(m.Text):
		return display.Message{}
	case errors.Is(refusal, errNoPerson) && m.SenderChat != nil && m.SenderChat.ID == m.Chat.ID:
		if meant && l.guard.places[who.place] {
			return display.Msg(sayHidden)
		}
	case errors.Is(refusal, errSecondHand) && stranger == nil && (meant || private || onCard):
		if m.ForwardOrigin != nil || m.ViaBot != nil {
			return display.Msg(sayCopied)
		}
		return display.Msg(sayEdited)
	case errors.Is(refusal, errStranger) && (meant || private):
		return display.Msg(sayStranger)
	case errors.Is(refusal, errElsewhere) && private && (m.Text != "" || carries(m)):
		return display.Msg(sayOutside)
	}
	return display.Message{}
}
