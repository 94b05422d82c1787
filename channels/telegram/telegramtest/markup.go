package telegramtest

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

const maxPlaceholder = 64

// A ForceReply opens the field for a reply to its message on the clients of its people.
type ForceReply struct {
	Placeholder string
	// Selective limits it to the people whom the message names and the sender of the message that it
	// replies to.
	Selective bool
}

// attachMarkup reads the inline keyboard, or the wish for a reply, which only a new message can have.
func (m *Message) attachMarkup(p params, fresh bool) error {
	m.Buttons = nil
	raw := p.Get("reply_markup")
	if raw == "" {
		return nil
	}
	var markup struct {
		Inline      [][]inlineButton `json:"inline_keyboard"`
		Force       bool             `json:"force_reply"`
		Placeholder string           `json:"input_field_placeholder"`
		Selective   bool             `json:"selective"`
	}
	if err := json.Unmarshal([]byte(raw), &markup); err != nil || raw == "null" {
		return bad("object expected as reply markup")
	}
	switch {
	case markup.Force && !fresh:
		return bad("inline keyboard expected")
	case utf8.RuneCountInString(markup.Placeholder) > maxPlaceholder:
		return bad("REPLY_MARKUP_PLACEHOLDER_INVALID")
	case markup.Force:
		m.Force = &ForceReply{markup.Placeholder, markup.Selective}
		return nil
	}
	for _, row := range markup.Inline {
		var buttons []Button
		for _, b := range row {
			button, err := b.read()
			if err != nil {
				return err
			}
			buttons = append(buttons, button)
		}
		m.Buttons = append(m.Buttons, buttons)
	}
	return nil
}

type inlineButton struct {
	Text     string `json:"text"`
	URL      string `json:"url"`
	Data     string `json:"callback_data"`
	CopyText *struct {
		Text string `json:"text"`
	} `json:"copy_text"`
}

func (b inlineButton) read() (Button, error) {
	copied := ""
	if b.CopyText != nil {
		copied = b.CopyText.Text
	}
	switch {
	case b.Text == "":
		return Button{}, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	case b.URL == "" && b.Data == "" && b.CopyText == nil:
		return Button{}, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	case len(b.Data) > maxData:
		return Button{}, bad("BUTTON_DATA_INVALID")
	case b.CopyText != nil && (copied == "" || units(copied) > maxCopy):
		return Button{}, bad("COPY_TEXT_INVALID")
	case b.Data != "": // the first that is there counts
		copied = ""
	}
	return Button{b.Text, b.Data, copied}, nil
}

// AskedToReply returns the messages of a chat that open a reply on the client of user, oldest first.
func (s *Server) AskedToReply(user string, chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.messages[chat] {
		if m.Force == nil || m.Deleted {
			continue
		}
		to := s.find(m.Chat, m.ReplyTo)
		named := slices.ContainsFunc(m.Entities, func(e Entity) bool {
			return e.Type == "text_mention" && e.User.ID == parse(user)
		})
		if !m.Force.Selective || named || to != nil && to.From == parse(user) {
			out = append(out, *m)
		}
	}
	return out
}
