package telegram

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// Telegram's limits, in UTF-16 code units.
const (
	maxText  = 4096
	maxAlert = 200

	maxResult = 300
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
)

var styleTags = [...]string{bold: "b", code: "code", pre: "pre"}

// styleEntities are Telegram's entity types.
var styleEntities = [...]models.MessageEntityType{
	bold: models.MessageEntityTypeBold, code: models.MessageEntityTypeCode, pre: models.MessageEntityTypePre,
}

type span struct {
	style style
	text  string
}

// A page is a message before it is written in any markup.
type page []span

func (p *page) add(s style, text string) {
	if text != "" {
		*p = append(*p, span{s, strings.ToValidUTF8(text, "\uFFFD")})
	}
}

// line adds our own label and somebody else's text on a line of its own.
func (p *page) line(label, text string) {
	if text == "" {
		return
	}
	p.add(bold, label)
	p.add(plain, " ")
	p.add(code, text)
	p.add(plain, "\n")
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
		if s.style == plain {
			b.WriteString(escapeHTML.Replace(s.text))
			continue
		}
		tag := styleTags[s.style]
		b.WriteString("<" + tag + ">" + escapeHTML.Replace(s.text) + "</" + tag + ">")
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
		if s.style != plain {
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
	buttons *models.InlineKeyboardMarkup // nil on a settled card
	partial bool                         // something had to be cut, now or when it was posted
	file    file                         // what was cut, whole
}

// A file goes with a card that does not show everything.
type file struct{ name, content, caption string }

// An attachment is what is known of a card's file. The zero value is for a card that shows
// everything.
type attachment uint8

const (
	whole attachment = iota
	attached
	unattached // it could not be sent
)

// render lays out a card. posted says whether it was cut when it was posted. It fails only if
// the card's request is not a UUID, because a button could not carry it.
func render(card approver.Card, posted attachment) (message, error) {
	around, short := wide.Trim(card, clip)
	if cards.Units(command(card)) > room(around) {
		around, short = tight.Trim(card, clip)
	}
	shown, hidden := command(card), 0
	if left := room(around); cards.Units(shown) > left {
		shown, hidden = display.Cut(shown, left) // a byte is at least one unit
	}
	m := message{partial: posted != whole || short || hidden > 0}
	if m.partial {
		posted = max(posted, attached)
	}
	m.page = layout(around, shown, posted)
	switch {
	case short:
		m.file = file{"card.txt", card.Whole(), "the whole card"}
	case hidden > 0:
		m.file = file{"command.txt", card.Command, fmt.Sprintf("the whole command, %d bytes", len(card.Command))}
	}
	if card.State.Settled() {
		return m, nil
	}
	var err error
	m.buttons, err = keyboard(card, oneTap(card, m.partial))
	return m, err
}

func command(card approver.Card) string {
	return cmp.Or(card.Command, "(no command)")
}

// room is the space that the lines around the command leave for it, on a card that also has to
// say that it is cut.
func room(around approver.Card) int {
	// the longer of the notes, or the choices of a card that is whole
	return maxText - max(layout(around, "", unattached).units(), layout(around, "", whole).units())
}

// oneTap reports whether a button may approve the card.
func oneTap(card approver.Card, partial bool) bool {
	return card.OneTap && card.Severity == approver.High && card.State == approver.Pending && !partial
}

// layout puts a trimmed card and the command on a page.
func layout(card approver.Card, command string, rest attachment) page {
	var p page
	settled := card.State.Settled()
	p.push(card, settled)
	if settled {
		text, _ := clip(result(card), maxResult)
		p.add(code, text)
		p.add(plain, "\n")
	}
	p.add(pre, command)
	p.add(plain, "\n")
	why := card.Why
	if card.Rule != "" {
		why = strings.TrimPrefix(why+" · "+card.Rule, " · ")
	}
	p.line("Why", why)
	p.line("Agent says (not checked):", card.Claimed)
	p.line("Agent", who(card))
	p.line("Environment", card.Environment)
	p.line("⚠️", card.Notice)
	if !settled {
		p.choices(card, rest)
		p.expiry(card)
		p.howTo(card, rest)
	}
	return p
}

// push adds the line that a lock screen shows.
func (p *page) push(card approver.Card, settled bool) {
	if settled {
		p.add(plain, cards.Mark(card.State)+" ")
	}
	text, _ := clip(card.Push, 2*display.PushLength) // a character is at most two units
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

func result(card approver.Card) string {
	return cmp.Or(card.Result, cards.Mark(card.State)+" "+card.State.String())
}

func who(card approver.Card) string {
	at := card.Dir
	if card.Host != "" {
		at = strings.TrimPrefix(at+" @ "+card.Host, " ")
	}
	var parts []string
	for _, s := range []string{card.Agent, card.Session, at} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

func (p *page) expiry(card approver.Card) {
	if until := card.Until(); until != "" {
		p.add(plain, "⏳ "+until+"\n")
	}
}

// choices shows what each choice means, on a card whose buttons may approve.
func (p *page) choices(card approver.Card, rest attachment) {
	if !oneTap(card, rest != whole) {
		return
	}
	for i, c := range card.Choices {
		p.line("Yes, and", approver.ChoiceLine(i+1, c))
	}
}

// howTo says how the card is answered, and is the one place that shows its
// code.
func (p *page) howTo(card approver.Card, rest attachment) {
	words := card.Code.Reveal()
	switch rest {
	case whole:
	case attached:
		p.add(plain, "What is hidden here is in the attached file: read it first.\n")
	case unattached:
		p.add(plain, "⚠️ What is hidden here could not be attached. Tap Details to have it sent again, and read it first.\n")
	}
	switch {
	case oneTap(card, rest != whole):
		p.add(plain, "Tap a button, or reply ")
		p.add(code, "yes")
		p.add(plain, " or ")
		p.add(code, "no")
		if words != "" {
			p.add(plain, ", or send ")
			p.add(code, "/approve "+words)
		}
		p.add(plain, ".")
	case words != "":
		p.add(plain, "To approve, reply to this message with ")
		p.add(code, words)
		p.add(plain, " or send ")
		p.add(code, "/approve "+words)
		p.add(plain, ". To refuse, tap Deny or send ")
		p.add(code, "/deny "+words)
		p.add(plain, ".")
	default:
		p.add(plain, "This card can only be refused.")
	}
}

// keyboard makes the buttons. Copy puts the command with the code on the clipboard of whoever
// taps it, and tells the bot nothing; it becomes an answer only when it is sent. Copy stands
// only beside Approve: where the code must be typed, typing it must stay a deliberate act.
func keyboard(card approver.Card, approve bool) (*models.InlineKeyboardMarkup, error) {
	id, ok := cards.RequestID(card)
	if !ok {
		return nil, fmt.Errorf("telegram: request id %q is not a UUID in its plain form", card.Request)
	}
	var first []models.InlineKeyboardButton
	if approve {
		first = append(first,
			models.InlineKeyboardButton{Text: "✅ Approve once", Style: "success",
				CallbackData: cards.ButtonData(id, cards.Approve, card.Upto)})
	}
	first = append(first,
		models.InlineKeyboardButton{Text: "⛔ Deny", Style: "danger", CallbackData: cards.ButtonData(id, cards.Deny, 0)})
	second := []models.InlineKeyboardButton{{Text: "🔎 Details", CallbackData: cards.ButtonData(id, cards.Details, 0)}}
	if words := card.Code.Reveal(); approve && words != "" {
		second = append(second,
			models.InlineKeyboardButton{Text: "📋 Copy /approve", CopyText: models.CopyTextButton{Text: "/approve " + words}})
	}
	rows := [][]models.InlineKeyboardButton{first}
	if approve {
		for i, c := range card.Choices {
			rows = append(rows, []models.InlineKeyboardButton{{Text: cards.ChoiceLabel(i+1, c),
				CallbackData: cards.ButtonData(id, cards.Choose(i+1), 0)}})
		}
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: append(rows, second)}, nil
}

// parseButton reads the data of one of our buttons.
func parseButton(data string) (request uuid.UUID, action cards.Action, upto int, ok bool) {
	return cards.ParseButton(data, cards.Approve, cards.Deny, cards.Details)
}
