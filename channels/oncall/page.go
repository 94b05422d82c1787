package oncall

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
)

// A page is what an alert says. Its texts are those of the card, in which secrets are masked already.
// The headline is that of the card, which can be the beginning of the command. The code, the rest of the command and
// what the agent says of it stay in the chats.
type page struct {
	request  string
	headline string // one line of at most display.PushLength characters
	severity approver.Severity
	fields   []field
}

// A field is one thing that an alert says behind its headline.
type field struct{ name, text string }

// maxField bounds the text of a field, in characters: Opsgenie takes 8,000 for all fields together.
const maxField = 1000

// page is the alert of a request that waits.
func (c *Channel) page(ctx context.Context, card approver.Card) page {
	t := card.Texts
	p := page{
		request: card.Request, severity: card.Severity,
		headline: cmp.Or(card.Push, "approver: "+card.Request),
	}
	add := func(name, text string) {
		if text != "" {
			p.fields = append(p.fields, field{name, cut(text)})
		}
	}
	add("answer", c.answer(ctx, card.Request, t))
	add("why", strings.Join(card.Why, "\n"))
	add("warning", strings.Join(card.Warnings, "\n"))
	add("from", card.Context)
	if !card.Due.IsZero() {
		add("until", card.Due.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	add("request", card.Request)
	return p
}

// answer says where the request can be answered.
func (c *Channel) answer(ctx context.Context, request string, t display.Texts) string {
	var platforms []string
	if c.shown != nil {
		for _, name := range c.shown(ctx, request) {
			platforms = append(platforms, display.Platform(name))
		}
	}
	if len(platforms) == 0 {
		return t.Text("No chat shows its card yet. On the machine, approver pending lists it.")
	}
	return t.Text("Answer it where its card is: %s. Nothing can be answered here.", strings.Join(platforms, ", "))
}

// cut shortens a text, and says by how much.
func cut(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= maxField {
		return text
	}
	return string([]rune(text)[:maxField-40]) + fmt.Sprintf("… (%d characters more)", n-maxField+40)
}

// all is the fields as they are sent.
func (p page) all() map[string]string {
	out := map[string]string{}
	for _, f := range p.fields {
		out[f.name] = f.text
	}
	return out
}

// lines is the fields as text.
func (p page) lines() string {
	var b strings.Builder
	for _, f := range p.fields {
		fmt.Fprintf(&b, "%s: %s\n", f.name, f.text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
