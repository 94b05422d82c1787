package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/display"
	"approver.example/tokens"
)

// This file asks why somebody denies. Telegram has no dialogs: the bot asks in a message that opens the
// person's reply, and what they reply is the reason.

// What is said of reasons.
//
//approver:texts
const (
	sayWhy = "why not? Your reply to this message denies the request, and the agent is told what you write. " +
		"Without a reply nothing changes."
	sayWhyShort  = "Why not? This is told to the agent."
	sayNotAsked  = "Only the person who was asked can answer that. To deny, reply to the card: no, and your reason."
	sayForgotten = "approver no longer knows which card that was about. Nothing was changed. To deny, reply to the " +
		"card: no, and your reason."
	sayNoWords    = "A reason has to be text. Nothing was changed."
	sayNoYes      = "That question was why you deny. Nothing was changed. To approve, answer on the card."
	sayCannotAsk  = "The question could not be sent. To deny with a reason, reply to the card: no, and your reason."
	sayCutReason  = "The agent is told the first %d bytes of your reason."
	maxPrompts    = 256
	maxWhyUnits   = 64 // Telegram's limit for the text in an empty field
	promptAddress = "tg://user?id="
)

// A why is a question for a reason, or for a changed command, that was asked.
type why struct {
	person  int64
	request string
	card    int
	edits   bool // it asks for a changed command
}

type promptKey struct {
	place
	message int
}

// prompts remember the latest questions for a reason. The zero value is ready.
type prompts struct {
	mu   sync.Mutex
	of   map[promptKey]why
	keys []promptKey // oldest first
}

func (p *prompts) add(at place, message int, w why) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[promptKey]why{}
	}
	key := promptKey{at, message}
	if _, known := p.of[key]; !known {
		p.keys = append(p.keys, key)
	}
	p.of[key] = w
	for len(p.keys) > maxPrompts {
		delete(p.of, p.keys[0])
		p.keys = p.keys[1:]
	}
}

// find is the question that a message replies to.
func (p *prompts) find(at place, m *models.Message) (why, bool) {
	if m.ReplyToMessage == nil {
		return why{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.of[promptKey{at, m.ReplyToMessage.ID}]
	return w, ok
}

// isPrompt reports whether a message replies to a question for a reason, by Telegram's own copy of it:
// of what the bot sends, only that names a person.
func (g guard) isPrompt(m *models.Message) bool {
	to := m.ReplyToMessage
	if to == nil || to.From == nil || to.From.ID != g.bot || to.SenderChat != nil || to.ForwardOrigin != nil ||
		to.ViaBot != nil || whereIs(to) != whereIs(m) {
		return false
	}
	return len(to.Entities) > 0 && to.Entities[0].Offset == 0 && to.Entities[0].Type == models.MessageEntityTypeTextMention
}

// askWhy asks the person who tapped for the reason. It returns what they are told of the tap.
func (l *listener) askWhy(ctx context.Context, who sender, card int, request string) approver.Outcome {
	t := l.texts(who)
	var text page
	text.add(plain, ", "+t.Text(sayWhy))
	if !l.askBack(ctx, who, text, t.Text(sayWhyShort), why{person: who.id, request: request, card: card}) {
		return l.refused(who, display.Msg(sayCannotAsk))
	}
	return approver.Outcome{Kind: approver.OutcomeShown}
}

// askBack asks the person who tapped in a message that opens their reply. It reports whether it could.
func (l *listener) askBack(ctx context.Context, who sender, text page, hint string, w why) bool {
	ctx, cancel := context.WithTimeout(ctx, l.pace.patience)
	defer cancel()
	id := 0
	err := l.call(ctx, who.chat, "sendMessage", func(ctx context.Context) error {
		sent, err := l.api.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: who.chat, MessageThreadID: who.thread, ParseMode: models.ParseModeHTML,
			Text: fmt.Sprintf(`<a href="%s%d">%s</a>`, promptAddress, who.id, escapeHTML.Replace(who.name)) + text.html(),
			ReplyMarkup: models.ForceReply{ForceReply: true, Selective: true,
				InputFieldPlaceholder: shorten(hint, maxWhyUnits)},
			ReplyParameters: replyTo(w.card),
		})
		if err == nil {
			id = sent.ID
		}
		return err
	})
	if err != nil || id <= 0 {
		l.log.Warn("nobody could be asked back", "chat", who.chat, "message", w.card, "error", err)
		return false
	}
	l.asked.add(who.place, id, w)
	return true
}

// because takes the reply to a question for a reason: it denies the request of that question, or changes
// nothing. It never approves, because the question says that a reply denies.
func (l *listener) because(ctx context.Context, who sender, m *models.Message, meant intent.Intent, err error) {
	w, known := l.asked.find(who.place, m)
	asked := m.ReplyToMessage.Entities[0].User
	switch {
	case known && w.person != who.id, !known && asked != nil && asked.ID != who.id:
		l.say(ctx, who, m.ID, display.Msg(sayNotAsked))
		return
	case !known:
		l.say(ctx, who, m.ID, display.Msg(sayForgotten))
		return
	case strings.TrimSpace(m.Text) == "":
		l.say(ctx, who, m.ID, display.Msg(sayNoWords))
		return
	case err == nil && meant.Approve:
		l.say(ctx, who, m.ID, display.Msg(sayNoYes))
		return
	case errors.Is(err, tokens.ErrMany):
		l.say(ctx, who, m.ID, problem(err))
		return
	}
	r := from(who, approver.Reply{Method: approver.ByPlain, Request: w.request, Message: strconv.Itoa(w.card),
		Reason: m.Text, Sent: time.Unix(int64(m.Date), 0)})
	if err == nil { // "no, because …", or /deny with a code, which has to be that card's
		r.Reason, r.Method, r.Code = meant.Reason, meant.Method, meant.Code
	} else if code, beside, bad := tokens.Cut(m.Text); bad == nil {
		r.Method, r.Code = approver.ByCode, code
		r.Reason = strings.Join(strings.Fields(beside), " ") // the agent never sees a code
	}
	l.pass(ctx, who, m.ID, l.deny(ctx, who, r))
}

// deny passes a no with its reason to the core, and says what became of it.
func (l *listener) deny(ctx context.Context, who sender, r approver.Reply) string {
	whole := len(r.Reason)
	r.Reason = strings.TrimSpace(r.Reason[:display.RuneBoundary(r.Reason, approver.MaxReason)])
	out := l.ask(ctx, r)
	if out.Kind == approver.OutcomeDenied && whole > approver.MaxReason && out.Text != "" {
		return out.Text + " " + l.texts(who).Text(sayCutReason, approver.MaxReason)
	}
	return out.Text
}
