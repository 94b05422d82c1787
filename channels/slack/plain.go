package slack

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
)

// This file writes cards for a Slack that refuses the blocks of the usual ones. A plain card has the same texts in
// the same order, and cuts by the same rules.

// A form is how a card is written. Each form asks less of Slack than the one before it.
type form uint8

const (
	inBlocks   form = iota // rich text, the time by the reader's own clock, and buttons
	inSections             // sections of plain text, and buttons
	asText                 // no blocks, and so no buttons: the answer is typed
)

// formErrors are the errors from Slack that are about what a message is made of.
var formErrors = []string{"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long",
	"invalid_attachments", "too_many_attachments", "block_mismatch", "invalid_arguments"}

// refusesForm reports whether Slack refused a card for what it is made of, so that another form of it may be
// accepted.
func refusesForm(err error) bool {
	e, ok := errors.AsType[slack.SlackErrorResponse](err)
	if !ok || !slices.Contains(formErrors, e.Err) {
		return false
	}
	says := e.ResponseMetadata.Messages
	return e.Err != "invalid_arguments" || len(says) == 0 || slices.ContainsFunc(says, func(s string) bool {
		return strings.Contains(s, "block") || strings.Contains(s, "attachment") || strings.Contains(s, "/text")
	})
}

// maxText is how long a text without blocks may be, in characters after escaping: chat.update takes no more.
const maxText = 4000

// named matches what Slack shows as an emoji.
var named = lazyregexp.New(`:[\w'+-]+:`)

// dialect is how Slack counts a card in this form. approve and deny are the names of the commands.
func (f form) dialect(approve, deny string) cards.Dialect {
	d := dialect(approve)
	switch f {
	case inBlocks:
	case inSections:
		d.Size = func(e cards.Element) int { return jsonLength(lineUp(e)) }
	case asText:
		// Beside the elements there are the headline, whose characters may become five, and the reference.
		d.Room = maxText - 5*(display.PushLength+2) - 50
		d.Size = func(e cards.Element) int { return utf8.RuneCountInString(escape(lineUp(e))) }
		d.Exact = func(code string) bool { return !named().MatchString(code) }
		d.Inexact = func(t display.Texts) string { return t.Text("Slack may show a word between two colons as a picture.") }
		d.Typing = func(t display.Texts, code string) []cards.Word {
			return []cards.Word{{Text: t.Text("To approve, send ")}, {Text: approve + " " + code, Typed: true}, {Text: "."}}
		}
		d.Refusing = func(t display.Texts, code string) []cards.Word {
			if code == "" {
				return []cards.Word{{Text: t.Text("To refuse, reply no in the thread of this message.")}}
			}
			return []cards.Word{{Text: t.Text("To refuse, send ")}, {Text: deny + " " + code, Typed: true},
				{Text: t.Text(", or reply no in the thread of this message.")}}
		}
	}
	return d
}

// render lays out a card that is posted now, or whose file is what posted says.
func (c *Channel) render(f form, card approver.Card, posted cards.Attachment, rev string) message {
	approve, deny := c.Commands()
	return f.write(card, f.dialect(approve, deny).Lay(card, posted), rev)
}

// renderAnew lays out a card whose message is there; partial says whether it was cut when it was posted.
func (c *Channel) renderAnew(f form, card approver.Card, partial bool, rev string) message {
	posted := cards.Fresh
	if partial {
		posted = cards.MaybeMissing
	}
	approve, deny := c.Commands()
	return f.write(card, f.dialect(approve, deny).LayAnew(card, posted), rev)
}

func (f form) write(card approver.Card, laid cards.Page, rev string) message {
	switch f {
	case inSections:
		return sections(card, laid, rev)
	case asText:
		return unadorned(laid)
	case inBlocks:
	}
	return written(card, laid, rev)
}

// bar begins each line of the call on a plain card, so that none can pass for a line of ours. dotted begins the
// rest of a line that is too long for one section.
const bar, dotted = "│ ", "┊ "

// lineUp writes an element as lines of plain text, each with its line end.
func lineUp(e cards.Element) string {
	switch e.Kind {
	case cards.Code, cards.Diff:
		text := e.Text
		if e.Label != "" {
			text = e.Label + ":\n" + text
		}
		return bar + strings.ReplaceAll(text, "\n", "\n"+bar) + "\n"
	case cards.Argument:
		return bar + e.Label + ": " + e.Text + "\n"
	case cards.Note, cards.Result:
		return e.Text + "\n"
	case cards.Clock:
		return clock(e, cards.Stamp(e)) + "\n"
	case cards.Answer:
		text := ""
		for _, w := range e.Words {
			text += w.Text
		}
		return text + "\n"
	case cards.Field:
	}
	return e.Label + " " + e.Text + "\n"
}

// answerBlock begins the id of the section that shows the code.
const answerBlock = "answer:"

// sections writes a card in sections of plain text, in which Slack parses nothing.
func sections(card approver.Card, laid cards.Page, rev string) message {
	m := message{text: laid.Headline, partial: laid.Partial, file: laid.File}
	m.blocks = append(m.blocks, plainSection(laid.Headline))
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			m.blocks = append(m.blocks, plainSection(strings.TrimSuffix(text.String(), "\n")))
			text.Reset()
		}
	}
	for _, e := range laid.Elements {
		if e.Kind == cards.Answer {
			flush()
			m.blocks = append(m.blocks, slack.NewSectionBlock(plainText(strings.TrimSuffix(lineUp(e), "\n")), nil, nil,
				slack.SectionBlockOptionBlockID(answerBlock+rev)))
			continue
		}
		for line := range strings.Lines(lineUp(e)) {
			for line != "" {
				n := display.RuneBoundary(line, maxTold)
				if text.Len()+n > maxTold {
					flush()
				}
				text.WriteString(line[:n])
				if line = line[n:]; line != "" {
					line = dotted + line
				}
			}
		}
	}
	flush()
	m.blocks = append(m.blocks, rows(card, laid.Rows, rev)...)
	return m
}

// unadorned writes a card as text alone. Its last line names the request, which no button does.
func unadorned(laid cards.Page) message {
	var text strings.Builder
	text.WriteString(laid.Headline + "\n")
	for _, e := range laid.Elements {
		text.WriteString(lineUp(e))
	}
	text.WriteString(laid.Reference)
	return message{text: strings.TrimSuffix(text.String(), "\n"), partial: laid.Partial, file: laid.File}
}
