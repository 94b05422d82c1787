package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"approver.example/channels/internal/cards"
	"approver.example/display"
	"github.com/slack-go/slack"

	"approver.example"
)

// Slack's limits, with room to spare where they are not documented.
const (
	maxBlocksJSON = 12000 // Slack answers msg_blocks_too_long from about 13,200 characters
	maxTitle      = 150   // characters of the push line; the core's are at most 120
	maxRequest    = 100   // block_id takes 255 in all
	roomForNotes  = 400   // how much more a cut card says than an uncut one
	maxTold       = 2900  // a text object takes 3000
)

// smaller are the limits of a card's smaller texts, in bytes. Even if every byte needs an
// escape, they leave room for part of the command.
var smaller = cards.Limits{Why: 800, Rule: 300, Claimed: 500, Agent: 300, Session: 300, Dir: 400, Host: 300,
	Notice: 400, Environment: 700}

const (
	maxResult  = 600
	minCommand = 200
)

// The action ids of a card's buttons.
const (
	actApprove = "approve"
	actDeny    = "deny"
	actCode    = "code"
	actDetails = "details"
	actChoice  = "choice" // and the number of the choice
)

// A message is a card as it is sent to Slack.
type message struct {
	text    string        // the notification: one plain line
	blocks  []slack.Block // what the message shows
	files   []file        // what did not fit
	partial bool          // something did not fit, now or when it was posted
}

type file struct{ name, content string }

// layout is a card with its texts cut to size.
type layout struct {
	card    approver.Card
	title   string
	command string
	whole   int  // bytes of the whole command
	hidden  int  // bytes of it that are not shown
	short   bool // some other text is cut
	tap     bool
	rev     string
	where   attachment
}

// render lays out a card. No text of the card is ever given to Slack as markup: untrusted text
// is in plain_text objects and rich text elements, which Slack does not parse, and the sender
// escapes the notification line. partial forces the layout of a card that was cut when it was
// posted.
func render(card approver.Card, partial bool, rev string) message {
	return renderAs(card, partial, rev, attached)
}

// An attachment says where the whole of a card is that had to be cut.
type attachment uint8

const (
	attached      attachment = iota // in the thread
	notAttached                     // Slack rejected it
	mayBeAttached                   // in the thread, unless the card said at first that it is not
)

// renderAs is render of a card whose files are where the attachment says.
func renderAs(card approver.Card, partial bool, rev string, where attachment) message {
	l := layout{card: card, rev: rev, title: title(card), whole: len(card.Command), where: where}
	l.trim()
	l.command, l.hidden = fit(card.Command, maxBlocksJSON-jsonLength(l.build())-jsonLength(l.choices())-roomForNotes)
	m := message{text: l.title, partial: partial || l.hidden > 0 || l.short}
	l.tap = card.OneTap && card.Severity == approver.High && !m.partial
	m.blocks = l.build()
	if where == notAttached {
		return m
	}
	if m.partial && card.Command != "" {
		m.files = append(m.files, file{"command.txt", card.Command})
	}
	if l.short {
		m.files = append(m.files, file{"card.txt", card.Whole()})
	}
	return m
}

// trim makes each of the card's smaller texts one line, and cuts them. l.short reports whether
// it had to cut any, because people judge a call by all of them.
func (l *layout) trim() {
	l.card, l.short = smaller.Trim(l.card, line)
	// The result comes with an update, which attaches nothing; the note in the text says what
	// is cut.
	l.card.Result, _ = line(l.card.Result, maxResult)
}

// line brings a text to one line of at most limit bytes.
func line(text string, limit int) (shown string, hiddenBytes int) {
	shown, hiddenBytes = display.Cut(oneLine(text), limit)
	return strings.ReplaceAll(shown, "\n", " "), hiddenBytes // the note has line breaks of its own
}

