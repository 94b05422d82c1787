package discord

import (
	"fmt"
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
	Flags        discordgo.MessageFlags      `json:"flags"` // always: an edit without leaves them as they are
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
	// file holds what the message cannot show unchanged; without a name, there is none.
	file cards.File
	// partial reports that the message does not show everything.
	partial bool
	// fileless reports that the file is not attached, because Discord rejected it.
	fileless bool
}

// render lays out a card; posted says what became of its file.
func (f form) render(card approver.Card, posted cards.Attachment) (view, error) {
	return f.write(card, f.dialect().Lay(card, posted), posted == cards.Missing)
}

// renderAnew lays out a card whose message is there; partial says whether it was cut.
func (f form) renderAnew(card approver.Card, partial bool) (view, error) {
	posted := cards.Fresh
	if partial {
		posted = cards.Attached
	}
	return f.write(card, f.dialect().Lay(card, posted), false)
}

// write writes a card in Discord's markup; fileless says that its file could not be attached.
func (f form) write(card approver.Card, laid cards.Page, fileless bool) (view, error) {
	id, ok := cards.RequestID(card)
	if !ok {
		return view{}, calls.Final("discord: the card's request id %q is not a UUID", card.Request)
	}
	v := view{partial: laid.Partial, fileless: fileless, file: laid.File}
	if f == embedded {
		v.message = inEmbed(card, laid)
	} else {
		v.message = inMessage(laid)
	}
	v.Components = buttons(id, card, laid.Rows)
	return v, nil
}

// inEmbed writes a card in an embed. The message's own text is the headline and the time, of which notifications
// show the beginning.
func inEmbed(card approver.Card, laid cards.Page) (m message) {
	m.Content = escape(laid.Headline)
	var b strings.Builder
	for _, e := range laid.Elements {
		switch e.Kind {
		case cards.Result:
			m.Content += "\n" + escape(e.Text)
		case cards.Clock:
			m.Content += "\n" + clock(e)
		case cards.Field, cards.Argument, cards.Code, cards.Diff, cards.Note, cards.Answer:
			b.WriteString(markdown(e))
		}
	}
	m.Embeds = []*discordgo.MessageEmbed{{Description: strings.TrimSuffix(b.String(), "\n"), Color: color(card)}}
	return m
}

// clock says until when a card can be answered; the client counts.
func clock(e cards.Element) string {
	return fmt.Sprintf("⏳ <t:%d:R> · %s", e.Until.Unix(), escape(e.Text))
}

// maxDescription is how much the embed of a message holds, in UTF-16 units; Discord never counts more
// than these.
const maxDescription = 4096

// dialect is how Discord counts a card.
func dialect() cards.Dialect {
	return cards.Dialect{
		Room: maxDescription,
		Size: func(e cards.Element) int {
			if e.Kind == cards.Result || e.Kind == cards.Clock { // beside the headline
				return 0
			}
			return cards.Units(markdown(e))
		},
		Wide:  cards.Limits{Why: 500, Claimed: 500, Context: 400, Warning: 300, Argument: 500},
		Tight: cards.Limits{Why: 200, Claimed: 120, Context: 160, Warning: 200, Argument: 120},
		Exact: func(code string) bool { return !fenced(code) },
		Inexact: func(t display.Texts) string {
			return t.Text("Backticks are shown with a zero-width space between them.")
		},
		Dialog: true,
		Typing: func(t display.Texts, code string) []cards.Word {
			return []cards.Word{{Text: t.Text("To approve, press “Enter code…” and type ")}, {Text: code, Typed: true},
				{Text: t.Text(", or use ")}, {Text: "/approve code:" + code, Typed: true}, {Text: "."}}
		},
		Missing: func(t display.Texts, request string) string {
			return t.Text("Read it on the daemon's machine before you answer: %s shows all of it and asks once more.",
				"approver approve "+request)
		},
	}
}

