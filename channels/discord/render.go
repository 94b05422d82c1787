package discord

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
)

// Colors of the card's edge.
const (
	colorHigh         = 0xE67E22
	colorCatastrophic = 0xE74C3C
	colorReleased     = 0x2ECC71
	colorEnded        = 0x95A5A6
)

// A message is the body of a request that posts, edits or answers.
type message struct {
	Content string                    `json:"content"`
	Embeds  []*discordgo.MessageEmbed `json:"embeds"`
	// Components is never nil: an empty list takes the buttons away.
	Components []discordgo.MessageComponent `json:"components"`
	// Mentions forbids every ping. Discord's default is to parse all.
	Mentions     mentions                    `json:"allowed_mentions"`
	Flags        discordgo.MessageFlags      `json:"flags,omitempty"`
	Nonce        string                      `json:"nonce,omitempty"`
	EnforceNonce bool                        `json:"enforce_nonce,omitempty"`
	Reference    *discordgo.MessageReference `json:"message_reference,omitempty"`
}

// mentions always marshals as "nobody is mentioned, whatever the text says".
type mentions struct{}

func (mentions) MarshalJSON() ([]byte, error) {
	return []byte(`{"parse":[],"replied_user":false}`), nil
}

// A view is a card as it is sent to Discord.
type view struct {
	message
	// file holds what the message cannot show unchanged: the exact command, or the whole card.
	// If its name is empty, there is none.
	file file
	// partial reports that the message does not show everything.
	partial bool
	// bare reports that the file is not attached, because Discord rejected it.
	bare bool
}

// render lays out a card. partial forces the layout of a card that was cut when it was posted.
func render(card approver.Card, partial bool) (view, error) {
	return layOut(card, view{partial: partial})
}

// renderBare lays out a card whose file could not be attached.
func renderBare(card approver.Card) (view, error) {
	return layOut(card, view{partial: true, bare: true})
}

func layOut(card approver.Card, v view) (view, error) {
	id, ok := cards.RequestID(card)
	if !ok {
		return view{}, calls.Final("discord: the card's request id %q is not a UUID", card.Request)
	}
	left := commandRoom
	if card.Environment != "" {
		left -= room.Environment
	}
	choices := choiceFields(card)
	shown, hiddenBytes := fit(card.Command, left-len(strings.Join(choices, "")), unfence)
	around, short := room.Trim(card, fitted)
	v.partial = v.partial || short || hiddenBytes > 0
	switch {
	case short:
		v.file = file{cardFile, card.Whole()}
	case hiddenBytes > 0 || fenced(card.Command):
		v.file = file{commandFile, card.Command}
	}
	embed := &discordgo.MessageEmbed{
		Description: "```bash\n" + shown + "\n```",
		Color:       color(card),
		Footer:      &discordgo.MessageEmbedFooter{Text: "request " + card.Request},
	}
	field := func(name, value string) {
		if strings.TrimSpace(value) != "" { // Discord refuses a blank field
			embed.Fields = append(embed.Fields, &discordgo.MessageEmbedField{Name: name, Value: value})
		}
	}
	if card.Notice != "" {
		field("Notice", "⚠️ "+around.Notice)
	}
	field("Why", why(around))
	if card.Claimed != "" {
		field("Claimed", "agent says (not checked): "+around.Claimed)
	}
	field("From", from(around))
	field("Environment", around.Environment)

	v.Components = []discordgo.MessageComponent{}
	head := escape(headline(card.Push))
	if card.State == approver.Pending {
		oneTap := card.OneTap && card.Severity == approver.High && !v.partial
		field("Answer", v.howTo(card, oneTap, short || hiddenBytes > 0))
		if !oneTap {
			card.Choices, choices = nil, nil
		}
		for _, text := range choices {
			field("Yes, and", text)
		}
		v.Components = buttons(id, oneTap, card)
		v.Content = fmt.Sprintf("%s\n⏳ %s · <t:%d:R>", head, card.Until(), card.Due.Unix())
	} else {
		v.Content = head // an approval is not announced until it is settled
		if card.State.Settled() {
			v.Content = cards.Mark(card.State) + " " + head + "\n" + result(card)
		}
	}
	v.Embeds = []*discordgo.MessageEmbed{embed}
	return v, nil
}

// choiceFields say what each choice means. A field holds 1024 characters, and all of a card 6000.
func choiceFields(card approver.Card) (texts []string) {
	for _, line := range card.ChoiceLines() {
		texts = append(texts, escape(line))
	}
	return texts
}

// headline cuts the push line, which the core already limits, so that a message never becomes
// too long for Discord.
func headline(push string) string {
	if r := []rune(push); len(r) > display.PushLength {
		return string(r[:display.PushLength-1]) + "…"
	}
	return push
}

// why is the reason, and the rule on a line of its own.
func why(around approver.Card) string {
	if around.Rule == "" {
		return around.Why
	}
	return strings.TrimPrefix(around.Why+"\nRule "+around.Rule, "\n")
}

// from says who asks: agent · session · directory @ host.
func from(around approver.Card) string {
	var parts []string
	for _, text := range []string{around.Agent, around.Session, around.Dir} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	text := strings.Join(parts, " · ")
	if around.Host != "" {
		text = strings.TrimSpace(text + " @ " + around.Host)
	}
	return text
}

// result says what became of a settled card.
func result(card approver.Card) string {
	shown, _ := fitted(cmp.Or(card.Result, cards.Mark(card.State)+" "+card.State.String()), resultRoom)
	return shown
}

