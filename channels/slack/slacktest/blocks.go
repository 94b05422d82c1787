package slacktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example/channels/channeltest/fake"
)

// A BlockError is how the service refuses blocks.
type BlockError struct {
	Code     string // invalid_blocks or msg_blocks_too_long
	Messages []string
}

// Error returns code and messages.
func (e *BlockError) Error() string { return e.Code + ": " + strings.Join(e.Messages, "; ") }

const (
	mostBlocks = 50
	mostInView = 100
	mostJSON   = 13200 // characters of a message's blocks, measured by others
)

// CheckBlocks applies Slack's limits to the blocks of a message, or of a view.
func CheckBlocks(raw []byte, view bool) *BlockError {
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		return &BlockError{Code: "invalid_blocks_format", Messages: []string{"[ERROR] " + err.Error()}}
	}
	c := checker{ids: map[string]bool{}, view: view}
	limit := mostBlocks
	if view {
		limit = mostInView
	}
	if len(list) > limit {
		c.bad("/blocks", "no more than %d items allowed", limit)
	}
	for i, b := range list {
		c.block(fmt.Sprintf("/blocks/%d", i), b)
	}
	if len(c.errs) > 0 {
		return &BlockError{Code: "invalid_blocks", Messages: c.errs}
	}
	if n := size(list); n > mostJSON && !view {
		return &BlockError{Code: "msg_blocks_too_long", Messages: []string{fmt.Sprintf("[ERROR] %d characters", n)}}
	}
	return nil
}

// unwanted refuses blocks of a type that the test wants to be refused; the lock is held.
func (s *Server) unwanted(raw []byte) error {
	var list []struct{ Type string }
	_ = json.Unmarshal(raw, &list)
	for i, b := range list {
		if slices.Contains(s.refused, b.Type) {
			return &BlockError{Code: s.refusedAs, Messages: []string{fmt.Sprintf(
				"[ERROR] unsupported type: %s [json-pointer:/blocks/%d/type]", b.Type, i)}}
		}
	}
	return nil
}

func size(v any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return utf8.RuneCount(b.Bytes())
}

type checker struct {
	ids  map[string]bool
	view bool
	errs []string
}

