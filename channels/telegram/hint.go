package telegram

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/receiving"
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
}

// hint tells an approver what works here if their message was surely meant for this bot, a few times a minute.
func (l *listener) hint(ctx context.Context, who sender, m *models.Message, meant intent.Intent, onCard bool) {
	text := l.hintFor(who, m, meant, onCard)
	if text.Format != "" {
		l.sayHint(ctx, who, m, text)
	}
}

// sayHint tells somebody why what they wrote does not count, a few times a minute for each card.
func (l *listener) sayHint(ctx context.Context, who sender, m *models.Message, text display.Message) {
	this := attempt{place: who.place, person: who.id}
	if m.ReplyToMessage != nil {
		this.to = m.ReplyToMessage.ID
	}
	if left, ok := l.hints.Take(this, l.pace.hint); ok {
		l.say(ctx, who, m.ID, receiving.Hint(text, left))
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

// answers reports whether a text would be an answer or a command by itself, were it sent by an approver, or was
// to be one.
func answers(text string) bool {
	meant, err := intent.Parse(text)
	return err == nil && meant.Method != approver.ByPlain || err != nil && !errors.Is(err, intent.ErrNotAnAnswer)
}

// lateEdit is how old an edit may be that freezes: Telegram may show an edited message again, long after.
const lateEdit = 2 * time.Minute

// stops reports whether a message freezes although no answer like it counts: an approver wrote it in another
// chat, below a picture, or edited it into a message. To stop everything only tightens.
func (l *listener) stops(m *models.Message, refusal error) (who sender, asks intent.Intent, ok bool) {
	if own(m) != nil || refusal == nil && m.Text != "" || !l.guard.lists(m.From) ||
		m.EditDate != 0 && time.Since(time.Unix(int64(m.EditDate), 0)) > lateEdit {
		return sender{}, intent.Intent{}, false
	}
	asks, ok = l.freezes(m.Text + m.Caption)
	return sender{place: whereIs(m), id: m.From.ID, name: displayName(m.From)}, asks, ok
}

// freezes reports whether a text is /freeze for this bot.
func (l *listener) freezes(text string) (asks intent.Intent, ok bool) {
	says, addressed := l.withoutMention(text)
	asks, ok = intent.Wanted(says)
	return asks, ok && asks.Want == approver.WantFreeze && !l.forAnotherBot(text) &&
		(addressed || strings.HasPrefix(strings.TrimSpace(says), "/"))
}

// unheard tells somebody whom the guard did not let in why their message does not count, if it was
// surely meant as an answer. It changes nothing. A stranger is told only once in a while; anybody else, a few
// times a minute.
func (l *listener) unheard(ctx context.Context, m *models.Message, refusal error) {
	who := sender{place: whereIs(m), id: m.From.ID, name: displayName(m.From)}
	text := l.unheardFor(who, m, refusal)
	switch {
	case text.Format == "":
	case l.guard.lists(m.From) || errors.Is(refusal, errNoPerson):
		l.sayHint(ctx, who, m, text)
	case l.hinted.Begin(who.id, l.pace.hint):
		l.say(ctx, who, m.ID, text)
	}
}

func (l *listener) unheardFor(who sender, m *models.Message, refusal error) display.Message {
	private := who.chat == who.id
	_, _, onCard := l.guard.cardOf(m)
	_, err := intent.Parse(m.Text)
	meant := answers(m.Text) || answers(m.Caption) || onCard && err == nil
	listed := l.guard.lists(m.From)
	_, addressed := l.withoutMention(m.Text + m.Caption)
	switch {
	case m.BusinessConnectionID != "" || m.SenderBusinessBot != nil || l.forAnotherBot(m.Text+m.Caption):
		return display.Message{}
	case errors.Is(refusal, errNoPerson) && m.SenderChat != nil && m.SenderChat.ID == m.Chat.ID:
		if meant && l.guard.places[who.place] {
			return display.Msg(sayHidden)
		}
	case errors.Is(refusal, errSecondHand) && listed && (meant || private || onCard):
		if m.ForwardOrigin != nil || m.ViaBot != nil {
			return display.Msg(sayCopied)
		}
		return display.Msg(sayEdited)
	case errors.Is(refusal, errStranger) && (meant || private):
		return display.Msg(sayStranger)
	case !errors.Is(refusal, errElsewhere):
	case private && (m.Text != "" || carries(m)):
		return display.Msg(sayOutside)
	case listed && !private && receiving.HasCode(m.Text+" "+m.Caption):
		return display.Msg(receiving.LeakedText)
	case listed && (addressed || meant && !l.forAnyBot(m.Text+m.Caption)):
		return display.Msg(sayOutside)
	}
	return display.Message{}
}

// forAnyBot reports a command that other bots may have too, and that names none.
func (l *listener) forAnyBot(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	_, asks := intent.Wanted(word)
	return asks && !strings.Contains(word, "@")
}