// fit cuts a command so that it takes at most budget bytes as JSON.
func fit(command string, budget int) (shown string, hidden int) {
	budget = max(budget, minCommand)
	if len(command) <= budget && jsonLength(command) <= budget {
		return command, 0
	}
	for limit := budget; limit > 0; {
		shown, hidden = display.Cut(command, limit)
		n := jsonLength(shown)
		if n <= budget {
			break
		}
		limit = min(limit*budget/n, limit-16)
	}
	return shown, hidden
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

func (l layout) build() []slack.Block {
	blocks := []slack.Block{plainSection(l.title)}
	settled := l.card.State.Settled()
	if settled {
		blocks = append(blocks, plainSection(orElse(l.card.Result, l.card.State.String())))
	}
	blocks = append(blocks, preformatted(orElse(l.command, "(no command)")))
	if note := l.cutNote(); note != "" {
		blocks = append(blocks, plainSection(note))
	}
	if f := l.fields(); len(f) > 0 {
		blocks = append(blocks, slack.NewSectionBlock(nil, f, nil))
	}
	if l.card.Claimed != "" {
		blocks = append(blocks, plainSection("agent says (not checked): "+l.card.Claimed))
	}
	if l.card.Notice != "" {
		blocks = append(blocks, plainSection("⚠️ "+l.card.Notice))
	}
	if settled {
		return blocks
	}
	blocks = append(blocks, l.howTo(), l.expiry(), l.buttons())
	if l.tap {
		blocks = append(blocks, l.choices()...)
	}
	return blocks
}

func (l layout) cutNote() string {
	var note string
	switch {
	case l.hidden > 0 && l.short:
		note = fmt.Sprintf("%d of the command's %d bytes are hidden here, and other texts are cut.", l.hidden, l.whole)
	case l.hidden > 0:
		note = fmt.Sprintf("%d of the command's %d bytes are hidden here.", l.hidden, l.whole)
	case l.short:
		note = "Some texts of this card are cut."
	default:
		return ""
	}
	switch l.where {
	case attached:
		note += " The whole is attached as a file in the thread: read it before you answer."
	case notAttached:
		note += " The file with the whole could not be attached. Read it on the daemon's machine before you answer: " +
			"approver approve " +
			oneLine(l.card.Request) + " shows all of it and asks once more."
	case mayBeAttached:
		note += " The whole is in the thread where Slack took the file, and approver approve " + oneLine(l.card.Request) +
			" shows it on the daemon's machine."
	}
	return "✂️ " + note
}

func (l layout) fields() []*slack.TextBlockObject {
	var out []*slack.TextBlockObject
	add := func(label, text string) {
		if text != "" {
			out = append(out, plainText(label+": "+text))
		}
	}
	dir := l.card.Dir
	if l.card.Host != "" {
		dir = strings.TrimSpace(dir + " @ " + l.card.Host)
	}
	add("Why", l.card.Why)
	add("Rule", l.card.Rule)
	add("Agent", l.card.Agent)
	add("Session", l.card.Session)
	add("Directory", dir)
	add("Environment", l.card.Environment)
	return out
}

// howTo tells how to answer. The code is our own text.
func (l layout) howTo() slack.Block {
	code := l.card.Code.Reveal()
	if code == "" {
		return richText(words("This card has no code: it cannot be approved here."))
	}
	if l.tap {
		return richText(words("Press a button, or send "), typed("/approve "+code), words(" or "), typed("/deny "+code))
	}
	return richText(words("To approve, press “Enter code…” and type "), typed(code), words(", or send "),
		typed("/approve "+code),
		words(". To deny, press Deny or send "), typed("/deny "+code))
}

// expiry is the only block with markup; it holds only numbers and words of our own.
func (l layout) expiry() slack.Block {
	due := l.card.Due.UTC()
	text := fmt.Sprintf("⏳ %s · <!date^%d^{time_secs}|%s> your time", l.card.Until(), due.Unix(),
		due.Format("15:04:05 UTC"))
	return slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, text, false, true))
}

