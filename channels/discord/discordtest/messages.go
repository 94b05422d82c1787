package discordtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// A message is one message as the API shows it.
type message struct {
	ID          string         `json:"id"`
	Type        int            `json:"type"`
	ChannelID   string         `json:"channel_id"`
	GuildID     string         `json:"guild_id,omitempty"`
	Author      *user          `json:"author"`
	Content     string         `json:"content"`
	Timestamp   time.Time      `json:"timestamp"`
	Edited      *time.Time     `json:"edited_timestamp"`
	Embeds      []embed        `json:"embeds"`
	Components  []component    `json:"components"`
	Attachments []file         `json:"attachments"`
	Mentions    []*user        `json:"mentions"`
	Flags       int            `json:"flags"`
	Nonce       string         `json:"nonce,omitempty"`
	Reference   *reference     `json:"message_reference,omitempty"`
	Referenced  *message       `json:"referenced_message,omitempty"`
	Member      map[string]any `json:"member,omitempty"`
}

type reference struct {
	Type      int    `json:"type"`
	MessageID string `json:"message_id"`
	ChannelID string `json:"channel_id,omitempty"`
}

type file struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Size     int    `json:"size"`
	URL      string `json:"url"`
}

type embed struct {
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Color       int     `json:"color,omitempty"`
	Fields      []field `json:"fields,omitempty"`
	Footer      *struct {
		Text string `json:"text"`
	} `json:"footer,omitempty"`
}

