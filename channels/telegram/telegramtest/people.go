package telegramtest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"approver.example/channels/channeltest/fake"
)

var _ fake.Platform = (*Server)(nil)

// A Chat is a place where the bot is.
type Chat struct {
	// ID is a user's id for a private chat, else negative.
	ID int64
	// Topics are the threads of a forum.
	Topics []int
	// Privacy is the bot's privacy mode: in a group it gets only commands and
	// replies to its own messages.
	Privacy bool
	// Admin says that the bot is an administrator there.
	Admin bool
	// Kicked and MigratedTo are why nothing can be sent there any more.
	Kicked     bool
	MigratedTo int64
}

func (c Chat) kind() string {
	switch {
	case c.ID > 0:
		return "private"
	case c.ID > -1000000000000:
		return "group"
	}
	return "supergroup"
}

// A Message is one message in a chat, whoever sent it.
type Message struct {
	ID       int
	Chat     int64
	Thread   int
	From     int64
	Date     time.Time
	Text     string // the caption, if there is a file
	Markup   string // the parse mode that the text came in
	Entities []Entity
	Buttons  [][]Button
	FileName string
	File     string
	ReplyTo  int
	Edits    int
	Force    *ForceReply
	Aside    int // its number, if one person alone sees it

	Protected, Silent, NoPreview, Deleted bool
}

// A Button is an inline button. One that copies a text tells the bot nothing.
type Button struct{ Text, Data, Copy string }

type update struct {
	id  int64
	raw json.RawMessage
}

type query struct {
	user     int64
	at       time.Time
	answered bool
}

// AddUser registers a person.
func (s *Server) AddUser(id int64, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] = name
}

// AddBot registers another bot.
func (s *Server) AddBot(id int64, name string) {
	s.AddUser(id, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bots[id] = true
}

// AddChat registers a chat, or replaces what is known of it.
func (s *Server) AddChat(c Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[c.ID] = &c
}

// Messages returns all messages of a chat, also deleted ones, oldest first.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Message, 0, len(s.messages[chat]))
	for _, m := range s.messages[chat] {
		out = append(out, *m)
	}
	return out
}

// find returns a message that is not deleted; s.mu is held.
func (s *Server) find(chat int64, id int) *Message {
	for _, m := range s.messages[chat] {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

// findIn returns a message of a chat or topic; s.mu is held.
func (s *Server) findIn(conversation, message string) *Message {
	chat, thread := place(conversation)
	if m := s.find(chat, int(parse(message))); m != nil && m.Thread == thread {
		return m
	}
	return nil
}

// post gives a message its id and shows it; s.mu is held.
func (s *Server) post(m *Message) {
	s.lastID++
	m.ID = s.lastID
	s.messages[m.Chat] = append(s.messages[m.Chat], m)
	if m.From != BotID || m.ReplyTo == 0 {
		return
	}
	to := s.find(m.Chat, m.ReplyTo)
	if to.From != BotID {
		s.told[to.From] = append(s.told[to.From], m.Text)
		return
	}
	// A late word on a tap: a reply to the card that names the person.
	for id, name := range s.users {
		if m.File == "" && strings.HasPrefix(m.Text, name+": ") {
			s.told[id] = append(s.told[id], m.Text)
		}
	}
}

// Cards returns the bot's messages in a chat ("<chat>", which is the General
// topic of a forum) or in a topic ("<chat>/<topic>"): an attachment belongs to
// the message that it replies to, and a reply to a person is for that person.
func (s *Server) Cards(conversation string) []fake.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []fake.Shown
	at := map[int]int{}
	chat, thread := place(conversation)
	for _, m := range s.messages[chat] {
		if m.From != BotID || m.Deleted || m.Thread != thread {
			continue
		}
		to := s.find(m.Chat, m.ReplyTo)
		if card, ok := at[m.ReplyTo]; ok && m.File != "" {
			out[card].Files = append(out[card].Files, m.File)
			continue
		}
		if to != nil && to.From != BotID {
			continue
		}
		push, _, _ := strings.Cut(m.Text, "\n")
		shown := fake.Shown{Message: strconv.Itoa(m.ID), Push: push, Text: drawn(m.Text, m.Entities)}
		for _, b := range slices.Concat(m.Buttons...) {
			shown.Buttons = append(shown.Buttons, cmp.Or(fake.ChoiceLabeled(b.Text), buttonOf(b.Data)))
			shown.Labels = append(shown.Labels, b.Text)
		}
		if m.File != "" {
			shown.Files = []string{m.File}
		}
		at[m.ID] = len(out)
		out = append(out, shown)
	}
	return out
}

// letters are the last characters of the bot's button data.
var letters = map[fake.Button]string{
	fake.ApproveButton: "o", fake.DenyButton: "d", fake.CodeButton: "c", fake.DetailsButton: "i",
	fake.QuarterButton: "m", fake.SessionButton: "s", fake.WhyButton: "r", fake.TimeButton: "t", fake.DisownButton: "x",
	fake.EditButton: "e",
}

func buttonOf(data string) fake.Button {
	for b, letter := range letters {
		if data, _, _ := strings.Cut(data, "+"); strings.HasSuffix(data, ":"+letter) { // behind + is the card's count
			return b
		}
	}
	return fake.NoButton
}

// Told returns what the bot has told user alone: alerts, and replies to their
// messages.
func (s *Server) Told(user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told[parse(user)])
}

