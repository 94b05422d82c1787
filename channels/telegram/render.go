package telegram

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/tokens"
)

// Telegram's limits, in UTF-16 code units.
const (
	maxText  = 4096
	maxAlert = 200
)

// A style is how a span of a message is formatted.
type style uint8

const (
	// plain and bold are only for our own words, because Telegram looks for mentions, links,
	// hashtags and commands in them.
	plain style = iota
	bold
	// code and pre are for everything else. Telegram looks for nothing inside them.
	code
	pre
	diff  // pre, colored as a change
	clock // a time, which the client writes as what is left until then
)

var styleTags = [...]struct{ open, end string }{
	bold: {"<b>", "</b>"}, code: {"<code>", "</code>"}, pre: {"<pre>", "</pre>"},
	diff: {`<pre><code class="language-diff">`, "</code></pre>"},
}

// styleEntities are Telegram's entity types. A client that gets them has no clock.
var styleEntities = [...]models.MessageEntityType{
	bold: models.MessageEntityTypeBold, code: models.MessageEntityTypeCode, pre: models.MessageEntityTypePre,
	diff: models.MessageEntityTypePre,
}

type span struct {
	style style
	text  string
	at    time.Time // of a clock
}

// A page is a message before it is written in any markup.
type page []span

func (p *page) add(s style, text string) {
	if text != "" {
		*p = append(*p, span{style: s, text: lasting(strings.ToValidUTF8(text, "\uFFFD"))})
	}
}

