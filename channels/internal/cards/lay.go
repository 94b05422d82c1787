package cards

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
)

// A Dialect is what a platform makes of a card.
type Dialect struct {
	// Room bounds the sizes of all elements together, and Size is that of one. Zero is no bound.
	Room int
	Size func(Element) int
	// Wide and Tight bound the texts around the body; the tight ones count where the body would
	// have to be cut otherwise.
	Wide, Tight Limits
	// Exact reports whether the platform shows a code as it is; nil if it always does. Where it does
	// not, the exact text is attached, and Inexact says what people see in its place.
	Exact   func(code string) bool
	Inexact func(t display.Texts) string
	// Dialog and Copy report whether there is a dialog for the code, and a button that copies it.
	Dialog, Copy bool
	// Typing says how to approve by typing the code, and Missing where to read what is hidden if it
	// could not be attached.
	Typing  func(t display.Texts, code string) []Word
	Missing func(t display.Texts, request string) string
	// Refusing says how to refuse by typing, for a card that can have no buttons; the code may be empty. It is
	// nil where there are buttons.
	Refusing func(t display.Texts, code string) []Word
}

// Limits are how much of each of a card's texts is shown, other than its body, in bytes. Zero is no
// bound.
type Limits struct {
	Why, Claimed, Context, Warning, Argument int
}

func (l Limits) half() Limits {
	return Limits{l.Why / 2, l.Claimed / 2, l.Context / 2, l.Warning / 2, l.Argument / 2}
}

// Lay lays out a card. posted says whether its message was cut when it was posted, and what became
// of the file.
func (d Dialect) Lay(card approver.Card, posted Attachment) Page {
	l := layout{Dialect: d, card: card, posted: posted}
	if l.fill(d.Wide); l.cutBody || l.over() {
		l.fill(d.Tight)
	}
	for limits := d.Tight; l.over() && limits.Why > 40; { // many texts
		limits = limits.half()
		l.fill(limits)
	}
	p := Page{Headline: headline(card), Elements: l.elements(), Partial: l.partial(), File: l.file()}
	p.Tap = l.tap(p.Partial)
	switch {
	case card.State.Settled() || card.State == approver.Approved: // an approval is told when it is settled
	case d.Refusing != nil:
		p.Reference = reference(card)
	default:
		p.Rows = l.rows(p.Tap)
	}
	return p
}

// LayAnew lays out a card whose message is there already: nothing is attached to it any more.
func (d Dialect) LayAnew(card approver.Card, posted Attachment) Page {
	p := d.Lay(card, posted)
	if p.Partial && posted == Fresh {
		return d.Lay(card, Missing)
	}
	return p
}

// Fits reports whether a card is shown whole.
func (d Dialect) Fits(card approver.Card) bool { return !d.Lay(card, Fresh).Partial }

// headline is the push line; a settled card's starts with the mark of its end.
func headline(card approver.Card) string {
	line := []rune(display.Flat(cmp.Or(strings.TrimSpace(card.Push), "approval request")))
	if len(line) > display.PushLength {
		line = append(line[:display.PushLength-1], '…')
	}
	if card.State.Settled() {
		return Mark(card.State) + " " + string(line)
	}
	return string(line)
}

// A layout is a card on its way to a page.
type layout struct {
	Dialect
	card   approver.Card
	posted Attachment

	around  approver.Card   // with its texts cut to the limits
	blocks  []display.Block // that are shown
	body    []Element       // that show the blocks, one each unless they are joined
	joined  bool            // all blocks are one text
	short   bool            // a text around the body is cut, or a line of it
	cutBody bool            // a block of the body is cut
	hidden  int             // bytes of the body that are not shown
	fits    bool            // all of it has room
}

// tap reports whether a button may approve the card.
func (l *layout) tap(partial bool) bool { return l.card.MayTap() && !partial && l.Refusing == nil }

func (l *layout) partial() bool { return l.posted != Fresh || l.short || l.cutBody }

// cutShare is what part of a card's room a body gets that has to be cut.
const cutShare = 3

// fill cuts the texts around the body to the limits, and the body to the room that is left.
func (l *layout) fill(limits Limits) {
	l.around, l.short = limits.trim(l.card)
	l.body, l.joined, l.cutBody, l.hidden = nil, false, false, 0
	l.blocks = shownBlocks(l.card)
	for _, b := range l.blocks {
		e := Element{Kind: ofBlock(b.Kind), Label: display.Flat(b.Label), Text: b.Text}
		if e.Kind == Argument {
			e.Label, e.Text = cmp.Or(e.Label, "·"), display.Flat(e.Text) // no line begins with the agent's text
		}
		l.body = append(l.body, e)
	}
	room := l.Room - l.size(l.elementsAround(nil, l.posted != Fresh || l.short))
	if l.fits = l.Room == 0 || l.size(l.body) <= room; l.fits {
		return
	}
	most := *l // the notes have their longest form
	most.short, most.cutBody, most.hidden, most.body = true, true, math.MaxInt32, []Element{l.asOne()}
	room = min(room, l.Room-l.size(most.elementsAround(nil, true)))
	l.cut(limits, min(room, l.Room/cutShare)) // the file has all of it, and the reasons stay in sight
}

