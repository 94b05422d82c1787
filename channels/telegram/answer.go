package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/tokens"
)

// What the channel itself tells people.
const (
	sayStranger  = "You are not on the approver list of this bot. Nothing was changed."
	sayNotHere   = "This cannot be answered here. Nothing was changed."
	sayOldButton = "That is not a button of this card. Nothing was changed."
	sayWorking   = "Your answer is being processed…"
	sayBroken    = "approver failed on this answer; it does not count."
	sayNobody    = "approver takes no answers here: nothing was approved."
	sayForm      = "That is not a confirmation code. Send /approve or /deny with the whole code from the card, such as " +
		"CONFIRM-…"
	sayWhere = "approver watch shows it whole, on the daemon's machine."
	sayMany  = "There is more than one code in that message. Send one, so that it is clear which request is meant."
)

// refuse tells somebody who is not an approver here why their tap did nothing.
func (l *listener) refuse(ctx context.Context, query string, why error) {
	ctx, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	text := sayNotHere
	if errors.Is(why, errStranger) {
		text = sayStranger
	}
	if err := l.answer(ctx, query, text); err != nil && ctx.Err() == nil {
		l.log.Debug("a refusal could not be shown", "error", err)
	}
}

// tap handles a button press of a person on the list.
func (l *listener) tap(ctx context.Context, who sender, q *models.CallbackQuery) {
	card := q.Message.Message
	id, act, upto, ok := parseButton(q.Data)
	request := id.String()
	switch {
	case !ok:
		l.tellTap(ctx, who, q, sayOldButton)
		return
	case act == cards.Details:
		l.tellTap(ctx, who, q, l.detail(ctx, who, request, card))
		return
	}
	outcome := make(chan approver.Outcome, 1)
	go func() {
		outcome <- l.ask(ctx, approver.Reply{
			Channel: Name, Conversation: who.conversation(),
			Sender: strconv.FormatInt(who.id, 10), Name: who.name,
			Approve: act == cards.Approve || act.Choice() > 0, Choice: act.Choice(), Method: approver.ByTap,
			Request: request, Message: strconv.Itoa(card.ID), Shown: upto,
		})
	}()
	patience := time.NewTimer(l.pace.patience)
	defer patience.Stop()
	select {
	case out := <-outcome:
		l.tellTap(ctx, who, q, out.Text)
	case <-patience.C:
		// The query expires soon, and can be answered only once.
		l.tellTap(ctx, who, q, sayWorking)
		out := <-outcome
		l.say(ctx, who, card.ID, who.name+": "+out.Text)
	}
}

// ask passes an answer to the core.
func (l *listener) ask(ctx context.Context, r approver.Reply) approver.Outcome {
	ctx, cancel := context.WithTimeout(ctx, l.pace.verdict)
	defer cancel()
	return l.reply(ctx, r)
}

// detailsOf says what the card has no room for. It uses only the button and Telegram's copy of
// the card, so any replica can do it.
func detailsOf(request string, card *models.Message) string {
	text := "Request " + request + "\n"
	for _, e := range card.Entities {
		whole := utf16.Encode([]rune(card.Text))
		if e.Type != models.MessageEntityTypePre || e.Offset < 0 || e.Length < 0 || e.Offset > len(whole)-e.Length {
			continue
		}
		if command := string(utf16.Decode(whole[e.Offset : e.Offset+e.Length])); cards.Units(text+command) <= maxAlert {
			return text + command
		}
	}
	return text + "The whole command is on the card or, where the card says so, in the file attached to it. No file? " +
		sayWhere
}

// detail sends the file of a card that was posted without it, or returns the text to show.
func (l *listener) detail(ctx context.Context, who sender, request string, card *models.Message) string {
	f, missing := l.unsent.take(who.place, card.ID)
	if !missing {
		return detailsOf(request, card)
	}
	send, cancel := context.WithTimeout(ctx, l.pace.patience)
	defer cancel()
	if err := l.attach(send, who.place, card.ID, f); err != nil {
		l.unsent.put(who.place, card.ID, f)
		l.log.Warn("a card's file could not be sent again", "chat", who.chat, "message", card.ID, "error", err)
		return "The file could not be sent again. Try later. " + sayWhere
	}
	return "The file is there now, as a reply to the card."
}

