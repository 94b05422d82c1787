package telegramtest

import (
	"slices"
	"time"
)

// This file is what one person alone sees in a group: Bot API 10.2 and 10.3.

// replyTo is what a message of the bot replies to.
type replyTo struct {
	MessageID int  `json:"message_id"`
	Without   bool `json:"allow_sending_without_reply"`
	Aside     int  `json:"ephemeral_message_id"`
}

// receiver is the person who alone gets a message; zero if everybody does. A bot that is no administrator
// may send such a message only right after a tap, and in answer to one that it was sent aside.
func (s *Server) receiver(p params, chat int64) (int64, error) {
	var to struct {
		Receiver int64  `json:"receiver_user_id"`
		Query    string `json:"callback_query_id"`
	}
	var reply replyTo
	if err := p.read("ephemeral_message_parameters", &to); err != nil {
		return 0, err
	}
	if err := p.read("reply_parameters", &reply); err != nil {
		return 0, err
	}
	q := s.queries[to.Query]
	switch {
	case to.Receiver == 0 || s.old:
		return 0, nil
	case s.users[to.Receiver] == "":
		return 0, bad("USER_ID_INVALID")
	case chat > 0:
		return 0, bad("PEER_ID_INVALID")
	case to.Query != "" && q != nil && q.user == to.Receiver && time.Since(q.at) <= s.queryLife,
		reply.Aside != 0 && s.asides[reply.Aside] == to.Receiver, s.chats[chat].Admin:
		return to.Receiver, nil
	}
	return 0, bad("CHAT_ADMIN_REQUIRED")
}

// whisper shows a message to one person.
func (s *Server) whisper(user int64, m *Message) {
	s.lastID++
	m.Aside = s.lastID
	s.whispers[user] = append(s.whispers[user], *m)
	s.told[user] = append(s.told[user], m.Text)
}

// Whispers returns the messages of the bot that user alone saw, oldest first.
func (s *Server) Whispers(user string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.whispers[parse(user)])
}

// SetOld makes the service one that does not know messages for one person: it ignores what it does not
// know.
func (s *Server) SetOld(old bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = old
}

// TypeAside sends a command that only the bot sees.
func (s *Server) TypeAside(user, conversation, text string) {
	chat, thread := place(conversation)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.asides[s.lastID] = parse(user)
	out := s.messageJSON(&Message{From: parse(user), Chat: chat, Thread: thread, Text: text, Date: time.Now()}, false)
	out["message_id"], out["ephemeral_message_id"] = 0, s.lastID
	s.deliver("message", out)
}

// Edit changes the text of somebody's own message.
func (s *Server) Edit(chat int64, message, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(chat, int(parse(message)))
	if m == nil {
		return
	}
	m.Text, m.Edits = text, m.Edits+1
	s.deliver("edited_message", s.messageJSON(m, true))
}

// A Toast is the answer to a tap, shown in passing or as an alert that has to be dismissed.
type Toast struct {
	Text  string
	Alert bool
}

// Toasts returns the answers to the taps of user, oldest first.
func (s *Server) Toasts(user string) []Toast {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.toasts[parse(user)])
}