// over reports whether a card is larger than its room.
func (l *layout) over() bool { return !l.fits && l.size(l.elements()) > l.Room }

// shownBlocks are the blocks of the body. A command that the headline has whole is not shown twice.
func shownBlocks(card approver.Card) []display.Block {
	if len(card.Body) != 1 || card.State.Settled() {
		return card.Body
	}
	b := card.Body[0]
	_, title, _ := strings.Cut(card.Push, " · ")
	if b.Kind != display.Code || b.Label != "" || title != b.Text && !strings.HasPrefix(title, b.Text+" (") {
		return card.Body
	}
	return nil
}

func (l *layout) size(elements []Element) (sum int) {
	if l.Size == nil {
		return 0
	}
	for _, e := range elements {
		sum += l.Size(e)
	}
	return sum
}

func (l *layout) elements() []Element { return l.elementsAround(l.body, l.partial()) }

// WarningLabel is the label of a warning, in every language.
const WarningLabel = "⚠️"

// elementsAround are all elements of a card with a body, in their order.
func (l *layout) elementsAround(body []Element, partial bool) (all []Element) {
	card, t := &l.around, l.card.Texts
	field := func(label, text string) {
		if text != "" {
			all = append(all, Element{Kind: Field, Label: label, Text: text})
		}
	}
	settled := card.State.Settled()
	if settled {
		all = append(all, Element{Kind: Result, Text: cmp.Or(card.Result, Mark(card.State)+" "+card.State.String())})
	}
	below := l.bodyBelow(body)
	if !below {
		all = append(all, body...)
	}
	if !settled {
		field("👉", card.Part)
	}
	if partial && !settled {
		all = append(all, l.cutNotes()...)
	}
	if altered := l.altered(); altered != "" && !settled {
		all = append(all, Element{Kind: Note, Text: altered})
	}
	for i, why := range card.Why {
		field(pick(i == 0, t.Text("Why"), "·"), why)
	}
	for _, warning := range card.Warnings {
		field(WarningLabel, warning)
	}
	if card.Claimed != "" {
		all = append(all, Element{Kind: Field, Label: t.Text("Agent says (not checked):"), Text: card.Claimed, Said: true})
	}
	field("👤", card.Context)
	if settled {
		return all
	}
	if below {
		all = append(all, body...)
	}
	return append(all, l.answering(l.tap(partial))...)
}

// longBody is how many lines of a body leave the reasons in sight on a phone.
const longBody = 10

