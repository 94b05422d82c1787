package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
)

// The ids of the fields of the dialogs.
const (
	codeInput = "code"
	whyInput  = "why"
	editInput = "edit"
)

const (
	// maxTitle is how long the title of a dialog may be, in UTF-16 units.
	maxTitle = 45
	// maxWhy is how much a person may type as the reason of a no, in characters.
	maxWhy = 500
)

// dialog is the modal in which a person types the code of a request, or the reason of a no, or changes the
// command of its card. Its title
// is the headline of the card whose button opened it; one that is longer than a title stands whole
// above the field. upto is the Upto of that card, and covers what a code approves, in Discord's markup.
func dialog(
	t display.Texts, id uuid.UUID, opens cards.Action, upto int, headline, command, covers string,
) any {
	field := discordgo.TextInput{
		CustomID: codeInput, Label: t.Text("Type the code of this card"), Style: discordgo.TextInputShort,
		Placeholder: "CONFIRM-…", Required: true, MinLength: 1, MaxLength: 200,
	}
	switch opens { //nolint:exhaustive // any other opens that for the code
	case cards.Edit:
		field = discordgo.TextInput{
			CustomID: editInput, Label: t.Text("Change the command, which is judged again"), Style: discordgo.TextInputParagraph,
			Value: command, Required: true, MinLength: 1, MaxLength: approver.MaxCommand,
		}
	case cards.DenyWhy:
		field = discordgo.TextInput{
			CustomID: whyInput, Label: t.Text("Deny: why? The agent is told this."), Style: discordgo.TextInputParagraph,
			Placeholder: t.Text("Use a branch instead."), Required: true, MinLength: 1, MaxLength: maxWhy,
		}
	}
	var all []discordgo.MessageComponent
	title := headline
	switch {
	case title == "":
		title = "approver"
	case cards.Units(title) > maxTitle:
		title = shortened(title, maxTitle)
		all = append(all, discordgo.TextDisplay{Content: escape(headline)})
	}
	if opens == cards.EnterCode && covers != "" {
		all = append(all, discordgo.TextDisplay{Content: covers})
	}
	return map[string]any{
		"custom_id": cards.ButtonData(id, opens, upto), "title": title,
		"components": append(all, discordgo.ActionsRow{Components: []discordgo.MessageComponent{field}}),
	}
}

// shortened cuts a text to at most room UTF-16 units, and marks that. The whole has to stand nearby.
func shortened(text string, room int) string {
	kept := 0
	for i, r := range text {
		if room -= cards.Units(string(r)); room < 1 {
			break
		}
		kept = i + len(string(r))
	}
	return strings.TrimRight(text[:kept], " ") + "…"
}

// headlineOf is the headline of a card of ours, as it was before it was written in Discord's markup.
func headlineOf(m *discordgo.Message) string {
	line, _, _ := strings.Cut(m.Content, "\n")
	var b strings.Builder
	escaped := false
	for _, r := range line {
		if escaped = r == '\\' && !escaped; !escaped {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxCovered is how much of a card a dialog shows, in UTF-16 units. Discord takes 4000 in all.
const maxCovered = 3500

// typedCode matches the line of a card that shows its code. Backticks of other texts are escaped.
var typedCode = lazyregexp.New("(^|[^\\\\])`[^`]*CONFIRM-[0-9A-Z]+`")

// coveredBy is what the code of a card approves: its texts without the code. If they are too long, only what is
// to run is shown, cut in its midst.
func coveredBy(t display.Texts, m *discordgo.Message) string {
	if m == nil {
		return ""
	}
	_, card, _ := strings.Cut(m.Content, "\n") // of a plain card
	if len(m.Embeds) > 0 {
		card = m.Embeds[0].Description
	}
	var lines, blocks []string
	var block []string // that is open, with its fence
	for _, line := range strings.Split(card, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case block != nil || fence:
			block = append(block, line)
		case typedCode().MatchString(line):
			continue
		}
		lines = append(lines, line)
		if fence && len(block) > 1 {
			blocks, block = append(blocks, strings.Join(block[1:len(block)-1], "\n")), nil
		}
	}
	if text := strings.Join(lines, "\n"); cards.Units(text) <= maxCovered {
		return text
	} else if len(blocks) == 0 {
		shown, _ := display.Cut(text, maxCovered)
		return shown
	}
	var b strings.Builder
	for _, text := range blocks {
		shown, _ := fit(text, max(maxCovered/len(blocks)-20, 100), func(s string) string { return "```\n" + s + "\n```\n" })
		b.WriteString(shown)
	}
	return b.String() + "✂️ " + t.Text("The rest stands on the card.")
}