// lasting marks the characters that Telegram takes out of a message or changes, so that two texts never
// look the same there. It shows a tab as one space, for example, and drops a ring above a letter.
func lasting(text string) string {
	if strings.IndexFunc(text, changes) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteRune(tab)
		case changes(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// tab stands for a tab.
const tab = '⇥'

func changes(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n'
	case r < 0x30a:
		return false
	}
	return r == 0x30a || r == 0x333 || r == 0x33f || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r == tab
}

// units is the length that Telegram counts: UTF-16 code units of what is shown.
func (p page) units() int {
	n := 0
	for _, s := range p {
		n += cards.Units(s.text)
	}
	return n
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// html writes the page in Telegram's HTML.
func (p page) html() string {
	var b strings.Builder
	for _, s := range p {
		text := escapeHTML.Replace(s.text)
		switch s.style {
		case plain:
			b.WriteString(text)
		case clock:
			fmt.Fprintf(&b, `<tg-time unix="%d" format="r">%s</tg-time>`, s.at.Unix(), text)
		case bold, code, pre, diff:
			b.WriteString(styleTags[s.style].open + text + styleTags[s.style].end)
		}
	}
	return b.String()
}

// marked writes the page without markup: the text, and where each style applies.
func (p page) marked() (string, []models.MessageEntity) {
	var b strings.Builder
	var entities []models.MessageEntity
	at := 0
	for _, s := range p {
		n := cards.Units(s.text)
		if s.style != plain && s.style != clock {
			entities = append(entities, models.MessageEntity{Type: styleEntities[s.style], Offset: at, Length: n})
		}
		at += n
		b.WriteString(s.text)
	}
	return b.String(), entities
}

// A message is a card laid out for Telegram.
type message struct {
	page    page
	buttons *inlineKeyboard // nil on a settled card
	partial bool            // something had to be cut, now or when it was posted
	file    cards.File      // what was cut, whole
}

// dialect is how Telegram counts a card. A wordy agent cannot push its command off the card: if the
// command does not fit beside texts cut to the wide limits, they are cut to the tight ones.
func dialect() cards.Dialect {
	return cards.Dialect{
		Room:  maxText - 2*display.PushLength - 8, // the headline, with the mark of its end
		Size:  sizeOf,
		Wide:  cards.Limits{Why: 400, Claimed: 400, Context: 400, Warning: 300, Argument: 400},
		Tight: cards.Limits{Why: 200, Claimed: 120, Context: 160, Warning: 200, Argument: 120},
		Copy:  true,
		Typing: func(t display.Texts, code string) []cards.Word {
			return []cards.Word{{Text: t.Text("To approve, reply to this message with ")}, {Text: code, Typed: true},
				{Text: t.Text(" or send ")}, {Text: "/approve " + code, Typed: true}, {Text: "."}}
		},
		Missing: func(t display.Texts, _ string) string {
			return t.Text("Tap Details to have it sent again, and read it first.")
		},
	}
}

// sizeOf is the size of an element in a message. Of a text that fits nowhere it is the least that it may be:
// a unit has three bytes at most.
func sizeOf(e cards.Element) int {
	const most = 3
	if len(e.Text) > most*maxText {
		return len(e.Text) / most
	}
	var p page
	p.element(e)
	return p.units()
}

// render lays out a card. posted says whether it was cut when it was posted. It fails only if
// the card's request is not a UUID, because a button could not carry it.
func render(card approver.Card, posted cards.Attachment) (message, error) {
	return written(card, dialect().Lay(card, posted))
}

// renderAnew lays out a card whose message is there.
func renderAnew(card approver.Card, posted cards.Attachment) (message, error) {
	return written(card, dialect().LayAnew(card, posted))
}

func written(card approver.Card, laid cards.Page) (message, error) {
	m := message{partial: laid.Partial, file: laid.File}
	m.page.headline(laid.Headline, card)
	for _, e := range laid.Elements {
		m.page.element(e)
	}
	if len(laid.Rows) == 0 {
		return m, nil
	}
	var err error
	m.buttons, err = keyboard(card, laid.Rows)
	return m, err
}

// headline adds the line that a lock screen shows. Its first word is our own.
func (p *page) headline(text string, card approver.Card) {
	head, rest, ok := strings.Cut(text, " · ")
	icon, named := strings.CutSuffix(head, card.Severity.String())
	if ok && named && !strings.ContainsFunc(icon, func(r rune) bool { return r > ' ' && r < utf8.RuneSelf }) {
		p.add(bold, head)
		p.add(plain, " · ")
		text = rest
	}
	p.add(code, text)
	p.add(plain, "\n")
}

// element adds a line or block. Labels of arguments are the agent's words too.
func (p *page) element(e cards.Element) {
	switch e.Kind {
	case cards.Field:
		p.add(bold, e.Label)
		p.add(plain, " ")
		p.add(styleOf(e.Text), e.Text)
	case cards.Argument:
		p.add(code, e.Label+": "+e.Text)
	case cards.Code, cards.Diff:
		if e.Label != "" {
			p.add(code, e.Label+":")
			p.add(plain, "\n")
		}
		p.add(map[bool]style{true: diff, false: pre}[e.Kind == cards.Diff], e.Text)
	case cards.Note:
		p.add(plain, e.Text)
	case cards.Result:
		p.add(code, e.Text)
	case cards.Clock:
		p.add(plain, "⏳ ")
		*p = append(*p, span{style: clock, text: cards.Stamp(e), at: e.Until})
		p.add(plain, " · "+e.Text)
	case cards.Answer:
		for _, w := range e.Words {
			p.add(map[bool]style{true: code, false: plain}[w.Typed], w.Text)
		}
	}
	p.add(plain, "\n")
}

// found matches what Telegram might take for a mention, link, hashtag, command, number of a phone or card. It
// matches too much rather than too little: a text with none of it reads better as ordinary words.
var found = lazyregexp.New(`[@#/$\\|+]|:\S|[^\s.]\.[^\s.]|[0-9]{4}|[^\x20-\x{2044}]`)

// styleOf is the style of a text that is not our own.
func styleOf(text string) style {
	if found().MatchString(text) {
		return code
	}
	return plain
}

// words are the parts of a text that somebody types or copies, or that Telegram would take for more than
// text: what stands around a word is none of it.
var words = lazyregexp.New(`([("“„«]*)(\S*[^\s.,;:!?)"”»])`)

// prose adds sentences: commands, codes, and what Telegram would take for a mention or a link, are code.
// Neighbors are one piece, such as a command and its code.
func (p *page) prose(text string) {
	begin, typed := 0, -1 // of what is not added yet, and of the typed piece in it
	end := 0              // of the typed piece
	flush := func(to int) {
		if typed >= 0 {
			p.add(plain, text[begin:typed])
			p.add(code, text[typed:end])
			begin, typed = end, -1
		}
		p.add(plain, text[begin:to])
		begin = to
	}
	for _, at := range words().FindAllStringSubmatchIndex(text, -1) {
		word := text[at[4]:at[5]]
		if !found().MatchString(word) && !strings.HasPrefix(word, tokens.Prefix) {
			continue
		}
		if typed < 0 || text[end:at[4]] != " " {
			flush(at[4])
			typed = at[4]
		}
		end = at[5]
	}
	flush(len(text))
}

// An inlineKeyboard is that of Telegram. The library's own buttons always have an empty copy_text.
type inlineKeyboard struct {
	InlineKeyboard [][]inlineButton `json:"inline_keyboard"`
}

type inlineButton struct {
	Text         string                 `json:"text"`
	Style        string                 `json:"style,omitempty"`
	CallbackData string                 `json:"callback_data,omitempty"`
	CopyText     *models.CopyTextButton `json:"copy_text,omitempty"`
}

// keyboard makes the buttons. A copying button puts a text on the clipboard of whoever taps it, and
// tells the bot nothing; it becomes an answer only when it is sent.
func keyboard(card approver.Card, rows [][]cards.Button) (*inlineKeyboard, error) {
	id, ok := cards.RequestID(card)
	if !ok {
		return nil, fmt.Errorf("telegram: request id %q is not a UUID in its plain form", card.Request)
	}
	styles := map[cards.Style]string{cards.Good: "success", cards.Bad: "danger"}
	var board inlineKeyboard
	for _, row := range rows {
		var out []inlineButton
		for _, b := range row {
			button := inlineButton{Text: b.Label, Style: styles[b.Style]}
			if b.Copy != "" {
				button.CopyText = &models.CopyTextButton{Text: b.Copy}
			} else {
				button.CallbackData = cards.ButtonData(id, b.Action, card.Upto)
			}
			out = append(out, button)
		}
		board.InlineKeyboard = append(board.InlineKeyboard, out)
	}
	return &board, nil
}

// parseButton reads the data of one of our buttons.
func parseButton(data string) (request uuid.UUID, action cards.Action, upto int, ok bool) {
	return cards.ParseButton(data, cards.Approve, cards.ApproveFor, cards.ApproveSession, cards.Deny, cards.DenyWhy,
		cards.Details, cards.MoreTime, cards.Disown, cards.Edit)
}
