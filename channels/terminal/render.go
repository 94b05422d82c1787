package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// Options say how [Render] draws a card.
type Options struct {
	// Number is how the person refers to the card; 0 draws none.
	Number int
	// Width is the screen's width in columns; 0 never wraps. A width under
	// minWidth is taken as that.
	Width int
	// Color allows colors. Without it the text has no control character but
	// newline and tab.
	Color bool
	// Full shows each text below the call whole, however long.
	Full bool
	// Now is the time from which the time left is counted.
	Now time.Time
	// Offer says which answers the hint names.
	Offer Offer
}

const (
	minWidth = 20
	// maxField bounds each text below the call on the screen, in bytes: more would push the call
	// itself off it. The card says how much is left out, and then takes no tap.
	maxField = 600
	label    = 9 // columns of a label
)

// dialect is how a terminal lays out a card: nothing is cut, since a screen scrolls.
func dialect() cards.Dialect {
	return cards.Dialect{
		Typing: func(display.Texts, string) []cards.Word { return nil }, // see hint
		Missing: func(t display.Texts, _ string) string {
			return t.Text("A line in its midst marks the place.")
		},
	}
}

// Render draws a card as lines of text, each ended by a newline. It does not cut the command. A
// line that is too long continues on the next one after a dotted bar; a new line of the command
// begins after a solid one.
func Render(card approver.Card, o Options) string {
	if o.Width != 0 {
		o.Width = max(o.Width, minWidth)
	}
	p := &page{o: o, t: card.Texts}
	laid := dialect().Lay(card, cards.Fresh)
	p.line(p.headStyle(card), harmless(laid.Headline))
	p.body(laid.Elements)
	if card.State.Settled() {
		return p.String()
	}
	p.field(p.t.Text("Expires"), plain, expiry(p.t, card.Due, o.Now), true)
	if card.State == approver.Approved {
		p.field(p.t.Text("State"), bold, p.t.Text("approved; the agent has not taken the answer yet"), true)
		return p.String()
	}
	p.field(p.t.Text("Code"), bold, card.Code.Reveal(), true)
	p.field(p.t.Text("Request"), plain, harmless(display.Flat(card.Request)), true)
	p.hint(card)
	return p.String()
}

// body writes the elements. The blocks stand in a frame.
func (p *page) body(elements []cards.Element) {
	framed := false
	for _, e := range elements {
		e.Label, e.Text = harmless(e.Label), harmless(e.Text)
		block := e.Kind == cards.Code || e.Kind == cards.Diff || e.Kind == cards.Argument
		if block != framed {
			p.frame(block)
			framed = block
		}
		switch e.Kind {
		case cards.Code, cards.Diff:
			if e.Label != "" {
				p.boxed(e.Label + ":")
			}
			p.boxed(e.Text)
		case cards.Argument:
			p.boxed(e.Label + ": " + e.Text)
		case cards.Field:
			p.field(p.labelOf(e), p.styleOf(e), e.Text, p.o.Full)
		case cards.Note:
			p.line(warn, e.Text)
		case cards.Result:
			p.line(bold, e.Text)
		case cards.Clock, cards.Answer: // a screen counts by itself, and hint says how to answer
		}
	}
	if framed {
		p.frame(false)
	}
}

// labelOf is a word where a phone shows a picture, which terminals draw in different widths.
func (p *page) labelOf(e cards.Element) string {
	switch e.Label {
	case "👤":
		return p.t.Text("From")
	case "👉":
		return p.t.Text("Part")
	case cards.WarningLabel:
		return p.t.Text("Warning")
	case "·":
		return ""
	}
	return e.Label
}

func (p *page) styleOf(e cards.Element) style {
	switch {
	case e.Said:
		return dim
	case e.Label == cards.WarningLabel:
		return warn
	}
	return plain
}

// folded reports whether a screen shows some text of a card cut until the person asks for all
// of it.
func folded(card approver.Card) bool {
	long := func(text string) bool { return len(text) > maxField }
	return long(card.Claimed) || long(display.Flat(card.Context)) || slices.ContainsFunc(card.Why, long) ||
		slices.ContainsFunc(card.Warnings, long)
}

// expiry is the deadline in UTC and the time left.
func expiry(t display.Texts, due, now time.Time) string {
	if due.IsZero() {
		return ""
	}
	left := due.Sub(now)
	text := due.UTC().Format("15:04:05 UTC")
	switch {
	case left <= 0:
		return t.Text("%s (now)", text)
	case left < 2*time.Minute:
		return t.Text("%s (in %d s)", text, int((left+time.Second-1)/time.Second))
	}
	return t.Text("%s (in %d min)", text, int(left/time.Minute))
}