type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type component struct {
	Type        int         `json:"type"`
	CustomID    string      `json:"custom_id,omitempty"`
	Label       string      `json:"label,omitempty"`
	Style       int         `json:"style,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	MinLength   int         `json:"min_length,omitempty"`
	MaxLength   int         `json:"max_length,omitempty"`
	Required    *bool       `json:"required,omitempty"`
	Value       string      `json:"value,omitempty"`
	Content     string      `json:"content,omitempty"`
	Components  []component `json:"components,omitempty"`
}

// A draft is the body that posts or edits a message. Nil leaves a part as it is.
type draft struct {
	Content      *string      `json:"content"`
	Embeds       *[]embed     `json:"embeds"`
	Components   *[]component `json:"components"`
	Mentions     *allowed     `json:"allowed_mentions"`
	Flags        *int         `json:"flags"`
	Nonce        string       `json:"nonce"`
	EnforceNonce bool         `json:"enforce_nonce"`
	Reference    *reference   `json:"message_reference"`
}

type allowed struct {
	Parse       *[]string `json:"parse"`
	RepliedUser bool      `json:"replied_user"`
}

const flagSuppressEmbeds, flagEphemeral = 1 << 2, 1 << 6

// invalid is Discord's answer to a body that breaks a limit.
func invalid(where, code, message string) *apiError {
	return &apiError{status: 400, Code: 50035, Message: "Invalid Form Body", Errors: map[string]any{
		where: map[string]any{"_errors": []map[string]any{{"code": code, "message": message}}},
	}}
}

func length(where, s string, least, most int) error {
	if n := utf8.RuneCountInString(s); n < least || n > most {
		return invalid(where, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	}
	return nil
}

// get is what p points to; nothing where it is nil.
func get[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// check keeps the limits of a message.
func (d *draft) check() error {
	return cmp.Or(length("content", get(d.Content), 0, 2000), length("nonce", d.Nonce, 0, 25),
		checkEmbeds(get(d.Embeds)), checkComponents(get(d.Components)))
}

func checkEmbeds(embeds []embed) error {
	if len(embeds) > 10 {
		return invalid("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	total := 0
	count := func(s string) { total += utf8.RuneCountInString(s) }
	for _, e := range embeds {
		count(e.Title)
		count(e.Description)
		if err := cmp.Or(length("embeds.title", e.Title, 0, 256),
			length("embeds.description", e.Description, 0, 4096)); err != nil {
			return err
		}
		if len(e.Fields) > 25 {
			return invalid("embeds.fields", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		}
		for _, f := range e.Fields {
			count(f.Name)
			count(f.Value)
			if err := cmp.Or(length("embeds.fields.name", strings.TrimSpace(f.Name), 1, 256),
				length("embeds.fields.value", strings.TrimSpace(f.Value), 1, 1024)); err != nil {
				return err
			}
		}
		if e.Footer != nil {
			count(e.Footer.Text)
			if err := length("embeds.footer.text", e.Footer.Text, 0, 2048); err != nil {
				return err
			}
		}
	}
	if total > 6000 {
		return invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
	return nil
}

func checkComponents(rows []component) error {
	if len(rows) > 5 {
		return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 0 and 5 in length.")
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if row.Type != 1 || len(row.Components) < 1 || len(row.Components) > 5 {
			return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
		}
		for _, c := range row.Components {
			if c.Type != 2 || c.Style < 1 || c.Style > 4 {
				return invalid("components", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (2, 3, 5, 6, 7, 8).")
			}
			if err := cmp.Or(length("components.label", c.Label, 1, 80),
				length("components.custom_id", c.CustomID, 1, 100)); err != nil {
				return err
			}
			if seen[c.CustomID] {
				return invalid("components.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
			}
			seen[c.CustomID] = true
		}
	}
	return nil
}

// readDraft reads the body of a request, and keeps its limits.
func readDraft(r *http.Request) (*draft, []upload, error) {
	d := &draft{}
	files, err := readBody(r, d)
	if err == nil {
		err = d.check()
	}
	return d, files, err
}

// A Part is a part of a message that Discord may refuse.
type Part string

// The parts.
const (
	Content    Part = "content"
	Embeds     Part = "embeds"
	Components Part = "components"
)

// Refuse makes Discord refuse every message of the bot that has one of these parts, as an invalid form body. Without
// a part it refuses none any more.
func (s *Server) Refuse(parts ...Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = parts
}

// refusal is the answer to a draft with a part that is refused; nil if there is none. The caller holds mu.
func (s *Server) refusal(d *draft) error {
	has := map[Part]bool{Content: get(d.Content) != "", Embeds: len(get(d.Embeds)) > 0,
		Components: len(get(d.Components)) > 0}
	for _, part := range s.refused {
		if has[part] {
			return invalid(string(part), "BASE_TYPE_CHOICES", "The value is not one that is allowed here.")
		}
	}
	return nil
}

// empty reports whether nothing would be seen of a new message.
func (d *draft) empty(files []upload) bool {
	return strings.TrimSpace(get(d.Content)) == "" && len(get(d.Embeds)) == 0 && len(files) == 0
}

// apply writes a draft into a message. The caller holds mu.
func (s *Server) apply(m *message, d *draft, files []upload) {
	if d.Content != nil {
		m.Content = *d.Content
	}
	if d.Embeds != nil && !s.NoEmbeds {
		m.Embeds = *d.Embeds
	}
	if d.Components != nil {
		m.Components = *d.Components
	}
	if d.Flags != nil {
		m.Flags = m.Flags&^flagSuppressEmbeds | *d.Flags&flagSuppressEmbeds
	}
	if s.LosesFiles {
		files = nil
	}
	for _, f := range files {
		id := s.id()
		path := "/attachments/" + m.ChannelID + "/" + id + "/" + f.name
		s.files[path] = f.data
		m.Attachments = append(m.Attachments,
			file{ID: id, Filename: f.name, Size: len(f.data), URL: "http://" + s.Addr + path})
	}
	// Without allowed_mentions Discord notifies everybody whom the text names.
	if d.Mentions == nil || d.Mentions.Parse == nil || len(*d.Mentions.Parse) > 0 {
		for _, word := range []string{"@everyone", "@here", "<@"} {
			if strings.Contains(m.Content, word) {
				s.pings = append(s.pings, word)
			}
		}
		if m.Reference != nil && (d.Mentions == nil || d.Mentions.RepliedUser) {
			s.pings = append(s.pings, "the author of "+m.Reference.MessageID)
		}
	}
}

// post adds a message of the bot. The caller holds mu.
func (s *Server) post(c *channel, d *draft, files []upload) *message {
	m := &message{
		ID: s.id(), ChannelID: c.ID, Author: s.users[s.bot], Timestamp: time.Now(), Embeds: []embed{},
		Components: []component{}, Attachments: []file{}, Mentions: []*user{}, Nonce: d.Nonce, Reference: d.Reference,
	}
	if d.Reference != nil {
		m.Type = 19
	}
	s.apply(m, d, files)
	s.messages[m.ID] = m
	c.order = append(c.order, m.ID)
	return m
}

func (s *Server) postMessage(r *http.Request) (any, error) {
	d, files, err := readDraft(r)
	if err != nil {
		return nil, err
	}
	if d.empty(files) {
		return nil, errEmpty
	}
	if s.NoFiles && len(files) > 0 {
		return nil, errNoPermission
	}
	s.mu.Lock()
	c := s.channels[r.PathValue("channel")]
	if c == nil {
		s.mu.Unlock()
		return nil, errUnknownChannel
	}
	if err := s.refusal(d); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	key := c.ID + "\x00" + d.Nonce
	if before := s.messages[s.nonces[key]]; d.EnforceNonce && d.Nonce != "" && before != nil {
		defer s.mu.Unlock()
		return before.copy(), nil
	}
	m := s.post(c, d, files)
	if d.Nonce != "" {
		s.nonces[key] = m.ID
	}
	out := m.copy()
	s.mu.Unlock()
	s.dispatchMessage(out)
	return out, nil
}

// find returns a message of a request's path. The caller holds mu.
func (s *Server) find(r *http.Request) (*message, error) {
	if s.channels[r.PathValue("channel")] == nil {
		return nil, errUnknownChannel
	}
	m := s.messages[r.PathValue("message")]
	if m == nil || m.ChannelID != r.PathValue("channel") {
		return nil, errUnknownMessage
	}
	return m, nil
}

func (s *Server) getMessage(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.find(r)
	if err != nil {
		return nil, err
	}
	return m.copy(), nil
}

func (s *Server) patchMessage(r *http.Request) (any, error) {
	d, files, err := readDraft(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.find(r)
	switch {
	case err != nil:
		return nil, err
	case m.Author.ID != s.bot:
		return nil, errNotAuthor
	}
	if err := s.refusal(d); err != nil {
		return nil, err
	}
	s.apply(m, d, files)
	now := time.Now()
	m.Edited = &now
	return m.copy(), nil
}

func (s *Server) deleteMessage(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.find(r)
	switch {
	case err != nil:
		return nil, err
	case m.Author.ID != s.bot: // without Manage Messages
		return nil, errNoPermission
	}
	delete(s.messages, m.ID)
	return nil, nil
}

// copy is a snapshot that can be written without the lock.
func (m *message) copy() *message {
	out := *m
	if out.Flags&flagSuppressEmbeds != 0 {
		out.Embeds = []embed{} // the flag hides every embed, the bot's own too
	}
	return &out
}
