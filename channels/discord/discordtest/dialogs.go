package discordtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example/channels/channeltest/fake"
)

// A modal is a dialog as the bot describes it.
type modal struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []component `json:"components"`
}

// Types of components of a dialog.
const (
	rowType   = 1
	inputType = 4
	textType  = 10
)

// checkModal keeps the limits of a dialog, which the person opens.
func checkModal(i *interaction, raw json.RawMessage) (*modal, error) {
	var m modal
	if json.Unmarshal(raw, &m) != nil || i.kind == kindDialog || len(m.Components) < 1 || len(m.Components) > 5 {
		return nil, invalid("data", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if err := cmp.Or(length("data.title", m.Title, 1, 45), length("data.custom_id", m.CustomID, 1, 100)); err != nil {
		return nil, err
	}
	fields := map[string]bool{}
	for _, c := range m.Components {
		switch {
		case c.Type == textType:
			if err := length("content", c.Content, 1, 4000); err != nil {
				return nil, err
			}
		case c.Type != rowType || len(c.Components) != 1 || c.Components[0].Type != inputType:
			return nil, invalid("data.components", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (4,).")
		default:
			in := c.Components[0]
			if err := checkInput(in); err != nil {
				return nil, err
			}
			if fields[in.CustomID] {
				return nil, invalid("custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
			}
			fields[in.CustomID] = true
		}
	}
	if len(fields) == 0 {
		return nil, invalid("data.components", "BASE_TYPE_REQUIRED", "This field is required")
	}
	return &m, nil
}

func checkInput(in component) error {
	if err := cmp.Or(length("label", in.Label, 1, 45), length("placeholder", in.Placeholder, 0, 100),
		length("custom_id", in.CustomID, 1, 100), length("value", in.Value, 0, 4000)); err != nil {
		return err
	}
	switch {
	case in.Style < 1 || in.Style > 2:
		return invalid("style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
	case in.MinLength < 0 || in.MinLength > 4000 || in.MaxLength < 0 || in.MaxLength > 4000 ||
		in.MaxLength > 0 && in.MinLength > in.MaxLength:
		return invalid("max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and 4000.")
	}
	return nil
}

// A Dialog is a dialog that is open on a person's screen.
type Dialog struct {
	Title string
	Texts []string // the texts beside the field, as a person reads them
	// Label and Placeholder are those of the field; Long says that it takes several lines.
	Label, Placeholder string
	Long               bool
	Value              string // what stands in the field before the person types
	// Least and Most are how many characters it takes.
	Least, Most int

	s                           *Server
	user, conversation, message string
	customID, field             string
}

// errNoDialog is the error of a button that opened no dialog.
var errNoDialog = errors.New("discordtest: no dialog opened")

// Open presses a button that opens a dialog, and waits for it. Discord waits as long.
func (s *Server) Open(user, conversation, message string, button fake.Button) (*Dialog, error) {
	i, err := s.tap(user, conversation, message, button)
	if err != nil {
		return nil, err
	}
	var m *modal
	if !s.Await(&s.mu, s.AckWithin, func() bool { m = i.modal; return i.acked }) || m == nil {
		return nil, errNoDialog
	}
	d := &Dialog{Title: m.Title, s: s, user: user, conversation: conversation, message: message, customID: m.CustomID}
	for _, c := range m.Components {
		if c.Type == textType {
			d.Texts = append(d.Texts, plainText(c.Content, s))
			continue
		}
		in := c.Components[0]
		d.Label, d.Placeholder, d.Long, d.field = in.Label, in.Placeholder, in.Style == 2, in.CustomID
		d.Value = in.Value
		d.Least, d.Most = in.MinLength, cmp.Or(in.MaxLength, 4000)
		if in.Required == nil || *in.Required {
			d.Least = max(d.Least, 1)
		}
	}
	return d, nil
}

// Dialogs returns how many dialogs have opened for user.
func (s *Server) Dialogs(user string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.interactions {
		if i.user == user && i.modal != nil {
			n++
		}
	}
	return n
}

// Submit sends the dialog with a text in its field. The client does not send what the field does not take.
func (d *Dialog) Submit(text string) error {
	if n := utf8.RuneCountInString(text); n < d.Least || n > d.Most {
		return fmt.Errorf("discordtest: the dialog takes %d to %d characters", d.Least, d.Most)
	}
	sent := []component{}
	for range d.Texts {
		sent = append(sent, component{Type: textType})
	}
	s := d.s
	s.mu.Lock()
	_, event := s.begin(kindDialog, d.user, s.channels[d.conversation], s.messages[d.message], map[string]any{
		"custom_id": d.customID,
		"components": append(sent, component{Type: rowType, Components: []component{
			{Type: inputType, CustomID: d.field, Value: text},
		}}),
	})
	s.mu.Unlock()
	s.dispatch("INTERACTION_CREATE", func(*session) any { return event })
	return nil
}

// String is the dialog as a person reads it.
func (d *Dialog) String() string {
	return strings.Join(append(append([]string{d.Title}, d.Texts...), d.Label, d.Placeholder), "\n")
}
