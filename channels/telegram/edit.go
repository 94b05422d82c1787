package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// This file asks for a changed command. Telegram has no dialogs: the bot shows the command in a message
// that opens the person's reply, and what they reply is the changed command.

// What is said of changed commands.
const (
	sayEdit = "copy the command with a tap, change it, and send it as your reply to this message. It is judged again, " +
		"and then runs once in the place of the one on the card. Without a reply nothing changes."
	sayEditShort = "The changed command"
	sayNoEdit    = "The command could not be shown here. Deny with a reason instead."
	sayNotText   = "A command has to be text. Nothing was changed."
	sayFormatted = "Telegram took signs of your command for formatting and removed them. Nothing was changed. Send all " +
		"of it as code, or write those signs in another way."
)

// askCommand asks the person who tapped to change the command. It returns what they are told of the tap.
func (l *listener) askCommand(ctx context.Context, who sender, card int, r approver.Reply) approver.Outcome {
	t := l.texts(who)
	r.Want, r.Method = approver.WantEdit, approver.ByTap
	ask, cancel := context.WithTimeout(ctx, l.pace.patience)
	out := l.ask(ask, r)
	cancel()
	if out.Kind != approver.OutcomeShown || out.Details == "" {
		return out
	}
	var text page
	text.add(plain, ", "+t.Text(sayEdit)+"\n")
	text.add(pre, out.Details)
	w := why{person: who.id, request: r.Request, card: card, edits: true}
	if !l.askBack(ctx, who, text, t.Text(sayEditShort), w) {
		return l.refused(who, display.Msg(sayNoEdit))
	}
	return approver.Outcome{Kind: approver.OutcomeShown}
}

// edited takes the reply to a question for a changed command. The core judges it.
func (l *listener) edited(ctx context.Context, who sender, m *models.Message, w why) {
	_, said := intent.NotACommand(m.Text)
	switch {
	case w.person != who.id:
		l.say(ctx, who, m.ID, display.Msg(sayNotAsked))
	case strings.TrimSpace(m.Text) == "":
		l.say(ctx, who, m.ID, display.Msg(sayNotText))
	case said:
		l.say(ctx, who, m.ID, display.Msg(intent.NotACommandText))
	case formatted(m):
		l.say(ctx, who, m.ID, display.Msg(sayFormatted))
	default:
		l.pass(ctx, who, m.ID, l.ask(ctx, from(who, approver.Reply{
			Want: approver.WantEdit, Method: approver.ByPlain, Request: w.request, Message: strconv.Itoa(w.card),
			Command: m.Text, Sent: time.Unix(int64(m.Date), 0),
		})).Text)
	}
}

// formatted reports whether Telegram may have removed signs from a text: it does so where it formats.
// Code that is all of the text was copied as such.
func formatted(m *models.Message) bool {
	for _, e := range m.Entities {
		switch e.Type { // any other stands for signs that are gone
		case models.MessageEntityTypeURL, models.MessageEntityTypeEmail, models.MessageEntityTypePhoneNumber,
			models.MessageEntityTypeMention, models.MessageEntityTypeHashtag, models.MessageEntityTypeCashtag,
			models.MessageEntityTypeBotCommand:
		case models.MessageEntityTypePre, models.MessageEntityTypeCode:
			if e.Offset != 0 || e.Length < cards.Units(m.Text) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
