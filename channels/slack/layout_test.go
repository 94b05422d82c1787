package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/channels/slack/slacktest"
	"approver.example/display"
)

// lines are the texts of a card as a person reads them: one for each section, block of code and
// line of our own.
func lines(m message) (out []string) {
	for _, b := range m.blocks {
		switch b := b.(type) {
		case *slack.SectionBlock:
			out = append(out, b.Text.Text)
		case *slack.ContextBlock:
			out = append(out, b.ContextElements.Elements[0].(*slack.TextBlockObject).Text)
		case *slack.RichTextBlock:
			for _, e := range b.Elements {
				var parts []slack.RichTextSectionElement
				switch e := e.(type) {
				case *slack.RichTextSection:
					parts = e.Elements
				case *slack.RichTextPreformatted:
					parts = e.Elements
				}
				line := ""
				for _, p := range parts {
					line += p.(*slack.RichTextSectionTextElement).Text
				}
				out = append(out, line)
			}
		}
	}
	return out
}

// rendered is a card that Slack takes.
func rendered(t *testing.T, card approver.Card) message {
	t.Helper()
	m := inBlocks.render(card, cards.Fresh)
	wire(t, m)
	return m
}

// A person reads from the top: what would happen, the call, why, what to beware of, what the agent
// says, who asks, until when, and how to answer.
func TestOrder(t *testing.T) {
	card := testCard(t)
	card.Body, card.Part = channeltest.Command("make\ngit push --force"), "git push --force"
	card.Warnings = []string{"./deploy.sh can change after you answer."}
	want := []string{
		"🟠 HIGH · Force-push main", "make\ngit push --force", "👉 git push --force", "Why It rewrites history.",
		"⚠️ ./deploy.sh can change after you answer.", "Agent says (not checked): tidy up", "👤 claude of ann @ box · ~/src",
		"⏳ <!date^1772375530^{time_secs}|14:32:10 UTC> (2 min) · no answer by then is a no",
		"Or type this to approve once: CONFIRM-7KQ4MX",
	}
	if got := lines(rendered(t, card)); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the card is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	card.State, card.Result = approver.Consumed, "✅ Approved once by Ann"
	want = append([]string{"✅ " + want[0], "✅ Approved once by Ann", want[1]}, want[3:7]...)
	if got := lines(rendered(t, card)); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("settled, the card is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A command that the first line has whole is not repeated below it, until it has ended.
func TestCommandOfTheHeadline(t *testing.T) {
	for command, repeats := range map[string]bool{
		"make deploy": false, "make deploy ": true, "make": true, "make\ndeploy": true,
	} {
		card := testCard(t)
		card.Push, card.Body = "🟠 HIGH · make deploy (acme/shop)", channeltest.Command(command)
		m := rendered(t, card)
		if got := lines(m)[1] == command; got != repeats || m.partial {
			t.Errorf("%q is shown twice: %v, partial: %v", command, got, m.partial)
		}
		card.State = approver.Denied
		if got := lines(rendered(t, card)); got[2] != command {
			t.Errorf("settled, the card does not show %q: %q", command, got)
		}
	}
}

// Several blocks, each under its label, all of them as they are.
func TestBlocks(t *testing.T) {
	card := testCard(t)
	card.Body = []display.Block{
		{Label: "*owner* <!channel>", Text: "<https://evil.example|acme> `x`"}, {Text: "✅ no label"},
		{Kind: display.Code, Label: "```query``` :smile:", Text: "select 1\n\tfrom t"},
		{Kind: display.Diff, Label: "~/.bashrc", Text: "-PATH=/bin\n+PATH=/evil:/bin\n ```\n+x"},
	}
	m := rendered(t, card)
	want := []string{
		"*owner* <!channel>: <https://evil.example|acme> `x`", "·: ✅ no label", card.Body[2].Label, card.Body[2].Text,
		card.Body[3].Label, card.Body[3].Text,
	}
	if got := lines(m)[1:7]; strings.Join(got, "|") != strings.Join(want, "|") || m.partial || m.file.Name != "" {
		t.Errorf("partial %v, the card is\n%s\nwant\n%s", m.partial, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// However many arguments or sentences a card has, and however long their names: Slack takes it, a
// cut one has all of them in its file, and takes no tap.
func TestManyTexts(t *testing.T) {
	for _, c := range []struct{ n, label, text int }{{20, 5, 10}, {200, 10, 10}, {3, 9000, 5}, {1, 5, 20000},
		{1, 9000, 9000}, {30, 30, 600}, {1000, 50, 50}} {
		for _, kind := range []display.BlockKind{display.Line, display.Code, display.Diff} {
			card := testCard(t)
			card.Body = nil
			for i := range c.n {
				card.Body = append(card.Body, display.Block{Kind: kind, Label: fmt.Sprint(strings.Repeat("\"", c.label), i),
					Text: fmt.Sprint(strings.Repeat("\\", c.text), i)})
			}
			wantAll(t, card, c.n <= 20 && c.label+c.text < 100)
		}
	}
	card := testCard(t)
	for i := range 20 {
		card.Why = append(card.Why, fmt.Sprint(strings.Repeat("\"", 600), i))
		card.Warnings = append(card.Warnings, fmt.Sprint(strings.Repeat("\\", 600), i))
	}
	wantAll(t, card, false)
	card.Push = "🟠 HIGH · " + card.Body[0].Text // there is no block to cut
	wantAll(t, card, false)
}

func wantAll(t *testing.T, card approver.Card, fits bool) {
	t.Helper()
	m := rendered(t, card)
	if m.partial == fits || (actions(m)[0] == actApprove) != fits {
		t.Errorf("partial %v, buttons %q, want it to fit: %v", m.partial, actions(m), fits)
	}
	shown := strings.Join(lines(m), "\n")
	var texts []string
	for _, b := range card.Body {
		texts = append(texts, b.Text)
	}
	for _, text := range append(append(texts, card.Why...), card.Warnings...) {
		if !strings.Contains(shown, text) && !strings.Contains(m.file.Content, text) {
			t.Fatalf("%.30q is lost", text)
		}
	}
}

// The details are shown whole; a piece of a long line does not pass for a line of its own.
func TestLongDetails(t *testing.T) {
	claim := strings.Repeat("x", 3*maxTold) + "Rule: all is well"
	text := "Rule: git.force\nAgent says (not checked): " + claim + "\n\n\nCommand, 3 bytes:\nabc"
	var shown []string
	for _, b := range detailsDialog(display.Texts{}, approver.Outcome{Details: text}, "").Blocks.BlockSet[1:] {
		shown = append(shown, lines(message{blocks: []slack.Block{b}})[0])
	}
	if got := strings.Join(shown, "\n"); strings.ReplaceAll(got, "\n… ", "") != text {
		t.Errorf("shown are\n%q", shown)
	}
	for _, piece := range shown[1:] {
		if strings.HasPrefix(piece, "x") || strings.HasPrefix(piece, "Rule") {
			t.Errorf("a piece of a line begins a line: %.40q", piece)
		}
	}
}

// What is told to one person fits a message, however its text is escaped, and says what it hides.
func TestLongAnswer(t *testing.T) {
	for _, piece := range []string{"\"", "\\", "x", "é\n", "🔥"} {
		out := approver.Outcome{Text: "Here.", Details: strings.Repeat(piece, 50_000)}
		blocks := told(display.Texts{}, out, "approver status")
		b, err := json.Marshal(blocks)
		if err != nil {
			t.Fatal(err)
		}
		if err := slacktest.CheckBlocks(b, false); err != nil {
			t.Errorf("%q: Slack would refuse it: %v", piece, err)
		}
		if got := lines(message{blocks: blocks}); !strings.Contains(got[len(got)-1], "approver status shows all of it") {
			t.Errorf("%q: it ends with %.80q", piece, got[len(got)-1])
		}
	}
}

// What stands around the elements has its room, however wide it is.
func TestRoomAround(t *testing.T) {
	card := testCard(t)
	card.Push, card.Upto = "🟠 HIGH · "+strings.Repeat("🔥", 200), 999_999
	card.Lasting, card.Extends, card.Disowns = "the very same call", true, true
	label := strings.Repeat("\"", approver.MaxChoiceLabel)
	for range approver.MaxChoices {
		card.Choices = append(card.Choices, approver.Choice{Label: label, Detail: "x"})
	}
	most, mark := 0, strings.Repeat("m", 40)
	for n := 9000; n < 12000; n += 50 {
		card.Body = channeltest.Command(strings.Repeat("x", n))
		m := inBlocks.write(card, inBlocks.dialect(defaultCommand, defaultDenyCommand).Lay(card, cards.Fresh), mark)
		wire(t, m)
		most = max(most, jsonLength(m.blocks))
	}
	if most > maxBlocksJSON {
		t.Errorf("a card has %d bytes, more than %d", most, maxBlocksJSON)
	}
}

// Slack refuses a dialog whose title or button has more than 24 characters.
func TestDialogsFitInEveryLanguage(t *testing.T) {
	for _, l := range display.Languages() {
		texts, err := display.In(l.Tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []slack.ModalViewRequest{codeDialog(texts, "x", "", nil), whyDialog(texts, "x", ""),
			freezeDialog(texts), detailsDialog(texts, approver.Outcome{}, "")} {
			for _, o := range []*slack.TextBlockObject{v.Title, v.Submit, v.Close} {
				if o != nil && utf8.RuneCountInString(o.Text) > 24 {
					t.Errorf("%s: %q is too long", l.Tag, o.Text)
				}
			}
		}
	}
}