func (c *checker) bad(at, format string, args ...any) {
	c.errs = append(c.errs, "[ERROR] "+fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

func (c *checker) length(at, s string, least, most int) {
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		c.bad(at, "must be more than %d characters", least-1)
	case n > most:
		c.bad(at, "must be less than %d characters", most+1)
	}
}

// text checks a text object.
func (c *checker) text(at string, v any, most int, kinds ...string) {
	o, _ := v.(map[string]any)
	kind, _ := o["type"].(string)
	s, ok := o["text"].(string)
	if !ok || !slices.Contains(kinds, kind) {
		c.bad(at, "must be a text object of %v", kinds)
		return
	}
	if kind == "mrkdwn" && o["emoji"] != nil {
		c.bad(at, "emoji is not allowed for mrkdwn")
	}
	c.length(at+"/text", s, 1, most)
}

func (c *checker) block(at string, b map[string]any) {
	if id, ok := b["block_id"].(string); ok {
		c.length(at+"/block_id", id, 1, 255)
		if c.ids[id] {
			c.bad(at+"/block_id", "block_id must be unique")
		}
		c.ids[id] = true
	}
	items, _ := b["elements"].([]any)
	switch b["type"] {
	case "section":
		c.section(at, b)
	case "rich_text":
		c.count(at, len(items), 1, 1000)
		for i, e := range items {
			c.rich(fmt.Sprintf("%s/elements/%d", at, i), e)
		}
	case "context":
		c.count(at, len(items), 1, 10)
		for i, e := range items {
			c.text(fmt.Sprintf("%s/elements/%d", at, i), e, 3000, "plain_text", "mrkdwn")
		}
	case "actions":
		c.count(at, len(items), 1, 25)
		c.actions(at, items)
	case "input":
		c.input(at, b)
	case "divider":
	case "header":
		c.text(at+"/text", b["text"], 150, "plain_text")
	default:
		c.bad(at+"/type", "unsupported type: %v", b["type"])
	}
}

func (c *checker) count(at string, n, least, most int) {
	if n < least || n > most {
		c.bad(at+"/elements", "%d to %d items allowed", least, most)
	}
}

func (c *checker) section(at string, b map[string]any) {
	fields, _ := b["fields"].([]any)
	if b["text"] == nil && len(fields) == 0 {
		c.bad(at, "missing required field: text")
	}
	if b["text"] != nil {
		c.text(at+"/text", b["text"], 3000, "plain_text", "mrkdwn")
	}
	if len(fields) > 10 {
		c.bad(at+"/fields", "no more than 10 items allowed")
	}
	for i, f := range fields {
		c.text(fmt.Sprintf("%s/fields/%d", at, i), f, 2000, "plain_text", "mrkdwn")
	}
}

func (c *checker) rich(at string, v any) {
	o, _ := v.(map[string]any)
	switch o["type"] {
	case "rich_text_section", "rich_text_preformatted", "rich_text_quote":
	default:
		c.bad(at+"/type", "unsupported type: %v", o["type"])
		return
	}
	parts, _ := o["elements"].([]any)
	c.count(at, len(parts), 1, 1000)
	for i, p := range parts {
		e, _ := p.(map[string]any)
		if s, ok := e["text"].(string); e["type"] != "text" || !ok || s == "" {
			c.bad(fmt.Sprintf("%s/elements/%d", at, i), "must be a text of at least one character")
		}
	}
}

func (c *checker) actions(at string, items []any) {
	ids := map[string]bool{}
	for i, e := range items {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		o, _ := e.(map[string]any)
		if o["type"] != "button" {
			c.bad(at+"/type", "unsupported type: %v", o["type"])
			continue
		}
		c.text(at+"/text", o["text"], 75, "plain_text")
		id, _ := o["action_id"].(string)
		c.length(at+"/action_id", id, 1, 255)
		if ids[id] {
			c.bad(at+"/action_id", "action_id must be unique")
		}
		ids[id] = true
		value, _ := o["value"].(string)
		c.length(at+"/value", value, 0, 2000)
		if style, ok := o["style"]; ok && style != "primary" && style != "danger" {
			c.bad(at+"/style", "must be one of primary, danger")
		}
	}
}

func (c *checker) input(at string, b map[string]any) {
	c.text(at+"/label", b["label"], 2000, "plain_text")
	if b["hint"] != nil {
		c.text(at+"/hint", b["hint"], 2000, "plain_text")
	}
	o, _ := b["element"].(map[string]any)
	if id, ok := o["action_id"].(string); ok {
		c.length(at+"/element/action_id", id, 1, 255)
	}
	if most, ok := o["max_length"].(float64); ok && (most < 1 || most > 3000) {
		c.bad(at+"/element/max_length", "must be between 1 and 3000")
	}
	if o["type"] != "plain_text_input" || !c.view {
		c.bad(at+"/element", "unsupported type: %v", o["type"])
		return
	}
	if initial, ok := o["initial_value"].(string); ok {
		c.length(at+"/element/initial_value", initial, 0, 3000)
	}
	if o["placeholder"] != nil {
		c.text(at+"/element/placeholder", o["placeholder"], 150, "plain_text")
	}
}

// look returns what a person sees of blocks, and the buttons with their labels.
func look(raw json.RawMessage) (text string, buttons []fake.Button, labels []string) {
	var lines []string
	for _, o := range objects(raw) {
		switch o["type"] {
		case "button":
			label, _ := o["text"].(map[string]any)
			buttons, labels = append(buttons, buttonOf(str(o["action_id"]))), append(labels, str(label["text"]))
		case "mrkdwn":
			lines = append(lines, unescape(dates.ReplaceAllString(str(o["text"]), "$1")))
		case "plain_text", "text":
			lines = append(lines, str(o["text"]))
		}
	}
	return strings.Join(lines, "\n"), buttons, labels
}

// Read returns what the app makes of blocks: all that people read but for the buttons, the preformatted
// texts, and the texts that it parses for markup.
func Read(raw []byte) (text string, blocks, markup []string) {
	text, _, _ = look(raw)
	var list []struct {
		Elements []struct {
			Type     string
			Text     any
			Elements []struct{ Text string }
		}
	}
	_ = json.Unmarshal(raw, &list)
	for _, b := range list {
		for _, e := range b.Elements {
			switch e.Type {
			case "mrkdwn":
				markup = append(markup, str(e.Text))
			case "rich_text_preformatted":
				whole := ""
				for _, part := range e.Elements {
					whole += part.Text
				}
				blocks = append(blocks, whole)
			}
		}
	}
	return text, blocks, markup
}

// markup returns the text of blocks that Slack parses.
func markup(raw json.RawMessage) string {
	var lines []string
	for _, o := range objects(raw) {
		if o["type"] == "mrkdwn" {
			lines = append(lines, str(o["text"]))
		}
	}
	return strings.Join(lines, "\n")
}

// objects lists text objects, rich text elements and buttons in order; the text
// of a button is not listed.
func objects(raw json.RawMessage) []map[string]any {
	var list []map[string]any
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []map[string]any
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			switch v["type"] {
			case "button", "plain_text", "mrkdwn", "text":
				out = append(out, v)
			case "rich_text_section": // its parts stand on one line
				parts, _ := v["elements"].([]any)
				line := ""
				for _, p := range parts {
					e, _ := p.(map[string]any)
					line += str(e["text"])
				}
				out = append(out, map[string]any{"type": "text", "text": line})
			default:
				for _, name := range []string{"text", "label", "hint", "fields", "elements"} {
					walk(v[name])
				}
			}
		}
	}
	for _, b := range list {
		walk(b)
	}
	return out
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

var buttonIDs = map[string]fake.Button{
	"approve": fake.ApproveButton,
	"deny":    fake.DenyButton,
	"code":    fake.CodeButton,
	"details": fake.DetailsButton,
	"quarter": fake.QuarterButton, "session": fake.SessionButton, "why": fake.WhyButton, "time": fake.TimeButton,
	"disown":  fake.DisownButton,
	"edit":    fake.EditButton,
	"choice1": fake.ChoiceButton(1), "choice2": fake.ChoiceButton(2),
	"choice3": fake.ChoiceButton(3), "choice4": fake.ChoiceButton(4),
}

func buttonOf(action string) fake.Button { return buttonIDs[action] }

func actionOf(b fake.Button) string {
	for id, button := range buttonIDs {
		if button == b {
			return id
		}
	}
	return "none"
}

var (
	dates     = regexp.MustCompile(`<!date\^[^|>]*\|([^>]*)>`)
	special   = regexp.MustCompile(`<(?:!(?:channel|here|everyone|group|subteam)|@[UW]|#[CG])[^>]*>`)
	formatted = regexp.MustCompile("\\*(\\S[^*\n]*)\\*|\\b_(\\S[^_\n]*)_\\b|`([^`\n]+)`")
	bareNames = regexp.MustCompile(`@(?:channel|here|everyone|[a-z0-9._-]+)`)
)

// mentions finds who a text would alert.
func mentions(text string, bare bool) []string {
	out := special.FindAllString(text, -1)
	if bare {
		out = append(out, bareNames.FindAllString(text, -1)...)
	}
	return out
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}