// notAttached begins the note on a card whose file Discord rejected.
const notAttached = "⚠️ This card does not show everything, and the file with the whole of it could not be attached."

// whereWhole says where a request can be read whole.
func whereWhole(request string) string {
	return "Read it on the daemon's machine before you answer: `approver approve " + request +
		"` shows all of it and asks once more."
}

// howTo says how to answer, and why not by one tap.
func (v view) howTo(card approver.Card, oneTap, cut bool) string {
	var b strings.Builder
	code := card.Code.Reveal()
	if cut && !v.bare {
		fmt.Fprintf(&b, "What is hidden here is in the attached %s: read it before you answer.\n", v.file.name)
	}
	if fenced(card.Command) {
		b.WriteString("Backticks are shown with a zero-width space between them")
		if !v.bare {
			fmt.Fprintf(&b, "; the exact command is in the attached %s", v.file.name)
		}
		b.WriteString(".\n")
	}
	if v.bare {
		fmt.Fprintf(&b, "%s %s\n", notAttached, whereWhole(card.Request))
	}
	switch {
	case code == "":
		b.WriteString("Deny with the button.")
	case oneTap:
		fmt.Fprintf(&b, "Press a button, or `/approve code:%s` or `/deny code:%s`.", code, code)
	default:
		fmt.Fprintf(&b, "Code: `%s`. To approve, press Enter code… and type it, or use `/approve code:%s`. To deny, "+
			"press Deny.", code, code)
	}
	return b.String()
}

func color(card approver.Card) int {
	switch {
	case card.State == approver.Consumed:
		return colorReleased
	case card.State.Settled():
		return colorEnded
	case card.Severity == approver.High:
		return colorHigh
	}
	return colorCatastrophic
}

// codeInput is the id of the dialog's one field.
const codeInput = "code"

func buttons(id uuid.UUID, oneTap bool, card approver.Card) []discordgo.MessageComponent {
	button := func(label string, style discordgo.ButtonStyle, action cards.Action) discordgo.MessageComponent {
		return discordgo.Button{Label: label, Style: style, CustomID: cards.ButtonData(id, action, card.Upto)}
	}
	row := discordgo.ActionsRow{}
	if oneTap {
		row.Components = append(row.Components, button("Approve", discordgo.SuccessButton, cards.Approve))
	}
	row.Components = append(row.Components, button("Deny", discordgo.DangerButton, cards.Deny))
	if !oneTap {
		row.Components = append(row.Components, button("Enter code…", discordgo.PrimaryButton, cards.Code))
	}
	row.Components = append(row.Components, button("Details", discordgo.SecondaryButton, cards.Details))
	if len(card.Choices) == 0 {
		return []discordgo.MessageComponent{row}
	}
	more := discordgo.ActionsRow{} // holds five at most
	for i, c := range card.Choices {
		more.Components = append(more.Components,
			button(cards.ChoiceLabel(i+1, c), discordgo.SecondaryButton, cards.Choose(i+1)))
	}
	return []discordgo.MessageComponent{row, more}
}

// dialog is the modal in which a person types the code of a request. upto is the Upto of the
// card whose button opened it.
func dialog(id uuid.UUID, upto int) any {
	return map[string]any{
		"custom_id": cards.ButtonData(id, cards.Code, upto),
		"title":     "Approve with the code",
		"components": []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.TextInput{
				CustomID: codeInput, Label: "Type the code of this card", Style: discordgo.TextInputShort,
				Placeholder: "CONFIRM-…", Required: true, MinLength: 1, MaxLength: 200,
			},
		}}},
	}
}

// parseButton reads the data of one of our buttons, or of our dialog.
func parseButton(data string) (request uuid.UUID, action cards.Action, upto int, ok bool) {
	return cards.ParseButton(data, cards.Approve, cards.Deny, cards.Details, cards.Code)
}

// fenced reports whether a code block cannot show a command unchanged.
func fenced(command string) bool { return strings.Contains(command, "```") }

// unfence keeps a text inside its code block. Discord has no escape there, so a zero-width
// space goes between backticks. The exact text is attached.
func unfence(s string) string {
	if !fenced(s) {
		return s
	}
	return strings.ReplaceAll(s, "``", "`\u200b`")
}

// invite matches links that Discord previews even without a scheme.
var invite = regexp.MustCompile(`(?i)\b(discord(?:app)?)\.`)

// escape makes Discord show a text unchanged: no formatting, mention, timestamp, link or
// preview.
func escape(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	lineStart := true
	for i, r := range s {
		switch {
		case r == '\\', r == '*', r == '_', r == '~', r == '`', r == '|', r == '<', r == '[', r == ']', r == '@':
			b.WriteByte('\\')
		case r == ':' && strings.HasPrefix(s[i:], "://"):
			b.WriteByte('\\')
		case lineStart && (r == '#' || r == '>' || r == '-'):
			b.WriteByte('\\')
		}
		if r == utf8.RuneError {
			r = '\uFFFD'
		}
		b.WriteRune(r)
		lineStart = r == '\n' || lineStart && (r == ' ' || r == '\t')
	}
	return invite.ReplaceAllString(b.String(), `$1\.`)
}

// note is a text for one person.
func note(text string) message {
	shown, _ := fit(text, tellRoom, escape)
	return message{
		Content: shown, Embeds: []*discordgo.MessageEmbed{}, Components: []discordgo.MessageComponent{},
		Flags: discordgo.MessageFlagsSuppressEmbeds,
	}
}