func (l layout) buttons() slack.Block {
	button := func(action, label string, style slack.Style) slack.BlockElement {
		value := l.card.Request
		if action == actApprove || action == actCode { // a no has one form for all versions of the card
			value = approver.WithUpto(value, l.card.Upto)
		}
		b := slack.NewButtonBlockElement(action, value, plainText(label))
		b.Style = style
		return b
	}
	row := []slack.BlockElement{
		button(actDeny, "Deny", slack.StyleDanger),
		button(actCode, "Enter code…", slack.StyleDefault),
		button(actDetails, "Details", slack.StyleDefault),
	}
	if l.tap {
		row[0], row[1] = button(actApprove, "Approve", slack.StylePrimary), row[0]
	}
	return slack.NewActionBlock(blockID(l.card.Request, l.rev), row...)
}

// choices say what each choice means, and have its button.
func (l layout) choices() (blocks []slack.Block) {
	var row []slack.BlockElement
	for i, c := range l.card.Choices {
		blocks = append(blocks, plainSection("Yes, and "+approver.ChoiceLine(i+1, c)))
		row = append(row, slack.NewButtonBlockElement(actChoice+strconv.Itoa(i+1), l.card.Request,
			plainText(cards.ChoiceLabel(i+1, c))))
	}
	if len(row) > 0 {
		blocks = append(blocks, slack.NewActionBlock(blockID(l.card.Request, l.rev+"c"), row...))
	}
	return blocks
}

// oneLine keeps a text from imitating the lines around it.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\r", " ⏎ ").Replace(s)
}

// title is the push line; a settled card's starts with the mark of its end.
func title(card approver.Card) string {
	line := []rune(orElse(strings.Join(strings.Fields(card.Push), " "), "approval request"))
	if len(line) > maxTitle {
		line = append(line[:maxTitle-1], '…')
	}
	if card.State.Settled() {
		return cards.Mark(card.State) + " " + string(line)
	}
	return string(line)
}

// codeDialog is the modal that takes a typed code. Slack returns place along with the typed
// text; people do not see it.
func codeDialog(title, place string) slack.ModalViewRequest {
	input := slack.NewPlainTextInputBlockElement(plainText("CONFIRM-…"), codeInput)
	input.MaxLength = 100
	return slack.ModalViewRequest{
		Type:            slack.VTModal,
		Title:           plainText("Approve with the code"),
		Submit:          plainText("Approve"),
		Close:           plainText("Cancel"),
		CallbackID:      codeModal,
		PrivateMetadata: place,
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			plainSection(title),
			slack.NewInputBlock(codeInput, plainText("The code on the card"), nil, input),
		}},
	}
}

// detailsDialog shows a card again, whole and without its buttons, for
// clients that fold long messages.
func detailsDialog(card []slack.Block) slack.ModalViewRequest {
	v := slack.ModalViewRequest{Type: slack.VTModal, Title: plainText("Request"), Close: plainText("Close")}
	for _, b := range card {
		if b.BlockType() != slack.MBTAction {
			v.Blocks.BlockSet = append(v.Blocks.BlockSet, b)
		}
	}
	return v
}

// titleOf reads the push line back from a card.
func titleOf(card []slack.Block) string {
	if len(card) > 0 {
		if s, ok := card[0].(*slack.SectionBlock); ok && s.Text != nil && s.Text.Text != "" {
			return s.Text.Text
		}
	}
	return "approval request"
}

func plainText(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
}

func plainSection(s string) slack.Block { return slack.NewSectionBlock(plainText(s), nil, nil) }

func preformatted(s string) slack.Block {
	return slack.NewRichTextBlock("", &slack.RichTextPreformatted{
		Type:     slack.RTEPreformatted,
		Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(s, nil)},
	})
}

func richText(parts ...slack.RichTextSectionElement) slack.Block {
	return slack.NewRichTextBlock("", slack.NewRichTextSection(parts...))
}

func words(s string) slack.RichTextSectionElement {
	return slack.NewRichTextSectionTextElement(s, nil)
}

func typed(s string) slack.RichTextSectionElement {
	return slack.NewRichTextSectionTextElement(s, &slack.RichTextSectionTextStyle{Code: true})
}

func orElse(s, alternative string) string {
	if strings.TrimSpace(s) == "" {
		return alternative
	}
	return s
}
