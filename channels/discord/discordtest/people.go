package discordtest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"approver.example/channels/channeltest/fake"
)

var _ fake.Platform = (*Server)(nil)

// labels are how people know the buttons of a card.
var labels = []struct {
	start  string
	button fake.Button
}{
	{"approve 15 min", fake.QuarterButton},
	{"approve session", fake.SessionButton},
	{"approve", fake.ApproveButton},
	{"deny, say why", fake.WhyButton},
	{"deny", fake.DenyButton},
	{"not mine", fake.DisownButton},
	{"more time", fake.TimeButton},
	{"enter code", fake.CodeButton},
	{"edit", fake.EditButton},
	{"details", fake.DetailsButton},
}

func buttonOf(label string) fake.Button {
	icon := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.TrimLeftFunc(label, icon)
	for _, l := range labels {
		if strings.HasPrefix(strings.ToLower(words), l.start) {
			return l.button
		}
	}
	return fake.ChoiceLabeled(label)
}

// noMentions is an empty list that is not null in JSON.
var noMentions = []*user{}

// Cards returns the bot's messages in a channel, replies to people left out.
func (s *Server) Cards(conversation string) []fake.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[conversation]
	if c == nil {
		return nil
	}
	var out []fake.Shown
	for _, id := range c.order {
		m := s.messages[id]
		if m == nil || m.Author.ID != s.bot || m.Reference != nil {
			continue
		}
		shown := fake.Shown{Message: m.ID, Push: plainText(m.Content, s), Text: visible(m, s)}
		for _, row := range m.Components {
			for _, b := range row.Components {
				shown.Buttons, shown.Labels = append(shown.Buttons, buttonOf(b.Label)), append(shown.Labels, b.Label)
			}
		}
		for _, f := range m.Attachments {
			shown.Files = append(shown.Files, string(s.files[strings.TrimPrefix(f.URL, "http://"+s.Addr)]))
		}
		out = append(out, shown)
	}
	return out
}

// RepliesTo returns what the bot has written as replies to a message.
func (s *Server) RepliesTo(message string) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		for _, id := range c.order {
			if m := s.messages[id]; m != nil && m.Author.ID == s.bot && m.Reference != nil && m.Reference.MessageID == message {
				texts = append(texts, visible(m, s))
			}
		}
	}
	return texts
}

var errNoButton = errors.New("discordtest: the message has no such button")

// Tap presses a button of a message as user.
func (s *Server) Tap(user, conversation, message string, button fake.Button) error {
	_, err := s.tap(user, conversation, message, button)
	return err
}

func (s *Server) tap(user, conversation, message string, button fake.Button) (*interaction, error) {
	if !s.reached() {
		return nil, errors.New("discordtest: the application did not respond")
	}
	return s.press(user, conversation, message, button)
}

// TapUnheard is Tap whether or not the bot is connected.
func (s *Server) TapUnheard(user, conversation, message string, button fake.Button) error {
	_, err := s.press(user, conversation, message, button)
	return err
}

func (s *Server) press(user, conversation, message string, button fake.Button) (*interaction, error) {
	s.mu.Lock()
	c, m, u := s.channels[conversation], s.messages[message], s.users[user]
	if c == nil || m == nil || u == nil || m.ChannelID != conversation {
		s.mu.Unlock()
		return nil, fmt.Errorf("discordtest: %s sees no message %s in %s", user, message, conversation)
	}
	for _, row := range m.Components {
		for _, b := range row.Components {
			if buttonOf(b.Label) == button {
				i, event := s.begin(kindComponent, user, c, m, map[string]any{"custom_id": b.CustomID, "component_type": 2})
				s.mu.Unlock()
				s.dispatch("INTERACTION_CREATE", func(*session) any { return event })
				return i, nil
			}
		}
	}
	s.mu.Unlock()
	return nil, fmt.Errorf("%w: message %s", errNoButton, message)
}

// Forge returns false: Discord itself checks that a pressed button is on the
// message, so a modified client has nothing to forge. See [Server.SendPress]
// for what only Discord could send.
func (s *Server) Forge(string, string, string, string, fake.Button) bool { return false }

// CustomID is the button data of the bot's cards for a request, a UUID, and an
// action letter.
func CustomID(request, action string) string {
	raw, _ := hex.DecodeString(strings.ReplaceAll(request, "-", ""))
	return "a1:" + base64.RawURLEncoding.EncodeToString(raw) + ":" + action
}

// Type writes a message as user. A line that starts with a registered command runs the command, as
// Discord's own client does: the rest of the line is its first option.
func (s *Server) Type(user, conversation, text string) {
	if !s.reached() {
		return
	}
	verb, rest, _ := strings.Cut(text, " ")
	if strings.HasPrefix(verb, "/") && s.Command(user, conversation, verb[1:], strings.TrimSpace(rest)) {
		return
	}
	s.say(user, conversation, text, func(*message) {})
}

