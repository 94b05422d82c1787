package approver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"approver.example/display"
	"approver.example/tokens"
)

// A Card is all that a person is shown of a request: a document that knows no platform. Its texts
// are in the language of its reader and safe: secrets masked, control and look-alike characters made
// visible. A channel escapes its own markup and lays the card out, and cuts nothing silently.
type Card struct {
	Request  string   // the request's id
	State    State    // Pending, or what became of it
	Severity Severity // how it must be approved
	// OneTap reports whether an approve button may be offered. A channel that
	// has to cut a text offers none either.
	OneTap bool
	// Push is the headline, and the line that a lock screen shows: severity, what would happen, and
	// where. It is one line of at most display.PushLength characters, never with a code.
	Push string
	// Texts are approver's own words in the language of the card.
	Texts display.Texts
	// Body is the whole call: the command, the file and its content, what an edit changes, or the
	// arguments of a tool.
	Body []display.Block
	// Part is the part of the command that Why is about, as it is written there; empty if it is all
	// of it.
	Part string
	// Why has sentences of approver's own: why people are asked, what the call does as far as it was
	// computed, and how hard that is to undo.
	Why []string
	// Claimed is what the agent says of the call, to be marked as such.
	Claimed string
	// Context says in one line whose agent asks, in which project and session, and whether it is
	// isolated from approver.
	Context string
	// Warnings are sentences that a person should read before the answer.
	Warnings []string
	// Details is what is known beyond that: the rule and its place, ids, hashes. A channel shows
	// them to people who ask for details.
	Details []display.Block
	// Upto is the number of the last identical call that Warnings count; zero means the first
	// call alone. A channel puts it into its buttons with WithUpto, or keeps it with the card
	// on a screen. It returns the Upto of the version that was answered: see Reply.Shown.
	Upto int
	// Choices are further yeses to an agent's own question, each with a button of its own where a
	// button may approve. A channel shows each Detail whole, with the number of the choice, or offers
	// no choice at all: then a yes is for this one call.
	Choices []Choice
	// Lasting says what a yes for more than once would be for: which calls, of whom, and where. It is
	// empty if a yes can only be for once.
	Lasting string
	// Extends reports whether people may have MoreTime, and Disowns whether they may say that nobody
	// asked for this.
	Extends, Disowns bool
	// Edits reports whether people may change the command and approve the changed one. A channel offers
	// that only if it shows all of the card as it is.
	Edits bool
	// Code is this destination's own code; zero once the card is settled.
	Code tokens.Code
	// Created and Due are when the request was made and when silence becomes a
	// no, by the store's clock.
	Created, Due time.Time
	// Result says in one line who decided, where and after how long, and what happened then. Empty
	// while the card is pending.
	Result string
}

// MayTap reports whether a button may approve the card if it is shown whole.
func (c Card) MayTap() bool { return c.OneTap && c.Severity == High && c.State == Pending }

// Blocks are all that is known of the request, except for a code: the texts of the card, its details
// and its body, each with a label.
func (c Card) Blocks() []display.Block {
	var all []display.Block
	line := func(label string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				all = append(all, display.Block{Label: c.Texts.Text(label), Text: display.Flat(text)})
			}
		}
	}
	line("Warning", c.Warnings...)
	line("Why", c.Why...)
	line("Agent says (not checked)", c.Claimed)
	line("From", c.Context)
	line("Choice", c.ChoiceLines()...)
	all = append(all, c.Details...)
	for _, b := range c.Body {
		if b.Label == "" {
			b.Label = c.Texts.Text("Command")
		}
		all = append(all, b)
	}
	line("Result", c.Result)
	return all
}

// Whole returns Blocks as text, for the file beside a card that had to be cut. The longer blocks come
// last and unchanged, each with its length, so that no line of them can pass for a line of the card.
func (c Card) Whole() string {
	var lines, blocks strings.Builder
	for _, b := range c.Blocks() {
		if b.Kind == display.Line {
			fmt.Fprintf(&lines, "%s: %s\n", display.Flat(b.Label), display.Flat(b.Text))
		} else {
			fmt.Fprintf(&blocks, "\n%s, %d bytes:\n%s\n", display.Flat(b.Label), len(b.Text), b.Text)
		}
	}
	return strings.TrimSuffix(lines.String()+blocks.String(), "\n")
}

// ChoiceLines are the lines that show the choices.
func (c Card) ChoiceLines() (lines []string) {
	for i, choice := range c.Choices {
		lines = append(lines, ChoiceLine(i+1, choice))
	}
	return lines
}

// ChoiceLine is how a card shows a choice, the same on every platform.
func ChoiceLine(number int, c Choice) string { return strconv.Itoa(number) + ": " + c.Detail }