// text handles a message of a person on the list.
func (l *listener) text(ctx context.Context, who sender, m *models.Message) {
	if l.forAnotherBot(m.Text) {
		return
	}
	request, card, isReply := l.guard.cardOf(m)
	meant, err := intent.Parse(m.Text)
	switch {
	case errors.Is(err, tokens.ErrMany):
		l.say(ctx, who, m.ID, sayMany)
		return
	case errors.Is(err, intent.ErrUnclear):
		l.say(ctx, who, m.ID, "That is neither a clear yes nor a clear no: "+err.Error()+".")
		return
	case errors.Is(err, tokens.ErrForm), errors.Is(err, intent.ErrNotAnAnswer) && triesCode(m.Text):
		l.say(ctx, who, m.ID, sayForm)
		return
	case err != nil, meant.Method == approver.ByPlain && !isReply:
		l.hint(ctx, who, m, meant, isReply)
		return
	}
	r := approver.Reply{
		Channel: Name, Conversation: who.conversation(),
		Sender: strconv.FormatInt(who.id, 10), Name: who.name,
		Approve: meant.Approve, Method: meant.Method, Code: meant.Code, Grant: meant.Grant,
		Sent: time.Unix(int64(m.Date), 0),
	}
	if isReply {
		// With a code too: then the code and the card that is replied to must agree.
		r.Request, r.Message = request, strconv.Itoa(card)
	}
	l.say(ctx, who, m.ID, withReason(l.ask(ctx, r), m.Text))
}

// forAnotherBot reports a command that names a bot other than this one.
func (l *listener) forAnotherBot(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	command, name, named := strings.Cut(word, "@")
	return strings.HasPrefix(command, "/") && named && !strings.EqualFold(name, l.username)
}

// triesCode reports whether a text was surely meant as a code.
func triesCode(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= len(tokens.Prefix) && strings.EqualFold(text[:len(tokens.Prefix)], tokens.Prefix)
}

// tellTap answers a button press with an alert that only the person sees. If that is no longer
// possible, it replies to the card.
func (l *listener) tellTap(ctx context.Context, who sender, q *models.CallbackQuery, text string) {
	tell, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	err := l.answer(tell, q.ID, text)
	if err == nil || ctx.Err() != nil {
		return
	}
	if kindOf(err) == rejected && text != "" {
		l.say(ctx, who, q.Message.Message.ID, who.name+": "+text)
		return
	}
	l.log.Warn("an outcome could not be shown", "error", err)
}

func (l *listener) answer(ctx context.Context, query, text string) error {
	return l.call(ctx, 0, "answerCallbackQuery", func(ctx context.Context) error {
		_, err := l.api.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{
			CallbackQueryID: query, Text: shorten(text, maxAlert), ShowAlert: text != "",
		})
		return err
	})
}

// say answers in the chat, as a reply to a message.
func (l *listener) say(ctx context.Context, who sender, to int, text string) {
	if text == "" || ctx.Err() != nil {
		return
	}
	var p page
	p.add(code, shorten(text, maxText/4))
	tell, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	err := l.call(tell, who.chat, "sendMessage", func(ctx context.Context) error {
		_, err := l.api.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: who.chat, MessageThreadID: who.thread, Text: p.html(), ParseMode: models.ParseModeHTML,
			LinkPreviewOptions: noPreview(),
			ReplyParameters:    &models.ReplyParameters{MessageID: to, AllowSendingWithoutReply: true},
		})
		return err
	})
	if err != nil && ctx.Err() == nil {
		l.log.Warn("an outcome could not be told", "error", err)
	}
}

// shorten cuts a text of ours to at most limit UTF-16 code units.
func shorten(text string, limit int) string {
	if cards.Units(text) <= limit {
		return text
	}
	return firstUnits(text, limit-1) + "…"
}