// markdown writes an element in Discord's markup, with its line end.
func markdown(e cards.Element) string {
	switch e.Kind {
	case cards.Code, cards.Diff:
		label, fence := "", "```bash\n"
		if e.Label != "" {
			label = "**" + escape(e.Label) + "**\n"
			fence = "```\n"
		}
		if e.Kind == cards.Diff {
			fence = "```diff\n"
		}
		return label + fence + unfence(e.Text) + "\n```\n"
	case cards.Note:
		return escape(e.Text) + "\n"
	case cards.Answer:
		var b strings.Builder
		for _, w := range e.Words {
			if w.Typed {
				b.WriteString("`" + w.Text + "`")
			} else {
				b.WriteString(escape(w.Text))
			}
		}
		return b.String() + "\n"
	case cards.Argument:
		e.Label += ":"
	case cards.Field, cards.Result, cards.Clock:
	}
	return "**" + escape(e.Label) + "** " + escape(e.Text) + "\n"
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

// buttons writes the rows of buttons; Discord shows five rows of five at most. The choices share a
// row.
func buttons(id uuid.UUID, card approver.Card, rows [][]cards.Button) []discordgo.MessageComponent {
	styles := map[cards.Style]discordgo.ButtonStyle{
		cards.Plain: discordgo.SecondaryButton, cards.Good: discordgo.SuccessButton,
		cards.Bad: discordgo.DangerButton, cards.Main: discordgo.PrimaryButton,
	}
	out := []discordgo.MessageComponent{}
	var choices discordgo.ActionsRow
	for _, row := range rows {
		var r discordgo.ActionsRow
		for _, b := range row {
			data := cards.ButtonData(id, b.Action, card.Upto)
			if _, _, _, ok := parseButton(data); !ok {
				continue // its press would not be understood
			}
			button := discordgo.Button{Label: b.Label, Style: styles[b.Style], CustomID: data}
			if b.Action.Choice() > 0 {
				choices.Components = append(choices.Components, button)
			} else {
				r.Components = append(r.Components, button)
			}
		}
		if len(r.Components) > 0 {
			out = append(out, r)
		}
	}
	if len(choices.Components) > 0 {
		out = append(out, choices)
	}
	return out
}

// parseButton reads the data of one of our buttons, or of a dialog of ours.
func parseButton(data string) (request uuid.UUID, action cards.Action, upto int, ok bool) {
	return cards.ParseButton(data, cards.Approve, cards.ApproveFor, cards.ApproveSession, cards.Deny, cards.DenyWhy,
		cards.EnterCode, cards.Details, cards.MoreTime, cards.Disown, cards.Edit)
}

// fenced reports whether a code block cannot show a command unchanged.
func fenced(command string) bool { return strings.Contains(command, "```") }

// unfence keeps a text inside its code block. Discord has no escape there, so a zero-width
// space goes between backticks; the exact text is attached. One goes also before and after the line
// breaks at its ends, which Discord would drop.
func unfence(s string) string {
	if fenced(s) {
		s = strings.ReplaceAll(s, "``", "`\u200b`")
	}
	if s == "" || strings.HasPrefix(s, "\n") { // of an empty one Discord would show the language
		s = "\u200b" + s
	}
	if strings.HasSuffix(s, "\n") {
		s += "\u200b"
	}
	return s
}

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
		case r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && invites(s[:i]):
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
	return b.String()
}

// invites reports whether a text ends with the name of a site that Discord previews even without a scheme.
func invites(s string) bool {
	for _, site := range []string{"discord", "discordapp"} {
		if n := len(s) - len(site); n >= 0 && strings.EqualFold(s[n:], site) {
			return true
		}
	}
	return false
}

// note is a text for one person.
func note(text string) message {
	shown, _ := fit(text, tellRoom, escape)
	return message{
		Content: shown, Embeds: []*discordgo.MessageEmbed{}, Components: []discordgo.MessageComponent{},
		Flags: discordgo.MessageFlagsSuppressEmbeds,
	}
}

// tellRoom is the room for a text for one person, in UTF-16 units; a message may hold 2000.
const tellRoom = 1800

// fit cuts text so that dress(text) takes at most room UTF-16 units, and returns the dressed
// text. room must be at least 100, to hold the note about the cut.
func fit(text string, room int, dress func(string) string) (shown string, hiddenBytes int) {
	if cards.Units(text) <= room { // dressing never makes a text shorter
		if shown = dress(text); cards.Units(shown) <= room {
			return shown, 0
		}
	}
	for limit := room; ; limit = limit * 3 / 4 {
		cut, n := display.Cut(text, limit)
		if shown = dress(cut); n > 0 && cards.Units(shown) <= room || limit == 0 {
			return shown, n
		}
	}
}
