package slack

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// Slack's limits, with room to spare where they are not documented.
const (
	maxBlocksJSON = 12000 // Slack answers msg_blocks_too_long from about 13,200 characters
	maxRequest    = 100   // block_id takes 255 in all
	roomForRest   = 3400  // the headline, up to a dozen buttons, and what is around each block
	maxTold       = 2900  // a text object takes 3000
)

// The action ids of a card's buttons; those of choices begin with actChoice.
const (
	actApprove = "approve"
	actDeny    = "deny"
	actCode    = "code"
	actDetails = "details"
	actChoice  = "choice"
)

var actionIDs = map[cards.Action]string{
	cards.Approve: actApprove, cards.ApproveFor: "quarter", cards.ApproveSession: "session", cards.EnterCode: actCode,
	cards.Deny: actDeny, cards.DenyWhy: "why", cards.Disown: "disown", cards.Details: actDetails, cards.MoreTime: "time",
	cards.Edit: "edit",
}

// idOf is the action id of a button; empty for one that no card here has.
func idOf(a cards.Action) string {
	if n := a.Choice(); n > 0 {
		return actChoice + strconv.Itoa(n)
	}
	return actionIDs[a]
}

// actionOf is the inverse of idOf; zero for an id that no button has.
func actionOf(id string) cards.Action {
	for n := 1; n <= approver.MaxChoices; n++ {
		if id == actChoice+strconv.Itoa(n) {
			return cards.Choose(n)
		}
	}
	for a, name := range actionIDs {
		if name == id {
			return a
		}
	}
	return 0
}

// A message is a card as it is sent to Slack.
type message struct {
	text    string        // the notification, one plain line; all of the card if there are no blocks
	blocks  []slack.Block // what the message shows
	file    cards.File    // what did not fit
	partial bool          // something did not fit, now or when it was posted
}

// dialect is how Slack counts a card: by its JSON. approve is the name of the command that approves.
func dialect(approve string) cards.Dialect {
	return cards.Dialect{
		Room:   maxBlocksJSON - roomForRest,
		Size:   func(e cards.Element) int { return jsonLength(rich(e)) },
		Wide:   cards.Limits{Why: 600, Claimed: 500, Context: 400, Warning: 400, Argument: 600},
		Tight:  cards.Limits{Why: 200, Claimed: 120, Context: 160, Warning: 200, Argument: 120},
		Dialog: true,
		Typing: func(t display.Texts, code string) []cards.Word {
			return []cards.Word{{Text: t.Text("To approve, press “Enter code…” and type ")}, {Text: code, Typed: true},
				{Text: t.Text(", or send ")}, {Text: approve + " " + code, Typed: true}, {Text: "."}}
		},
		Missing: func(t display.Texts, request string) string {
			return t.Text("Read it on the daemon's machine before you answer: %s shows all of it and asks once more.",
				"approver approve "+request)
		},
	}
}

// written writes a card in Slack's blocks. Lines that follow each other are one block, because a
// phone puts space between blocks. No text of the card is ever given to Slack as markup: untrusted text is in
// plain_text objects and rich text elements, which Slack does not parse, and the sender escapes the notification
// line.
func written(card approver.Card, laid cards.Page, rev string) message {
	m := message{text: laid.Headline, partial: laid.Partial, file: laid.File}
	m.blocks = append(m.blocks, plainSection(laid.Headline))
	var lines []slack.RichTextElement
	flush := func() {
		if len(lines) > 0 {
			m.blocks = append(m.blocks, slack.NewRichTextBlock("", lines...))
			lines = nil
		}
	}
	for _, e := range laid.Elements {
		if e.Kind == cards.Clock {
			flush()
			m.blocks = append(m.blocks, expiry(e))
			continue
		}
		lines = append(lines, rich(e)...)
	}
	flush()
	m.blocks = append(m.blocks, rows(card, laid.Rows, rev)...)
	return m
}

// rows writes the rows of buttons.
func rows(card approver.Card, all [][]cards.Button, rev string) (blocks []slack.Block) {
	for i, row := range all {
		if out := buttons(card, row); len(out) > 0 {
			blocks = append(blocks, slack.NewActionBlock(blockID(card.Request, rev+strings.Repeat("+", i)), out...))
		}
	}
	return blocks
}

// rich writes an element as rich text.
func rich(e cards.Element) []slack.RichTextElement {
	bold := &slack.RichTextSectionTextStyle{Bold: true}
	section := func(parts ...slack.RichTextSectionElement) slack.RichTextElement {
		return slack.NewRichTextSection(parts...)
	}
	switch e.Kind {
	case cards.Code, cards.Diff:
		if e.Label == "" {
			return []slack.RichTextElement{preformatted(e.Text)}
		}
		return []slack.RichTextElement{section(slack.NewRichTextSectionTextElement(e.Label, bold)), preformatted(e.Text)}
	case cards.Note, cards.Result:
		return []slack.RichTextElement{section(slack.NewRichTextSectionTextElement(e.Text, nil))}
	case cards.Answer:
		var parts []slack.RichTextSectionElement
		for _, w := range e.Words {
			style := &slack.RichTextSectionTextStyle{Code: w.Typed}
			parts = append(parts, slack.NewRichTextSectionTextElement(w.Text, style))
		}
		return []slack.RichTextElement{section(parts...)}
	case cards.Argument:
		e.Label += ":"
	case cards.Field, cards.Clock:
	}
	return []slack.RichTextElement{section(slack.NewRichTextSectionTextElement(e.Label+" ", bold),
		slack.NewRichTextSectionTextElement(orElse(e.Text, " "), nil))}
}

func preformatted(text string) *slack.RichTextPreformatted {
	return &slack.RichTextPreformatted{Type: slack.RTEPreformatted,
		Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(orElse(text, " "), nil)}}
}

// jsonLength is the size of v in JSON as Slack counts it: with escapes for quotes, line ends
// and control characters, but none for HTML.
func jsonLength(v any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return maxBlocksJSON // cannot happen for blocks and strings; then nothing is shown
	}
	return b.Len()
}

// expiry is the only block with markup; it holds only a number and a time of our own.
func expiry(e cards.Element) slack.Block {
	stamp := "<!date^" + strconv.FormatInt(e.Until.Unix(), 10) + "^{time_secs}|" + cards.Stamp(e) + ">"
	return slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, clock(e, stamp), false, true))
}

// clock says until when a card can be answered; stamp is that time.
func clock(e cards.Element, stamp string) string {
	text := "⏳ " + stamp
	if left := cards.Left(e); left != "" {
		text += " " + left
	}
	return text + " · " + e.Text
}

func buttons(card approver.Card, row []cards.Button) (out []slack.BlockElement) {
	styles := map[cards.Style]slack.Style{cards.Good: slack.StylePrimary, cards.Bad: slack.StyleDanger}
	for _, b := range row {
		if idOf(b.Action) == "" {
			continue // its press would not be understood
		}
		value := card.Request
		if r, _ := b.Action.Reply(); b.Action == cards.EnterCode || r.Approve && r.Choice == 0 {
			value = approver.WithUpto(value, card.Upto) // anything else has one form for all versions of the card
		}
		button := slack.NewButtonBlockElement(idOf(b.Action), value, plainText(b.Label))
		button.Style = styles[b.Style]
		out = append(out, button)
	}
	return out
}

func plainText(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
}

func plainSection(s string) slack.Block { return slack.NewSectionBlock(plainText(s), nil, nil) }

func orElse(s, alternative string) string {
	if strings.TrimSpace(s) == "" {
		return alternative
	}
	return s
}
