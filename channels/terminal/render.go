package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	// Full shows all that the agent says of the call, however long.
	Full bool
	// Now is the time from which the time left is counted.
	Now time.Time
	// Offer says which answers the hint names.
	Offer Offer
}

const (
	minWidth = 20
	// maxField bounds what the agent says of a call on the screen, in bytes: more would push
	// the command itself off it. The card says how much is left out, and then takes no tap.
	maxField = 600
	label    = 9 // columns of a label
)

// Render draws a card as lines of text, each ended by a newline. It does not cut the command. A
// line that is too long continues on the next one after a dotted bar; a new line of the command
// begins after a solid one.
func Render(card approver.Card, o Options) string {
	if o.Width != 0 {
		o.Width = max(o.Width, minWidth)
	}
	p := &page{o: o}
	settled := card.State.Settled()
	head := oneLine(card.Push)
	if settled {
		head = cards.Mark(card.State) + " " + head
	}
	p.line(p.headStyle(card), head)
	p.box(harmless(card.Command))
	if settled {
		p.field("Result", bold, result(card), true)
	}
	p.field("Why", plain, oneLine(card.Why), true)
	p.field("Rule", plain, oneLine(card.Rule), true)
	for _, f := range said(card) {
		p.field(f.name, f.style, f.text, o.Full)
	}
	p.field("Environment", warn, oneLine(card.Environment), true)
	p.field("Notice", warn, oneLine(card.Notice), true)
	if !settled {
		if o.Offer.Tap {
			for i, c := range card.Choices {
				p.field("Yes, and", plain, oneLine(approver.ChoiceLine(i+1, c)), true)
			}
		}
		p.field("Expires", plain, expiry(card.Due, o.Now), true)
		if card.State == approver.Approved {
			p.field("State", bold, "approved; the agent has not taken the answer yet", true)
		} else {
			p.field("Code", bold, card.Code.Reveal(), true)
			p.field("Request", plain, oneLine(card.Request), true)
			p.hint(card)
		}
	}
	return p.String()
}

// A text is shown after a label.
type text struct {
	name  string
	style style
	text  string
}

// said returns what the agent says of itself and the call.
func said(card approver.Card) []text {
	return []text{
		{"Agent says (not checked):", dim, oneLine(card.Claimed)},
		{"Agent", plain, oneLine(card.Agent)},
		{"Session", plain, oneLine(card.Session)},
		{"Where", plain, where(card)},
	}
}

// folded reports whether a screen shows some text of a card cut until the person asks for all
// of it.
func folded(card approver.Card) bool {
	return slices.ContainsFunc(said(card), func(t text) bool { return len(t.text) > maxField })
}

func where(card approver.Card) string {
	dir, host := oneLine(card.Dir), oneLine(card.Host)
	if dir == "" || host == "" {
		return dir + host
	}
	return dir + " @ " + host
}

// expiry is the deadline in UTC and the time left.
func expiry(due, now time.Time) string {
	if due.IsZero() {
		return ""
	}
	left := due.Sub(now)
	text := due.UTC().Format("15:04:05 UTC")
	switch {
	case left <= 0:
		return text + " (now)"
	case left < 2*time.Minute:
		return fmt.Sprintf("%s (in %d s)", text, int((left+time.Second-1)/time.Second))
	}
	return fmt.Sprintf("%s (in %d min)", text, int(left/time.Minute))
}

// hint says how to answer.
func (p *page) hint(card approver.Card) {
	if p.o.Number == 0 {
		return
	}
	var ways []string
	if p.o.Offer.Tap {
		ways = append(ways, fmt.Sprintf("y %d approves", p.o.Number))
		if len(card.Choices) > 0 {
			ways[0] = fmt.Sprintf("y %d approves once · y %[1]d 1 with choice 1", p.o.Number)
		}
	}
	if p.o.Offer.Deny {
		ways = append(ways, fmt.Sprintf("n %d denies", p.o.Number))
	}
	if p.o.Offer.Code && !p.o.Offer.Tap {
		ways = append(ways, fmt.Sprintf("%d CODE approves, with the code above", p.o.Number))
	}
	if len(ways) == 0 || !p.o.Offer.Tap && !p.o.Offer.Code {
		ways = append(ways, elsewhere(card, p.o.Offer))
	}
	p.line(dim, "Answer: "+strings.Join(ways, " · "))
}

// elsewhere says where to approve a card that cannot be approved in this terminal.
func elsewhere(card approver.Card, o Offer) string {
	switch {
	case o.Alone && o.Owner:
		return "to approve it: " + ownerWay(card.Request)
	case o.Alone:
		return "nobody can approve it here: " + pairWay
	case card.Severity != approver.High:
		return "approve it in a chat, with the code there"
	}
	return "approve it in a chat"
}

// pairWay is the advice where no chat is configured.
const pairWay = "pair a chat (approver pair telegram)"

func ownerWay(request string) string {
	if request == "" {
		request = "ID"
	}
	return display.AsRoot("approve " + oneLine(request))
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

// box writes the command in its frame. The right side stays open, so that a terminal that draws
// a character wider than expected cannot break the frame.
func (p *page) box(text string) {
	title := ""
	if p.o.Number > 0 {
		title = fmt.Sprintf(" %d ", p.o.Number)
	}
	rule := 40
	if p.o.Width > 0 {
		rule = min(rule, p.o.Width)
	}
	p.WriteString(p.paint(dim, "┌─"+title+strings.Repeat("─", max(rule-2-len(title), 0))) + "\n")
	if p.o.Width == 0 {
		p.WriteString(text + "\n") // as it is: for a file or a program
	} else {
		for line := range strings.SplitSeq(text, "\n") {
			bar := "│ "
			for _, piece := range wrap(line, 2, p.o.Width) {
				p.WriteString(p.paint(dim, bar) + piece + "\n")
				bar = "┊ "
			}
		}
	}
	p.WriteString(p.paint(dim, "└"+strings.Repeat("─", rule-1)) + "\n")
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
	lead := name + strings.Repeat(" ", max(label-len(name), 1))
	indent := label
	if p.o.Width > 0 && len(lead) > label {
		p.WriteString(p.paint(dim, name) + "\n")
		lead = strings.Repeat(" ", label)
	}
	for _, piece := range wrapWords(text, indent, p.o.Width) {
		p.WriteString(p.paint(dim, lead) + p.paint(s, strings.TrimSuffix(piece, " ")) + "\n")
		lead = strings.Repeat(" ", label)
	}
}