// Tap presses a button.
func (s *Server) Tap(user, conversation, message string, button fake.Button) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findIn(conversation, message)
	if m == nil {
		return fmt.Errorf("there is no message %s", message)
	}
	for _, b := range slices.Concat(m.Buttons...) {
		if cmp.Or(fake.ChoiceLabeled(b.Text), buttonOf(b.Data)) == button {
			s.press(parse(user), m, b.Data)
			return nil
		}
	}
	return fmt.Errorf("message %s has no such button", message)
}

// Forge sends a press with made-up data: Telegram's clients choose it.
func (s *Server) Forge(user, conversation, message, request string, button fake.Button) bool {
	id, err := uuid.Parse(request)
	if err != nil {
		return false
	}
	return s.Press(user, conversation, message,
		"a1:"+base64.RawURLEncoding.EncodeToString(id[:])+":"+letters[button]) != ""
}

// Press sends a press with any data at all, and returns the query's id, or
// nothing if there is no such message.
func (s *Server) Press(user, conversation, message, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findIn(conversation, message)
	if m == nil {
		return ""
	}
	return s.press(parse(user), m, data)
}

// press delivers a callback query; s.mu is held.
func (s *Server) press(user int64, m *Message, data string) string {
	id := s.newQuery(user)
	s.deliver("callback_query", map[string]any{
		"id": id, "from": s.userJSON(user), "message": s.messageJSON(m, true), "chat_instance": "1", "data": data,
	})
	return id
}

// NewQuery makes a callback query of user that can be answered, for an update
// to be injected.
func (s *Server) NewQuery(user int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newQuery(user)
}

func (s *Server) newQuery(user int64) string {
	id := strconv.Itoa(4000000 + len(s.queries))
	s.queries[id] = &query{user: user, at: time.Now()}
	return id
}

// Type sends a text message.
func (s *Server) Type(user, conversation, text string) {
	chat, thread := place(conversation)
	s.say(&Message{From: parse(user), Chat: chat, Thread: thread, Text: text})
}

// ReplyTo sends a text message as a reply.
func (s *Server) ReplyTo(user, conversation, message, text string) bool {
	chat, thread := place(conversation)
	s.say(&Message{From: parse(user), Chat: chat, Thread: thread, Text: text, ReplyTo: int(parse(message))})
	return true
}

// EnterCode types the text as a reply: Telegram has no dialog.
func (s *Server) EnterCode(user, conversation, message, text string) error {
	s.ReplyTo(user, conversation, message, text)
	return nil
}

