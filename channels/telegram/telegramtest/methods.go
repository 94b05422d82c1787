package telegramtest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The service's limits.
const (
	maxText    = 4096 // UTF-16 code units
	maxCaption = 1024
	maxAlert   = 200
	maxData    = 64 // bytes
	maxCopy    = 256
	maxBatch   = 100
	maxPoll    = 50 * time.Second
)

// methods are the Bot API methods that a bot like ours needs. s.mu is held.
var methods = map[string]func(*Server, params) (any, error){
	"getMe":               (*Server).getMe,
	"getChat":             (*Server).getChat,
	"getWebhookInfo":      (*Server).webhookInfo,
	"deleteWebhook":       (*Server).deleteWebhook,
	"setWebhook":          (*Server).setWebhook,
	"setMyCommands":       (*Server).setMyCommands,
	"sendMessage":         (*Server).sendMessage,
	"sendDocument":        (*Server).sendDocument,
	"editMessageText":     (*Server).editMessageText,
	"deleteMessage":       (*Server).deleteMessage,
	"answerCallbackQuery": (*Server).answerCallbackQuery,
}

func (s *Server) getMe(params) (any, error) {
	return map[string]any{
		"id": BotID, "is_bot": true, "first_name": "approver", "username": BotName,
		"can_join_groups": true, "can_read_all_group_messages": false,
	}, nil
}

// getUpdates holds the poll until there is something to say.
func (s *Server) getUpdates(ctx context.Context, p params) (any, error) {
	offset, _ := strconv.ParseInt(p.Get("offset"), 10, 64)
	limit, _ := strconv.Atoi(p.Get("limit"))
	if limit < 1 || limit > maxBatch {
		limit = maxBatch
	}
	seconds, _ := strconv.Atoi(p.Get("timeout"))
	timeout := time.NewTimer(min(time.Duration(seconds)*time.Second, maxPoll))
	defer timeout.Stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := p.read("allowed_updates", &s.allowed); err != nil {
		return nil, err
	}
	s.confirm(offset)
	s.poll++
	mine := s.poll
	s.notify() // an older poll learns that it is replaced
	for expired := seconds == 0 || s.hasty; ; {
		switch {
		case s.webhook != "":
			return nil, &APIError{Code: http.StatusConflict,
				Description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the " +
					"webhook first"}
		case s.poll != mine:
			return nil, &APIError{Code: http.StatusConflict,
				Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
		case len(s.scripted["getUpdates"]) > 0 && !s.scripted["getUpdates"][0].none():
			return nil, s.next("getUpdates").befall()
		case s.broken():
			return nil, errBroken
		case len(s.updates) > 0 || expired:
			batch := make([]json.RawMessage, 0, limit)
			for _, u := range s.updates[:min(limit, len(s.updates))] {
				batch = append(batch, u.raw)
			}
			return batch, nil
		}
		changed := s.changed
		s.holding++
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
			expired = true
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.holding--
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// confirm forgets the updates below offset; s.mu is held.
func (s *Server) confirm(offset int64) {
	if offset < 0 {
		s.updates = s.updates[max(len(s.updates)+int(offset), 0):]
		return
	}
	s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return u.id < offset })
}

func (s *Server) sendMessage(p params) (any, error) {
	m, err := s.compose(p, "text", maxText)
	if err != nil {
		return nil, err
	}
	return s.send(p, m)
}

// send shows a message of the bot: to everybody in its chat, or to one person.
func (s *Server) send(p params, m *Message) (any, error) {
	to, err := s.receiver(p, m.Chat)
	if err != nil {
		return nil, err
	}
	if err := s.throttle(m.Chat); err != nil {
		return nil, err
	}
	if to != 0 {
		s.whisper(to, m)
		return s.messageJSON(m, false), nil
	}
	s.post(m)
	return s.messageJSON(m, true), nil
}

func (s *Server) sendDocument(p params) (any, error) {
	f, ok := p.files["document"]
	switch {
	case !ok:
		return nil, bad("there is no document in the request")
	case f.content == "":
		return nil, bad("file must be non-empty")
	case len(f.content) > maxUpload:
		return nil, &APIError{Code: http.StatusRequestEntityTooLarge, Description: "Request Entity Too Large"}
	}
	m, err := s.compose(p, "caption", maxCaption)
	if err != nil {
		return nil, err
	}
	m.FileName, m.File = f.name, f.content
	return s.send(p, m)
}

// compose checks and makes a message of the bot.
func (s *Server) compose(p params, field string, limit int) (*Message, error) {
	chat, err := s.chatOf(p)
	if err != nil {
		return nil, err
	}
	m := &Message{Chat: chat.ID, From: BotID, Date: time.Now(), Protected: p.Get("protect_content") == "true",
		Silent: p.Get("disable_notification") == "true"}
	if thread := p.Get("message_thread_id"); thread != "" {
		m.Thread, _ = strconv.Atoi(thread)
		if !slices.Contains(chat.Topics, m.Thread) {
			return nil, bad("message thread not found")
		}
	}
	if err := s.write(m, p, field, limit); err != nil {
		return nil, err
	}
	if err := m.attachMarkup(p, true); err != nil {
		return nil, err
	}
	var to replyTo
	if err := p.read("reply_parameters", &to); err != nil {
		return nil, err
	}
	if s.find(chat.ID, to.MessageID) != nil {
		m.ReplyTo = to.MessageID
	} else if p.Get("reply_parameters") != "" && !to.Without && to.Aside == 0 {
		return nil, bad("message to be replied not found")
	}
	return m, nil
}

func (s *Server) getChat(p params) (any, error) {
	chat, err := s.chatOf(p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": chat.ID, "type": chat.kind(), "accent_color_id": 0, "max_reaction_count": 0}, nil
}

func (s *Server) chatOf(p params) (*Chat, error) {
	id, err := strconv.ParseInt(p.Get("chat_id"), 10, 64)
	if err != nil {
		return nil, bad("chat_id is empty")
	}
	chat, ok := s.chats[id]
	switch {
	case !ok:
		return nil, bad("chat not found")
	case chat.Kicked:
		return nil, &APIError{Code: http.StatusForbidden,
			Description: "Forbidden: bot was kicked from the " + chat.kind() + " chat"}
	case chat.MigratedTo != 0:
		return nil, &APIError{Code: http.StatusBadRequest,
			Description: "Bad Request: group chat was upgraded to a supergroup chat", MigrateTo: chat.MigratedTo}
	}
	return chat, nil
}

// write reads the text in whatever markup it comes; s.mu is held.
func (s *Server) write(m *Message, p params, field string, limit int) error {
	if s.unmarked && p.Get("parse_mode") != "" {
		return bad("can't parse entities: Unsupported start tag \"b\" at byte offset 0")
	}
	text := p.Get(field)
	if !utf8.ValidString(text) {
		return bad("strings must be encoded in UTF-8")
	}
	var entities []Entity
	switch mode := p.Get("parse_mode"); strings.ToLower(mode) {
	case "html":
		var err error
		if text, entities, err = parseHTML(text); err != nil {
			return err
		}
	case "":
		if err := p.read("entities", &entities); err != nil {
			return err
		}
	default:
		return bad("unsupported parse_mode")
	}
	text = strings.TrimRight(text, " \n\t")
	switch {
	case text == "" && field == "text":
		return bad("message text is empty")
	case units(text) > limit && field == "text":
		return bad("message is too long")
	case units(text) > limit:
		return bad("message caption is too long")
	}
	m.Text, m.Entities, m.Markup = text, detect(text, entities), p.Get("parse_mode")
	var preview struct {
		Disabled bool `json:"is_disabled"`
	}
	if err := p.read("link_preview_options", &preview); err != nil {
		return err
	}
	m.NoPreview = preview.Disabled
	return nil
}

func (s *Server) editMessageText(p params) (any, error) {
	m, err := s.own(p)
	switch {
	case err != nil:
		return nil, err
	case m.File != "":
		return nil, bad("there is no text in the message to edit")
	}
	next := *m
	if err := s.write(&next, p, "text", maxText); err != nil {
		return nil, err
	}
	if err := next.attachMarkup(p, false); err != nil {
		return nil, err
	}
	if next.Text == m.Text && slices.Equal(next.Entities, m.Entities) &&
		slices.EqualFunc(next.Buttons, m.Buttons, slices.Equal[[]Button]) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as " +
			"a current content and reply markup of the message")
	}
	if err := s.throttle(m.Chat); err != nil {
		return nil, err
	}
	next.Edits++
	*m = next
	return s.messageJSON(m, true), nil
}

