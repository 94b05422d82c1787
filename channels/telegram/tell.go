package telegram

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// This file tells people what became of what they did.

// succeeded reports whether somebody got what they wanted. It is told in passing; a refusal has to be
// dismissed.
func succeeded(k approver.OutcomeKind) bool {
	switch k {
	case approver.OutcomeApproved, approver.OutcomeDenied, approver.OutcomeRecorded, approver.OutcomeShown:
		return true
	case approver.OutcomeRefused, approver.OutcomeTooLate, approver.OutcomeExpired, approver.OutcomeUnknown,
		approver.OutcomeUsed, approver.OutcomeLocked, approver.OutcomeNeedCode:
	}
	return false
}

// texts are those in which somebody is told something where they spoke.
func (c *Channel) texts(who sender) display.Texts {
	return c.To(strconv.FormatInt(who.id, 10), who.conversation())
}

// refused is the outcome of what the channel refuses by itself.
func (c *Channel) refused(who sender, why display.Message) approver.Outcome {
	return approver.Outcome{Text: c.texts(who).Message(why)}
}

// tellTap answers a button press with a word that only the person sees. If that is no longer
// possible, it replies to the card. What is too long for such a word is a message, so that nothing is cut.
func (l *listener) tellTap(ctx context.Context, who sender, card int, out approver.Outcome) {
	tell, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	if cards.Units(out.Text) > maxAlert {
		var p page
		p.prose(shorten(who.name+": "+out.Text, maxText))
		if err := l.show(tell, who, card, p, true); err == nil {
			out.Text = ""
		}
	}
	err := l.answer(tell, who.query, out.Text, !succeeded(out.Kind))
	if err == nil || ctx.Err() != nil {
		return
	}
	if calls.KindOf(err) == calls.Refused && out.Text != "" {
		l.pass(ctx, who, card, who.name+": "+out.Text)
		return
	}
	l.log.Warn("an outcome could not be shown", "error", err)
}

// answer answers a button press: with an alert, or in passing.
func (l *listener) answer(ctx context.Context, query, text string, alert bool) error {
	return l.call(ctx, 0, "answerCallbackQuery", func(ctx context.Context) error {
		_, err := l.api.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{
			CallbackQueryID: query, Text: shorten(text, maxAlert), ShowAlert: alert && text != "",
		})
		return err
	})
}

// say tells somebody something of the channel's own, as a reply to a message.
func (l *listener) say(ctx context.Context, who sender, to int, says display.Message) {
	l.pass(ctx, who, to, l.texts(who).Message(says))
}

// pass passes on an outcome, as a reply to a message.
func (l *listener) pass(ctx context.Context, who sender, to int, text string) {
	if text == "" || ctx.Err() != nil {
		return
	}
	var p page
	p.prose(shorten(text, maxText))
	err := l.show(ctx, who, to, p, who.aside > 0)
	if err != nil && ctx.Err() == nil {
		l.log.Warn("an outcome could not be told", "error", err)
	}
}

// show shows a page in the chat, as a reply to a message; to one person alone, if that is wanted and
// possible.
func (l *listener) show(ctx context.Context, who sender, to int, p page, alone bool) error {
	ctx, cancel := context.WithTimeout(ctx, l.pace.telling)
	defer cancel()
	if alone && who.chat < 0 {
		form := url.Values{"text": {p.html()}, "link_preview_options": {`{"is_disabled":true}`}}
		if err := l.aside(ctx, who, to, "sendMessage", form, cards.File{}); calls.KindOf(err) != calls.Refused {
			return err
		}
	}
	return l.call(ctx, who.chat, "sendMessage", func(ctx context.Context) error {
		_, err := l.api.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: who.chat, MessageThreadID: who.thread, Text: p.html(), ParseMode: models.ParseModeHTML,
			LinkPreviewOptions: noPreview(), ReplyParameters: replyTo(to),
		})
		return err
	})
}

// replyTo makes a message a reply. A message that only the bot was sent has no number to reply to.
func replyTo(message int) *models.ReplyParameters {
	if message <= 0 {
		return nil
	}
	return &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true}
}

// present shows what somebody wanted to see, to them alone where Telegram can: as a message, or as a
// file if that is too long. The file of a card is for everybody who may answer it.
func (l *listener) present(ctx context.Context, who sender, to int, name string, out approver.Outcome) error {
	var p page
	p.prose(shorten(out.Text, maxText/8))
	if out.Details == "" {
		return l.show(ctx, who, to, p, true)
	}
	if cards.Units(out.Details) <= maxDetails {
		if len(p) > 0 {
			p.add(plain, "\n")
		}
		p.add(pre, out.Details)
		return l.show(ctx, who, to, p, true)
	}
	f := cards.File{Name: name, Content: out.Details, Caption: shorten(out.Text, maxText/8)}
	if who.chat < 0 && who.query == "" {
		form := url.Values{"caption": {p.html()}, "disable_content_type_detection": {"true"}}
		if err := l.aside(ctx, who, to, "sendDocument", form, f); calls.KindOf(err) != calls.Refused {
			return err
		}
	}
	return l.attach(ctx, who.place, to, f)
}

// maxDetails is how long details may be in a message, in UTF-16 units.
const maxDetails = 3500

// aside sends what one person alone is to see in a group. Telegram allows that to a bot that is an
// administrator, right after a tap, and in answer to a message that only the bot was sent; a server
// before Bot API 10.3 makes it an ordinary message. It fails as rejected where it is not allowed.
func (l *listener) aside(ctx context.Context, who sender, to int, method string, form url.Values, f cards.File) error {
	receiver := map[string]any{"receiver_user_id": who.id}
	if who.query != "" {
		receiver["callback_query_id"] = who.query
	}
	reply := map[string]any{"message_id": to, "allow_sending_without_reply": true}
	if who.aside > 0 {
		reply = map[string]any{"ephemeral_message_id": who.aside}
	}
	form = maps.Clone(form)
	form.Set("chat_id", strconv.FormatInt(who.chat, 10))
	form.Set("parse_mode", string(models.ParseModeHTML))
	if who.thread != 0 {
		form.Set("message_thread_id", strconv.Itoa(who.thread))
	}
	for name, value := range map[string]any{"ephemeral_message_parameters": receiver, "reply_parameters": reply} {
		raw, err := json.Marshal(value)
		if err != nil {
			return calls.Errorf(calls.Refused, "%w", err)
		}
		form.Set(name, string(raw))
	}
	return l.call(ctx, who.chat, method, func(ctx context.Context) error {
		_, err := l.raw(ctx, method, form, f)
		return err
	})
}

// asideOf is the id of a message that only the bot was sent; zero for any other.
func asideOf(raw json.RawMessage) int {
	var u struct {
		Message struct {
			ID int `json:"ephemeral_message_id"`
		} `json:"message"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.Message.ID
}

// shorten cuts a text of ours to at most limit UTF-16 code units.
func shorten(text string, limit int) string {
	if cards.Units(text) <= limit {
		return text
	}
	return firstUnits(text, limit-1) + "…"
}

// firstUnits is the longest beginning of s that has at most n UTF-16 code
// units.
func firstUnits(s string, n int) string {
	for i, r := range s {
		if n -= cards.Units(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}