// Fill implements fake.Filler: the bot asks, and the person replies to that.
func (s *Server) Fill(user, conversation, message string, button fake.Button, text string) error {
	chat, _ := place(conversation)
	before := len(s.AskedToReply(user, chat))
	if err := s.Tap(user, conversation, message, button); err != nil {
		return err
	}
	for range 500 {
		if asked := s.AskedToReply(user, chat); len(asked) > before {
			s.ReplyTo(user, conversation, strconv.Itoa(asked[len(asked)-1].ID), text)
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

func (s *Server) say(m *Message) {
	m.Date = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.find(m.Chat, m.ReplyTo)
	if to == nil {
		m.ReplyTo = 0
	}
	s.post(m)
	chat := s.chats[m.Chat]
	if chat == nil {
		return
	}
	if chat.Privacy && chat.ID < 0 && !strings.HasPrefix(m.Text, "/") && (to == nil || to.From != BotID) {
		return
	}
	s.deliver("message", s.messageJSON(m, true))
}

// deliver queues an update for the bot; s.mu is held.
func (s *Server) deliver(kind string, payload map[string]any) {
	if s.allowed != nil && !slices.Contains(s.allowed, kind) {
		return
	}
	s.nextUpdate++
	s.queue(s.nextUpdate, map[string]any{"update_id": s.nextUpdate, kind: payload})
}

func (s *Server) queue(id int64, u any) {
	raw, err := json.Marshal(u)
	if err != nil {
		panic("telegramtest: " + err.Error())
	}
	s.updates = append(s.updates, update{id, raw})
	s.notify()
}

// Inject queues any update. It gets the next id, unless it has one.
func (s *Server) Inject(u map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := u["update_id"].(int64)
	if !ok {
		s.nextUpdate++
		id = s.nextUpdate
		u = maps.Clone(u)
		u["update_id"] = id
	}
	s.queue(id, u)
	return id
}

// Payload is the message that user would send, as the bot would get it, for a
// test to change and inject.
func (s *Server) Payload(user, chat int64, text string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{From: user, Chat: chat, Text: text, Date: time.Now()}
	s.post(m)
	return s.messageJSON(m, true)
}

// Copy is a message of the chat as the bot would get it.
func (s *Server) Copy(chat int64, message string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messageJSON(s.find(chat, int(parse(message))), true)
}

func (s *Server) userJSON(id int64) map[string]any {
	if id == BotID {
		return map[string]any{"id": id, "is_bot": true, "first_name": "approver", "username": BotName}
	}
	return map[string]any{"id": id, "is_bot": s.bots[id], "first_name": s.users[id]}
}

// messageJSON is a message as the Bot API writes it. The message that it
// replies to is in it, but not the one that that replies to.
func (s *Server) messageJSON(m *Message, withReply bool) map[string]any {
	chat := map[string]any{"id": m.Chat, "type": Chat{ID: m.Chat}.kind()}
	out := map[string]any{"message_id": m.ID, "date": m.Date.Unix(), "chat": chat, "from": s.userJSON(m.From)}
	text, entities := "text", "entities"
	if m.File != "" {
		text, entities = "caption", "caption_entities"
		out["document"] = map[string]any{"file_id": "f" + strconv.Itoa(m.ID), "file_unique_id": "u", "file_name": m.FileName,
			"file_size": len(m.File)}
	}
	out[text] = m.Text
	if len(m.Entities) > 0 {
		out[entities] = m.Entities
	}
	if m.Thread != 0 {
		out["message_thread_id"], out["is_topic_message"] = m.Thread, true
	}
	if len(m.Buttons) > 0 {
		rows := make([][]map[string]any, len(m.Buttons))
		for i, row := range m.Buttons {
			for _, b := range row {
				shown := map[string]any{"text": b.Text, "callback_data": b.Data}
				if b.Copy != "" {
					shown = map[string]any{"text": b.Text, "copy_text": map[string]any{"text": b.Copy}}
				}
				rows[i] = append(rows[i], shown)
			}
		}
		out["reply_markup"] = map[string]any{"inline_keyboard": rows}
	}
	if m.Edits > 0 {
		out["edit_date"] = time.Now().Unix()
	}
	if m.Aside > 0 {
		out["message_id"], out["ephemeral_message_id"] = 0, m.Aside
	}
	if m.Protected {
		out["has_protected_content"] = true
	}
	if to := s.find(m.Chat, m.ReplyTo); to != nil && withReply {
		out["reply_to_message"] = s.messageJSON(to, false)
	}
	return out
}

// place reads a conversation: a chat, or a chat and a topic.
func place(conversation string) (chat int64, thread int) {
	id, topic, _ := strings.Cut(conversation, "/")
	return parse(id), int(parse(topic))
}

// parse reads an id. An id that is none is 0, which nobody and nothing has.
func parse(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
