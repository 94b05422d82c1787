package discordtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// An interaction is one press, dialog or command of a person, and what became
// of it.
type interaction struct {
	id, token string
	kind      int // 2 command, 3 component, 5 dialog
	user      string
	channel   string
	message   string // of the component
	at        time.Time

	acked    bool
	deferred int // the type of a response that was announced
	modal    *modal
	original *whisper // the ephemeral response
	public   string   // the id of a response that all see
}

// InteractionToken is what the token of every interaction starts with.
const InteractionToken = "aW50ZXJhY3Rpb24"

// A whisper is a text that one person sees.
type whisper struct {
	user  string
	text  string
	files []string
}

// Kinds of interaction and of response.
const (
	kindCommand   = 2
	kindComponent = 3
	kindDialog    = 5

	respondMessage       = 4
	respondLater         = 5
	respondUpdateLater   = 6
	respondUpdateMessage = 7
	respondModal         = 9
)

// Unanswered returns how many interactions were not acknowledged in time, and
// so failed before the person's eyes.
func (s *Server) Unanswered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, i := range s.interactions {
		if !i.acked && time.Since(i.at) > s.AckWithin {
			n++
		}
	}
	return n
}

// begin makes an interaction and its event. The caller holds mu.
func (s *Server) begin(
	kind int, user string, c *channel, m *message, data map[string]any,
) (*interaction, map[string]any) {
	i := &interaction{id: s.id(), kind: kind, user: user, channel: c.ID, at: time.Now(), acked: s.AckElsewhere}
	i.token = InteractionToken + i.id
	s.interactions[i.token] = i
	event := map[string]any{
		"id": i.id, "application_id": s.app, "type": kind, "token": i.token, "version": 1,
		"channel_id": c.ID, "data": data, "app_permissions": "0", "locale": "en-US",
	}
	if c.GuildID != "" {
		event["guild_id"] = c.GuildID
		event["member"] = map[string]any{"user": s.users[user], "roles": []string{}, "permissions": "0"}
	} else {
		event["user"] = s.users[user]
	}
	if m != nil {
		i.message = m.ID
		event["message"] = m.copy()
	}
	return i, event
}

func (s *Server) callback(r *http.Request) (any, error) {
	var in response
	files, err := readBody(r, &in)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interactions[r.PathValue("token")]
	switch {
	case s.endpoint != "": // only the answer to the request counts then
		return nil, errLate
	case i == nil || i.id != r.PathValue("id"), !i.acked && time.Since(i.at) > s.AckWithin:
		return nil, errLate
	case i.acked:
		return nil, errAcked
	}
	return nil, s.respond(i, in, files)
}

// A response is the first to an interaction.
type response struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

// respond carries the first response to an interaction out. The caller holds mu.
func (s *Server) respond(i *interaction, in response, files []upload) error {
	var d draft
	if len(in.Data) > 0 && json.Unmarshal(in.Data, &d) != nil {
		return errJSON
	}
	if err := d.check(); err != nil && in.Type != respondModal {
		return err
	}
	switch in.Type {
	case respondMessage:
		if d.empty(files) {
			return errEmpty
		}
		s.show(i, &d, files)
	case respondLater:
		if get(d.Flags)&flagEphemeral != 0 {
			i.original = &whisper{user: i.user}
			s.whispers = append(s.whispers, i.original)
		}
	case respondUpdateLater, respondUpdateMessage:
		if i.message == "" {
			return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 9}.")
		}
		if in.Type == respondUpdateMessage && s.messages[i.message] != nil {
			s.apply(s.messages[i.message], &d, files)
		}
	case respondModal:
		m, err := checkModal(i, in.Data)
		if err != nil {
			return err
		}
		i.modal = m
	default:
		return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
	}
	i.acked, i.deferred = true, in.Type
	return nil
}

// show makes a response visible: to the person alone, or to all. The caller
// holds mu.
func (s *Server) show(i *interaction, d *draft, files []upload) {
	if get(d.Flags)&flagEphemeral == 0 {
		i.public = s.post(s.channels[i.channel], d, files).ID
		return
	}
	i.original = &whisper{user: i.user}
	s.whispers = append(s.whispers, i.original)
	i.original.set(s, d, files)
}

// set writes a draft into a whisper. The caller holds the server's mu.
func (w *whisper) set(s *Server, d *draft, files []upload) {
	m := &message{ChannelID: "ephemeral"}
	s.apply(m, d, files)
	w.text, w.files = visible(m, s), nil
	for _, f := range files {
		w.files = append(w.files, string(f.data))
	}
}

// webhook finds the acknowledged interaction of a webhook's path. The caller
// holds mu.
func (s *Server) webhook(r *http.Request) (*interaction, error) {
	i := s.interactions[r.PathValue("token")]
	switch {
	case r.PathValue("app") != s.app, i == nil, !i.acked:
		return nil, errUnknownWebhook
	case time.Since(i.at) > 15*time.Minute:
		return nil, &apiError{status: 401, Code: 50027, Message: "Invalid Webhook Token"}
	}
	return i, nil
}

func (s *Server) editOriginal(r *http.Request) (any, error) {
	d, files, err := readDraft(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.webhook(r)
	if err != nil {
		return nil, err
	}
	if d.empty(files) {
		return nil, errEmpty
	}
	switch {
	case i.deferred == respondModal:
		return nil, errUnknownMessage
	case i.original != nil:
		i.original.set(s, d, files)
	case i.deferred == respondUpdateLater || i.deferred == respondUpdateMessage:
		if m := s.messages[i.message]; m != nil {
			s.apply(m, d, files)
		}
	case i.public != "":
		s.apply(s.messages[i.public], d, files)
	default:
		s.show(i, d, files)
	}
	return map[string]any{"id": i.id, "channel_id": i.channel}, nil
}

func (s *Server) followUp(r *http.Request) (any, error) {
	d, files, err := readDraft(r)
	if err != nil {
		return nil, err
	}
	if d.empty(files) {
		return nil, errEmpty
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.webhook(r)
	if err != nil {
		return nil, err
	}
	first := i.original
	s.show(i, d, files)
	if first != nil {
		i.original = first
	}
	return map[string]any{"id": s.id(), "channel_id": i.channel}, nil
}

// Replies returns what the bot said in reply to a message.
func (s *Server) Replies(conversation, message string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, id := range s.channels[conversation].order {
		m := s.messages[id]
		if m != nil && m.Author.ID == s.bot && m.Reference != nil && m.Reference.MessageID == message {
			out = append(out, visible(m, s))
		}
	}
	return out
}

// Told returns what the bot told user alone: ephemeral texts with their files,
// and replies to the user's own messages.
func (s *Server) Told(user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, w := range s.whispers {
		if w.user == user && w.text+strings.Join(w.files, "") != "" {
			out = append(out, strings.Join(append([]string{w.text}, w.files...), "\n"))
		}
	}
	for _, c := range s.channels {
		for _, id := range c.order {
			m := s.messages[id]
			if m == nil || m.Author.ID != s.bot || m.Reference == nil {
				continue
			}
			if to := s.messages[m.Reference.MessageID]; to != nil && to.Author.ID == user {
				out = append(out, visible(m, s))
			}
		}
	}
	return out
}
