package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

// What the channel itself tells people.
//
//approver:texts
const (
	sayStranger  = "You are not on the approver list of this bot. Nothing was changed."
	sayNotHere   = "This cannot be answered here. Nothing was changed."
	sayOldButton = "That is not a button of this card. Nothing was changed."
	sayWorking   = "Your answer is being processed…"
	sayNotSent   = "The details could not be sent. Try again later. approver watch shows it whole, on the daemon's " +
		"machine."
)

// refuse tells somebody who is not an approver here why their tap did nothing.
func (l *listener) refuse(ctx context.Context, who sender, why error) {
	ctx, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	says := display.Msg(sayNotHere)
	if errors.Is(why, errStranger) {
		says = display.Msg(sayStranger)
	}
	if err := l.answer(ctx, who.query, l.texts(who).Message(says), true); err != nil && ctx.Err() == nil {
		l.log.Debug("a refusal could not be shown", "error", err)
	}
}

// from begins the reply of a person.
func from(who sender, r approver.Reply) approver.Reply {
	r.Channel, r.Conversation = Name, who.conversation()
	r.Sender, r.Name, r.Event = strconv.FormatInt(who.id, 10), who.name, who.event
	return r
}

// tap handles a button press of a person on the list.
func (l *listener) tap(ctx context.Context, who sender, q *models.CallbackQuery) {
	card := q.Message.Message.ID
	id, act, upto, ok := parseButton(q.Data)
	if !ok {
		l.tellTap(ctx, who, card, l.refused(who, display.Msg(sayOldButton)))
		return
	}
	r, instant := act.Reply()
	r = from(who, r)
	r.Request, r.Message, r.Shown = id.String(), strconv.Itoa(card), upto
	switch {
	case act == cards.DenyWhy:
		l.tellTap(ctx, who, card, l.askWhy(ctx, who, card, r.Request))
	case act == cards.Edit:
		l.tellTap(ctx, who, card, l.askCommand(ctx, who, card, r))
	case !instant:
		l.tellTap(ctx, who, card, l.refused(who, display.Msg(sayOldButton)))
	case r.Want == approver.WantDetails:
		l.tellTap(ctx, who, card, l.details(ctx, who, card, r))
	default:
		l.decide(ctx, who, card, r)
	}
}

// decide passes the answer of a tap to the core. The tap is acknowledged once its outcome is known, or
// when Telegram will not wait any longer.
func (l *listener) decide(ctx context.Context, who sender, card int, r approver.Reply) {
	outcome := make(chan approver.Outcome, 1)
	go func() { outcome <- l.ask(ctx, r) }()
	patience := time.NewTimer(l.pace.patience)
	defer patience.Stop()
	select {
	case out := <-outcome:
		l.tellTap(ctx, who, card, out)
	case <-patience.C:
		// The query expires soon, and can be answered only once.
		working := l.texts(who).Text(sayWorking)
		l.tellTap(ctx, who, card, approver.Outcome{Kind: approver.OutcomeShown, Text: working})
		out := <-outcome
		l.pass(ctx, who, card, who.name+": "+out.Text)
	}
}

// ask passes an answer to the core.
func (l *listener) ask(ctx context.Context, r approver.Reply) approver.Outcome {
	ctx, cancel := context.WithTimeout(ctx, l.pace.verdict)
	defer cancel()
	return l.reply(ctx, r)
}

// details shows all that is known of a request, as a reply to its card. It returns what the person is
// told beside it.
func (l *listener) details(ctx context.Context, who sender, card int, r approver.Reply) approver.Outcome {
	ctx, cancel := context.WithTimeout(ctx, l.pace.patience)
	defer cancel()
	out := l.ask(ctx, r)
	if out.Details == "" {
		return out
	}
	if err := l.present(ctx, who, card, "details.txt", out); err != nil {
		l.log.Warn("the details of a card could not be sent", "chat", who.chat, "message", card, "error", err)
		return l.refused(who, display.Msg(sayNotSent))
	}
	return approver.Outcome{Kind: approver.OutcomeShown}
}

// text handles a message of a person on the list.
func (l *listener) text(ctx context.Context, who sender, m *models.Message) {
	if w, known := l.asked.find(who.place, m); known && w.edits && l.guard.isPrompt(m) {
		if asks, is := intent.Wanted(m.Text); is && strings.HasPrefix(strings.TrimSpace(m.Text), "/") {
			l.look(ctx, who, m, asks)
		} else {
			l.edited(ctx, who, m, w)
		}
		return
	}
	if l.forAnotherBot(m.Text) && who.chat != who.id {
		return
	}
	request, card, isReply := l.guard.cardOf(m)
	says, addressed := l.withoutMention(m.Text)
	meant, err := intent.Parse(says)
	if asks, ok := intent.Wanted(says); addressed && ok {
		meant, err = asks, nil
	}
	switch {
	case err == nil && meant.Want != approver.WantAnswer:
		l.look(ctx, who, m, meant)
		return
	case l.guard.isPrompt(m): // whatever it says: nothing that is said there approves
		l.because(ctx, who, m, meant, err)
		return
	case err != nil && (!errors.Is(err, intent.ErrNotAnAnswer) || triesCode(m.Text)):
		l.say(ctx, who, m.ID, problem(err))
		return
	case err != nil, meant.Method == approver.ByPlain && !isReply:
		l.hint(ctx, who, m, meant, isReply)
		return
	}
	r := from(who, approver.Reply{Approve: meant.Approve, Method: meant.Method, Code: meant.Code, Grant: meant.Grant,
		Reason: meant.Reason, Sent: time.Unix(int64(m.Date), 0)})
	if isReply {
		// With a code too: then the code and the card that is replied to must agree.
		r.Request, r.Message = request, strconv.Itoa(card)
	}
	if !r.Approve {
		l.pass(ctx, who, m.ID, l.deny(ctx, who, r))
		return
	}
	l.pass(ctx, who, m.ID, l.ask(ctx, r).Text)
}

// look shows what a command asks for.
func (l *listener) look(ctx context.Context, who sender, m *models.Message, meant intent.Intent) {
	want := meant.Want
	out := l.ask(ctx, from(who, approver.Reply{Want: want, Method: approver.ByCommand, Reason: meant.Reason,
		Sent: time.Unix(int64(m.Date), 0)}))
	if err := l.present(ctx, who, m.ID, want.String()+".txt", out); err != nil && ctx.Err() == nil {
		l.log.Warn("what somebody asked for could not be sent", "want", want, "error", err)
	}
}

// problem tells a person what is wrong with a text that has a code, or should have one.
func problem(err error) display.Message { return intent.Problem(err, "/approve", "/deny") }

// forAnotherBot reports a command that names a bot other than this one.
func (l *listener) forAnotherBot(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	command, name, named := strings.Cut(word, "@")
	return strings.HasPrefix(command, "/") && named && !strings.EqualFold(strings.TrimRightFunc(name, unicode.IsPunct),
		l.username)
}

// withoutMention removes the bot's name that a text begins with, and reports whether it does.
func (l *listener) withoutMention(text string) (rest string, addressed bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, mention := strings.CutPrefix(word, "@")
	if !mention || l.username == "" || !strings.EqualFold(strings.TrimRightFunc(name, unicode.IsPunct), l.username) {
		return text, false
	}
	return strings.TrimSpace(rest), true
}

// triesCode reports whether a text was surely meant as a code.
func triesCode(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= len(tokens.Prefix) && strings.EqualFold(text[:len(tokens.Prefix)], tokens.Prefix)
}
