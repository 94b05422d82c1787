package discord

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

func rendered(t *testing.T, card approver.Card) view {
	t.Helper()
	v, err := embedded.render(card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	checkLimits(t, v)
	return v
}

// A person reads from the top: what would happen and until when, the call, why, what to beware of,
// what the agent says, who asks, and how to answer.
func TestOrder(t *testing.T) {
	card := high()
	card.Body, card.Part = channeltest.Command("make\ngit push --force origin main"), "git push --force"
	card.Warnings = []string{"./deploy.sh can change after you answer."}
	v := rendered(t, card)
	content := fmt.Sprintf("🟠 HIGH · Force-push main\n⏳ <t:%d:R> · no answer by then is a no", card.Due.Unix())
	if want := content; v.Content != want {
		t.Errorf("the message is %q, want %q", v.Content, want)
	}
	want := "```bash\nmake\ngit push --force origin main\n```\n" +
		"**👉** git push --force\n" +
		"**Why** It rewrites history.\n" +
		"**⚠️** ./deploy.sh can change after you answer.\n" +
		"**Agent says (not checked):** tidy up\n" +
		"**👤** claude of ann \\@ devbox · \\~/src\n" +
		"Or type this to approve once: `" + card.Code.Reveal() + "`"
	if v.Embeds[0].Description != want {
		t.Errorf("the card is\n%s\nwant\n%s", v.Embeds[0].Description, want)
	}
	card.State, card.Result = approver.Consumed, "✅ Approved once by Ann"
	v = rendered(t, card)
	if !strings.HasSuffix(v.Content, "\n✅ Approved once by Ann") || strings.Contains(v.Content, "<t:") {
		t.Errorf("settled, the message is %q", v.Content)
	}
	if d := v.Embeds[0].Description; strings.Contains(d, "CONFIRM-") || strings.Contains(d, "👉") {
		t.Errorf("settled, the card is\n%s", d)
	}
}

// A command that the first line has whole is not repeated below it, until it has ended.
func TestCommandOfTheHeadline(t *testing.T) {
	for command, repeats := range map[string]bool{
		"make deploy": false, "make deploy ": true, "make": true, "make\ndeploy": true,
	} {
		card := high()
		card.Push, card.Body = "🟠 HIGH · make deploy (acme/shop)", channeltest.Command(command)
		v := rendered(t, card)
		if got := strings.Contains(v.Embeds[0].Description, "```bash"); got != repeats || v.partial {
			t.Errorf("%q is shown twice: %v, partial: %v", command, got, v.partial)
		}
		card.State = approver.Denied
		if v = rendered(t, card); !strings.Contains(v.Embeds[0].Description, command) {
			t.Errorf("settled, the card does not show %q", command)
		}
	}
	card := high() // shown in the headline only, where back-ticks are as they are
	card.Push, card.Body = "🟠 HIGH · echo ```x```", channeltest.Command("echo ```x```")
	if v := rendered(t, card); v.file.Name != "" || discordtest.Drawn(v.Content)[:len(card.Push)] != card.Push {
		t.Errorf("the card has the file %q and the message %q", v.file.Name, v.Content)
	}
}

// Several blocks, each under its label; the labels are the agent's words too.
func TestBlocks(t *testing.T) {
	card := high()
	card.Body = []display.Block{
		{Label: "**owner** @everyone <@1>", Text: "[acme](https://evil.example) `x`"}, {Text: "✅ no label"},
		{Kind: display.Code, Label: "```query``` *x", Text: "select 1\n\tfrom t"},
		{Kind: display.Diff, Label: "~/.bashrc", Text: "-PATH=/bin\n+PATH=/evil:/bin\n ```\n+x"},
	}
	v := rendered(t, card)
	drawn := discordtest.Drawn(v.Embeds[0].Description)
	for _, want := range []string{
		"**owner** @everyone <@1>: [acme](https://evil.example) `x`\n", "·: ✅ no label\n",
		"```query``` *x\nselect 1\n\tfrom t\n", "~/.bashrc\n-PATH=/bin\n+PATH=/evil:/bin\n `\u200b``\n+x\n",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the card lacks %q:\n%s", want, drawn)
		}
	}
	if v.partial || v.file.Name != "change.txt" || v.file.Content != card.Body[3].Text {
		t.Errorf("partial %v, file %+v", v.partial, v.file)
	}
	card.Body[2].Text = strings.Repeat("select 1;\n", 2000) // one is cut, another one altered: both are in the file
	v = rendered(t, card)
	if !v.partial || v.file.Name != "card.txt" || !strings.Contains(v.file.Content, card.Body[2].Text) ||
		!strings.Contains(v.file.Content, card.Body[3].Text) {
		t.Errorf("partial %v, file %s of %d bytes", v.partial, v.file.Name, len(v.file.Content))
	}
}