// say writes a message, lets change it, and sends it to the bot.
func (s *Server) say(user, conversation, text string, change func(m *message)) bool {
	s.mu.Lock()
	m := s.write(user, conversation, text)
	if m == nil {
		s.mu.Unlock()
		return false
	}
	change(m)
	out := m.copy()
	s.mu.Unlock()
	s.dispatchMessage(out)
	return true
}

// write puts a message of user into a channel; nil if there is no such user or
// channel. The caller holds mu.
func (s *Server) write(user, conversation, text string) *message {
	c, u := s.channels[conversation], s.users[user]
	if c == nil || u == nil {
		return nil
	}
	m := &message{
		ID: s.id(), ChannelID: c.ID, GuildID: c.GuildID, Author: u, Content: text, Timestamp: time.Now(),
		Embeds: []embed{}, Components: []component{}, Attachments: []file{}, Mentions: noMentions,
	}
	if c.GuildID != "" {
		m.Member = map[string]any{"roles": []string{}}
	}
	s.messages[m.ID] = m
	c.order = append(c.order, m.ID)
	return m
}

// ReplyTo writes a message as the reply to another, with the mention switched
// off. It returns false, and sends nothing, if the bot would not be shown the
// text: then the channel has no such answer.
func (s *Server) ReplyTo(user, conversation, message, text string) bool {
	if !s.reached() {
		return false
	}
	s.mu.Lock()
	readable := s.channels[conversation] != nil && s.channels[conversation].Type == 1
	for g := range s.sessions {
		readable = readable || g.ready && g.intents&intentMessageContent != 0
	}
	s.mu.Unlock()
	return readable && s.replyTo(user, conversation, message, text, false)
}

// ReplyUnseen is ReplyTo whether or not the bot is shown the text. It is always shown that there is a reply.
func (s *Server) ReplyUnseen(user, conversation, message, text string) bool {
	return s.reached() && s.replyTo(user, conversation, message, text, false)
}

// ReplyMentioning writes a message as the reply to another and mentions its
// author, which is what Discord's client does unless it is switched off.
func (s *Server) ReplyMentioning(user, conversation, message, text string) bool {
	return s.reached() && s.replyTo(user, conversation, message, text, true)
}

func (s *Server) replyTo(who, conversation, to, text string, mention bool) bool {
	s.mu.Lock()
	target := s.messages[to]
	s.mu.Unlock()
	if target == nil || target.ChannelID != conversation {
		return false
	}
	return s.say(who, conversation, text, func(m *message) {
		m.Type = 19
		m.Reference = &reference{MessageID: to, ChannelID: conversation}
		m.Referenced = target.copy()
		if mention {
			m.Mentions = []*user{target.Author}
		}
	})
}

// EnterCode opens the card's dialog and submits text. A card without one, and
// a bot that opens none, leaves the command.
func (s *Server) EnterCode(user, conversation, message, text string) error {
	d, err := s.Open(user, conversation, message, fake.CodeButton)
	if err != nil {
		if errors.Is(err, errNoButton) && s.Command(user, conversation, "approve", text) {
			return nil
		}
		return err
	}
	return d.Submit(text)
}

// Fill implements fake.Filler.
func (s *Server) Fill(user, conversation, message string, button fake.Button, text string) error {
	d, err := s.Open(user, conversation, message, button)
	if errors.Is(err, errNoDialog) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.Submit(text)
}

// SendPress sends the event of a pressed button with data of the test's choice,
// changed by change. Only Discord itself could send such an event: it is here to
// test what the channel checks all the same. It sends it times times.
func (s *Server) SendPress(user, conversation, message, customID string, times int, change func(event map[string]any)) {
	s.reached()
	s.mu.Lock()
	_, event := s.begin(kindComponent, user, s.channels[conversation], s.messages[message],
		map[string]any{"custom_id": customID, "component_type": 2})
	s.mu.Unlock()
	s.send("INTERACTION_CREATE", asMap(event), times, change)
}

// SendMessage sends the event of a message that the bot is shown in full,
// changed by change, times times.
func (s *Server) SendMessage(user, conversation, text string, times int, change func(event map[string]any)) {
	s.reached()
	s.mu.Lock()
	m := s.write(user, conversation, text)
	event := asMap(m)
	s.mu.Unlock()
	s.send("MESSAGE_CREATE", event, times, change)
}

// EditMessage writes a message, and sends the event of its change in full, changed by change.
func (s *Server) EditMessage(user, conversation, text string, change func(event map[string]any)) {
	s.reached()
	s.mu.Lock()
	m := s.write(user, conversation, text)
	event := asMap(m)
	s.mu.Unlock()
	s.send("MESSAGE_UPDATE", event, 1, change)
}

// send sends an event, changed by change, times times.
func (s *Server) send(kind string, event map[string]any, times int, change func(event map[string]any)) {
	if change != nil {
		change(event)
	}
	for range times {
		s.dispatch(kind, func(*session) any { return event })
	}
}

// SendEvent sends any event to the bot.
func (s *Server) SendEvent(kind string, data any) {
	s.reached()
	s.dispatch(kind, func(*session) any { return data })
}

func asMap(v any) map[string]any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("discordtest: " + err.Error())
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		panic("discordtest: " + err.Error())
	}
	return out
}
