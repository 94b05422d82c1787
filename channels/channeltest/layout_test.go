package channeltest_test

import (
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

// The most that a message of the platform shows of a command, and of each text
// around it, in bytes.
const (
	limit       = 3000
	limitAround = 600
)

// render is the platform's layout, with the defects of layouts.
func (p *platform) render(m *message, card approver.Card) (partial bool) {
	marks := map[approver.State]string{
		approver.Consumed: "✅ ", approver.Denied: "⛔ ", approver.Expired: "⌛ ", approver.Withdrawn: "↩ ",
	}
	settled := card.State.Settled()
	m.Push = marks[card.State] + card.Push
	if p.has("code in the notification") {
		m.Push += " " + card.Code.Reveal()
	}
	command, files, partial := p.command(card)
	lines, cut := p.around(card)
	if cut {
		partial = true
		if files = []string{commandOf(card)}; !p.has("attaches the command only") {
			files = []string{whole(card)}
		}
	}
	if !p.has("attaches nothing") {
		m.Files = files
	}
	if settled {
		lines = append(lines, p.result(card))
	} else {
		lines = append(lines, p.expiry(card))
	}
	if !settled && !p.has("no code") || settled && p.has("code stays") {
		lines = append(lines, card.Code.Reveal())
	}
	m.Buttons = p.buttons(card, partial)
	if slices.Contains(m.Buttons, fake.ApproveButton) || p.has("offers every choice") {
		for i, c := range card.Choices {
			line := approver.ChoiceLine(i+1, c)
			if p.has("names choices by their label") {
				line = c.Label
			}
			lines, m.Buttons = append(lines, line), append(m.Buttons, fake.ChoiceButton(i+1))
		}
	}
	m.Text = strings.Join(append([]string{m.Push, command}, lines...), "\n")
	return partial
}

// Fits says whether a card would be shown whole.
func (c channel) Fits(card approver.Card) bool {
	return !c.p.render(new(message), card) || c.p.has("fits everything")
}

func (p *platform) command(card approver.Card) (shown string, files []string, partial bool) {
	shown, hidden := display.Cut(commandOf(card), limit)
	if hidden > 0 {
		files, partial = []string{commandOf(card)}, true
	}
	if p.has("cuts in silence") && partial {
		shown = commandOf(card)[:limit]
	}
	if p.has("long claims push the command off") && len(card.Claimed) > limit {
		shown = ""
	}
	if p.has("takes markup as markup") {
		shown = strings.ReplaceAll(shown, "*", "")
	}
	return shown, files, partial
}

// around are the lines around the command, each cut to its room.
func (p *platform) around(card approver.Card) (lines []string, cut bool) {
	add := func(label, text string) {
		shown, hidden := p.short(text)
		if text == card.Claimed && p.has("cuts claims in silence") ||
			text == card.Context && p.has("shows the beginning of a directory") {
			shown, hidden = text[:min(len(text), 30)], 0
		}
		if text != "" {
			lines = append(lines, label+shown)
		}
		cut = cut || hidden > 0 && !p.has("a cut text takes a tap")
	}
	if !p.has("no why") {
		for _, why := range card.Why {
			add("", why)
		}
	}
	for _, b := range rest(card) {
		add(b.Label+": ", b.Text)
	}
	for _, text := range append([]string{card.Context}, card.Warnings...) {
		add("", text)
	}
	add("agent says (not checked): ", card.Claimed)
	return lines, cut
}

// short brings a text to one line of limitAround bytes.
func (p *platform) short(text string) (string, int) {
	if p.has("keeps line breaks") {
		return display.Cut(text, limitAround)
	}
	shown, hidden := display.Cut(strings.ReplaceAll(text, "\n", " ⏎ "), limitAround)
	return strings.ReplaceAll(shown, "\n", " "), hidden
}

func whole(card approver.Card) string {
	texts := append(append([]string{card.Context, card.Claimed}, card.Why...), card.Warnings...)
	for _, b := range rest(card) {
		texts = append(texts, b.Label, b.Text)
	}
	return strings.ReplaceAll(strings.Join(texts, " · "), "\n", " ⏎ ") + "\n" + commandOf(card)
}

func (p *platform) result(card approver.Card) string {
	switch {
	case p.has("no result"):
		return ""
	case card.Result == "" && !p.has("says nothing without a result"):
		return card.State.String()
	}
	shown, _ := p.short(card.Result)
	return shown
}

func (p *platform) expiry(card approver.Card) string {
	left := " (in " + time.Until(card.Due).Round(time.Second).String() + ")"
	if p.has("no time left") {
		left = ""
	}
	return card.Due.UTC().Format("15:04:05 UTC") + left
}

func (p *platform) buttons(card approver.Card, partial bool) (out []fake.Button) {
	if card.State.Settled() && !p.has("buttons stay") {
		return nil
	}
	oneTap := card.OneTap && card.Severity == approver.High && (!partial || p.has("one tap on a cut card"))
	if oneTap || p.has("approve on every card") || p.has("trusts one-tap") && card.OneTap {
		out = append(out, fake.ApproveButton)
	}
	if !p.has("no deny button") {
		out = append(out, fake.DenyButton)
	}
	return out
}

func commandOf(card approver.Card) string {
	if len(card.Body) == 0 {
		return ""
	}
	return card.Body[0].Text
}

// rest are the blocks of the body after the command.
func rest(card approver.Card) []display.Block { return card.Body[min(1, len(card.Body)):] }