// deleteFor is how long a bot may delete its own messages.
const deleteFor = 48 * time.Hour

func (s *Server) deleteMessage(p params) (any, error) {
	chat, err := s.chatOf(p)
	if err != nil {
		return nil, err
	}
	id, _ := strconv.Atoi(p.Get("message_id"))
	m := s.find(chat.ID, id)
	switch {
	case m == nil:
		return nil, bad("message to delete not found")
	case m.From != BotID || time.Since(m.Date) > deleteFor: // the bot is no administrator
		return nil, bad("message can't be deleted for everyone")
	}
	m.Deleted = true
	return true, nil
}

// own finds a message that the bot has sent.
func (s *Server) own(p params) (*Message, error) {
	chat, err := s.chatOf(p)
	if err != nil {
		return nil, err
	}
	id, _ := strconv.Atoi(p.Get("message_id"))
	m := s.find(chat.ID, id)
	if m == nil {
		return nil, bad("message to edit not found")
	}
	if m.From != BotID {
		return nil, bad("message can't be edited")
	}
	return m, nil
}

func (s *Server) answerCallbackQuery(p params) (any, error) {
	q := s.queries[p.Get("callback_query_id")]
	text := p.Get("text")
	switch {
	case q == nil || q.answered || time.Since(q.at) > s.queryLife:
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	case utf8.RuneCountInString(text) > maxAlert:
		return nil, bad("MESSAGE_TOO_LONG")
	}
	q.answered = true
	if text != "" {
		s.told[q.user] = append(s.told[q.user], text)
		s.toasts[q.user] = append(s.toasts[q.user], Toast{text, p.Get("show_alert") == "true"})
	}
	return true, nil
}