// hint says how to answer.
func (p *page) hint(card approver.Card) {
	if p.o.Number == 0 {
		return
	}
	var ways []string
	if p.o.Offer.Tap {
		ways = append(ways, p.t.Text("y %d approves", p.o.Number))
		if len(card.Choices) > 0 {
			ways[0] = p.t.Text("y %d approves once · y %[1]d 1 with choice 1", p.o.Number)
		}
	}
	if p.o.Offer.Deny {
		ways = append(ways, p.t.Text("n %d denies", p.o.Number))
	}
	if p.o.Offer.Code && !p.o.Offer.Tap {
		ways = append(ways, p.t.Text("%d CODE approves, with the code above", p.o.Number))
	}
	if len(ways) == 0 || !p.o.Offer.Tap && !p.o.Offer.Code {
		ways = append(ways, p.t.Message(elsewhere(card, p.o.Offer)))
	}
	p.line(dim, p.t.Text("Answer: %s", display.Shown(strings.Join(ways, " · "))))
}

// elsewhere says where to approve a card that cannot be approved in this terminal.
func elsewhere(card approver.Card, o Offer) display.Message {
	switch {
	case o.Alone && o.Owner:
		return display.Msg("to approve it: %s", ownerWay(card.Request))
	case o.Alone:
		return display.Msg("nobody can approve it here: %s", display.Msg(pairWay))
	case card.Severity != approver.High:
		return display.Msg("approve it in a chat, with the code there")
	}
	return display.Msg("approve it in a chat")
}

// pairWay is the advice where no chat is configured.
const pairWay = "pair a chat (approver pair telegram)"

func ownerWay(request string) string {
	if request == "" {
		request = "ID"
	}
	return display.AsRoot("approve " + display.Flat(request))
}

// A style is the parameter of the escape sequence for one kind of text; plain
// has none.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	orange style = "1;33"
	warn   style = "33"
)

// A page collects lines.
type page struct {
	strings.Builder
	o Options
	t display.Texts
}

func (p *page) headStyle(card approver.Card) style {
	switch {
	case card.State.Settled():
		return dim
	case card.Severity == approver.High:
		return orange
	}
	return red
}

func (p *page) paint(s style, text string) string {
	if !p.o.Color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line writes a text without a frame, wrapped.
func (p *page) line(s style, text string) {
	for _, piece := range wrapWords(text, 0, p.o.Width) {
		p.WriteString(p.paint(s, strings.TrimSuffix(piece, " ")) + "\n")
	}
}

// frame begins or ends the frame around the call. The right side stays open, so that a terminal that
// draws a character wider than expected cannot break the frame.
func (p *page) frame(begins bool) {
	title, corner := "", "└"
	if begins {
		corner = "┌"
		if p.o.Number > 0 {
			title = fmt.Sprintf("─ %d ", p.o.Number)
		}
	}
	rule := 40
	if p.o.Width > 0 {
		rule = min(rule, p.o.Width)
	}
	p.WriteString(p.paint(dim, corner+title+strings.Repeat("─", max(rule-1-len([]rune(title)), 0))) + "\n")
}

// boxed writes lines into the frame.
func (p *page) boxed(text string) {
	if p.o.Width == 0 {
		p.WriteString(text + "\n") // as it is: for a file or a program
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		bar := "│ "
		for _, piece := range wrap(line, 2, p.o.Width) {
			p.WriteString(p.paint(dim, bar) + piece + "\n")
			bar = "┊ "
		}
	}
}

// field writes a label and its text, or nothing if there is no text. Unless whole is set, a
// long text is cut. The note about the cut is not on a line of its own, so that no text after
// the cut can begin a line.
func (p *page) field(name string, s style, text string, whole bool) {
	if text == "" {
		return
	}
	if !whole {
		text, _ = display.Cut(text, maxField)
		text = strings.ReplaceAll(text, "\n", " ")
	}
	columns := utf8.RuneCountInString(name)
	lead := name + strings.Repeat(" ", max(label-columns, 1))
	indent := label
	if p.o.Width > 0 && columns >= label {
		p.WriteString(p.paint(dim, name) + "\n")
		lead = strings.Repeat(" ", label)
	}
	for _, piece := range wrapWords(text, indent, p.o.Width) {
		p.WriteString(p.paint(dim, lead) + p.paint(s, strings.TrimSuffix(piece, " ")) + "\n")
		lead = strings.Repeat(" ", label)
	}
}