// bodyBelow reports whether the body goes below the reasons, between them and how to answer: a phone shows
// the beginning of a long message or its end. A screen shows all of it.
func (l *layout) bodyBelow(body []Element) bool {
	lines := len(body)
	for _, e := range body {
		lines += strings.Count(e.Text, "\n")
	}
	return l.Room > 0 && lines > longBody && !l.card.State.Settled()
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// answering are the elements that say how and until when a card is answered. They are the one place
// that shows its code.
func (l *layout) answering(tap bool) (all []Element) {
	card, t := &l.around, l.card.Texts
	if tap {
		for i, c := range card.Choices {
			all = append(all, Element{Kind: Field, Label: t.Text("Yes, and"), Text: display.Flat(approver.ChoiceLine(i+1, c))})
		}
		if card.Lasting != "" {
			all = append(all, Element{Kind: Field, Label: t.Text("15 min or session:"), Text: card.Lasting})
		}
	}
	if !card.Due.IsZero() {
		all = append(all, Element{Kind: Clock, Text: t.Text("no answer by then is a no"), Until: card.Due,
			Since: card.Created})
	}
	code := card.Code.Reveal()
	switch {
	case card.State == approver.Approved:
		return all
	case tap && code == "":
	case tap:
		words := []Word{{Text: t.Text("Or type this to approve once: ")}, {Text: code, Typed: true}}
		all = append(all, Element{Kind: Answer, Words: words})
	case code == "":
		all = append(all, Element{Kind: Answer, Words: []Word{{Text: t.Text("This card can only be refused.")}}})
	default:
		all = append(all, Element{Kind: Answer, Words: l.Typing(t, code)})
	}
	if l.Refusing != nil {
		all = append(all, Element{Kind: Answer, Words: l.Refusing(t, code)})
	}
	return all
}

// cutNotes say that not all is shown, and where the whole is.
func (l *layout) cutNotes() []Element {
	t := l.card.Texts
	var text string
	switch {
	case l.cutBody && l.short:
		text = t.Text("✂️ %d bytes of the call are hidden here, and other texts are cut.", l.hidden)
	case l.cutBody:
		text = t.Text("✂️ %d bytes are hidden here.", l.hidden)
	default:
		text = t.Text("✂️ Not everything is shown here.")
	}
	switch l.posted {
	case Missing:
		text += " " + t.Text("⚠️ The file with the whole of it could not be attached.") + " " +
			l.Missing(t, display.Flat(l.card.Request))
	case MaybeMissing:
		text += " " + t.Text("The whole is in the attached file, if it could be attached.") + " " +
			l.Missing(t, display.Flat(l.card.Request))
	case Fresh, Attached:
		text += " " + t.Text("The whole is in the attached file: read it before you answer.")
	}
	return []Element{{Kind: Note, Text: text}}
}

// altered says that a block is shown with small changes, and where it is exact.
func (l *layout) altered() string {
	if l.Exact == nil {
		return ""
	}
	for _, e := range l.body {
		if e.Kind != Argument && !l.Exact(e.Text) {
			text := l.Inexact(l.card.Texts)
			if l.posted != Missing {
				text += " " + l.card.Texts.Text("The exact text is in the attached file.")
			}
			return text
		}
	}
	return ""
}

// file is what goes beside the card: the one block that is not shown as it is, or else the whole card.
func (l *layout) file() File {
	blocks, t := l.unshown(), l.card.Texts
	switch {
	case len(blocks) == 0 && !l.short:
		return File{}
	case len(blocks) != 1 || l.short:
		return File{Name: "card.txt", Content: l.card.Whole(), Caption: t.Text("the whole card")}
	}
	b := blocks[0]
	return File{Name: fileName(b), Content: b.Text, Caption: t.Text("the whole text, %d bytes", len(b.Text))}
}

func fileName(b display.Block) string {
	switch {
	case b.Kind == display.Diff:
		return "change.txt"
	case b.Label == "":
		return "command.txt"
	}
	return "text.txt"
}

// rows are the buttons of a card that waits: the answers first, each row as wide as a phone.
func (l *layout) rows(tap bool) (rows [][]Button) {
	card, t, code := &l.card, l.card.Texts, l.card.Code.Reveal()
	add := func(row ...Button) { rows = append(rows, row) }
	deny := Button{Action: Deny, Label: "⛔ " + t.Text("Deny"), Style: Bad}
	switch {
	case tap:
		add(Button{Action: Approve, Label: "✅ " + t.Text("Approve once"), Style: Good}, deny)
		if card.Lasting != "" {
			add(Button{Action: ApproveFor, Label: "🕒 " + t.Text("Approve 15 min")},
				Button{Action: ApproveSession, Label: "🔁 " + t.Text("Approve session")})
		}
	case l.Dialog && code != "":
		add(deny, Button{Action: EnterCode, Label: t.Text("Enter code…"), Style: Main})
	default:
		add(deny)
	}
	for i, c := range card.Choices {
		if tap {
			add(Button{Action: Choose(i + 1), Label: ChoiceLabel(i+1, c)})
		}
	}
	for pair := range slices.Chunk(l.further(tap), 2) {
		add(pair...)
	}
	return rows
}

// further are the buttons below the answers.
func (l *layout) further(tap bool) (row []Button) {
	card, t, code := &l.card, l.card.Texts, l.card.Code.Reveal()
	if card.Edits && !l.partial() && l.altered() == "" {
		row = append(row, Button{Action: Edit, Label: "📝 " + t.Text("Edit…")})
	}
	row = append(row, Button{Action: DenyWhy, Label: "✋ " + t.Text("Deny, say why…")})
	if card.Disowns {
		row = append(row, Button{Action: Disown, Label: "🚫 " + t.Text("Not mine")})
	}
	row = append(row, Button{Action: Details, Label: "🔎 " + t.Text("Details")})
	if card.Extends {
		row = append(row, Button{Action: MoreTime, Label: "⏱ " + t.Text("More time")})
	}
	switch {
	case !l.Copy || code == "":
	case tap:
		row = append(row, Button{Label: "📋 " + t.Text("Copy /approve"), Copy: "/approve " + code})
	default:
		row = append(row, Button{Label: "📋 " + t.Text("Copy the code"), Copy: code})
	}
	return row
}

// Stamp writes a time for people on platforms and clients that cannot show it by their own clock.
func Stamp(e Element) string {
	const clock = "15:04:05 UTC"
	until := e.Until.UTC()
	if !e.Since.IsZero() && until.Format("2006-01-02") != e.Since.UTC().Format("2006-01-02") {
		return until.Format("2006-01-02 " + clock)
	}
	return until.Format(clock)
}

// Left says how long a card can be answered from when it was made; empty if that is not known.
func Left(e Element) string {
	if e.Since.IsZero() {
		return ""
	}
	return fmt.Sprintf("(%s)", display.Duration(e.Until.Sub(e.Since)))
}