// However many arguments a call has, and however long their names: the card can be posted, and
// has all of them in its file where it is cut.
func TestManyArguments(t *testing.T) {
	for _, c := range []struct{ n, label, text int }{{30, 5, 10}, {60, 10, 10}, {3, 9000, 5}, {1, 5, 9000},
		{1, 9000, 9000}, {30, 30, 400}, {1000, 50, 50}} {
		for _, kind := range []display.BlockKind{display.Line, display.Code, display.Diff} {
			card := high()
			card.Body = nil
			for i := range c.n {
				card.Body = append(card.Body, display.Block{Kind: kind, Label: fmt.Sprint(strings.Repeat("_", c.label), i),
					Text: fmt.Sprint(strings.Repeat("*", c.text), i)})
			}
			v := rendered(t, card)
			drawn := discordtest.Drawn(v.Embeds[0].Description)
			for _, b := range card.Body {
				shown := strings.Contains(drawn, b.Label) && strings.Contains(drawn, b.Text)
				if !shown && (!v.partial || !strings.Contains(v.file.Content, b.Text)) {
					t.Fatalf("%+v of kind %d: %.20q is lost", c, kind, b.Text)
				}
			}
			if n := c.n * (c.label + c.text); n > 4096 != v.partial {
				t.Errorf("%+v of kind %d: partial %v", c, kind, v.partial)
			}
		}
	}
}

// However many sentences a card has, Discord takes it, and a cut one takes no tap.
func TestManySentences(t *testing.T) {
	card := high()
	for i := range 20 {
		card.Why = append(card.Why, fmt.Sprint(strings.Repeat("_", 600), i))
		card.Warnings = append(card.Warnings, fmt.Sprint(strings.Repeat("*", 600), i))
	}
	for _, command := range []string{"Force-push main", strings.Repeat("make\n", 9000)} { // in the headline, and cut
		card.Body = channeltest.Command(command)
		v := rendered(t, card)
		if !v.partial || strings.Contains(strings.Join(labels(v), ""), "Approve") {
			t.Errorf("partial %v, buttons %q", v.partial, labels(v))
		}
		for _, text := range append(card.Why, card.Warnings...) {
			if !strings.Contains(v.file.Content, text) {
				t.Fatalf("the file lacks %q", text)
			}
		}
	}
}

// A card without a code is answered by its buttons alone.
func TestCardWithoutCode(t *testing.T) {
	card := high()
	card.Code = tokens.Code{}
	if v := rendered(t, card); strings.Contains(v.Embeds[0].Description, "Code:") {
		t.Errorf("the card is\n%s", v.Embeds[0].Description)
	}
	card.Severity = approver.Catastrophic
	if v := rendered(t, card); !strings.HasSuffix(v.Embeds[0].Description, "This card can only be refused.") {
		t.Errorf("the card is\n%s", v.Embeds[0].Description)
	}
}

// Texts that leave no room are cut no shorter than they have to be.
func TestTightTexts(t *testing.T) {
	card, long := high(), strings.Repeat("_", 600)
	card.Body = channeltest.Command("Force-push main") // the headline has it
	card.Why, card.Warnings, card.Claimed, card.Context = []string{long, long}, []string{long}, long, long
	v := rendered(t, card)
	if want := "**Why** " + strings.Repeat(`\_`, 60); !v.partial || !strings.Contains(v.Embeds[0].Description, want) {
		t.Errorf("partial %v, the card is\n%s", v.partial, v.Embeds[0].Description)
	}
}

// Discord refuses a dialog whose label has more than 45 characters, or a placeholder more than 100.
func TestDialogsFitInEveryLanguage(t *testing.T) {
	for _, l := range display.Languages() {
		texts, err := display.In(l.Tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []struct {
			says string
			most int
		}{{"Type the code of this card", 45}, {"Deny: why? The agent is told this.", 45}, {"Use a branch instead.", 100}} {
			if said := texts.Text(text.says); cards.Units(said) > text.most {
				t.Errorf("%s: %q is too long", l.Tag, said)
			}
		}
	}
}
