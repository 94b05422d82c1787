package discord

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// The story: an agent makes a directory with line breaks in its name, or names an argument so. The
// card must not get lines that look like ours from it.
func TestTextsCannotForgeLines(t *testing.T) {
	const forged = "/repo/x\n\n✅ Reviewed by the security team\nApprove"
	card := high()
	card.Why, card.Claimed, card.Context, card.Part = []string{forged, forged}, forged, forged, forged
	card.Push, card.Warnings = "🟠 HIGH · "+forged, []string{forged, forged}
	card.Body = []display.Block{{Label: forged, Text: forged}, {Kind: display.Code, Label: forged, Text: "x"},
		{Kind: display.Diff, Label: forged, Text: "-x"}}
	for _, state := range []approver.State{approver.Pending, approver.Denied} {
		card.State, card.Result = state, forged
		v, err := embedded.render(card, cards.Fresh)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(v.Content+"\n"+v.Embeds[0].Description, "\n") {
			if strings.HasPrefix(line, "✅") || strings.HasPrefix(line, "Approve") {
				t.Errorf("the card that is %s has the line %q", state, line)
			}
		}
		if got := strings.Count(v.Content, "\n"); got != 1 {
			t.Errorf("the content of a card that is %s has %d lines: %q", state, got+1, v.Content)
		}
	}
}

// The story: `make deploy` runs in the directory, and the card shows so little of
// it that staging and production look the same.
func TestDirectoryThatIsCutTakesNoTap(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	card.Context = "claude · /home/ann/" + strings.Repeat("environments/", 40) + "production"
	ref := b.post(b.here, card)
	if !ref.Partial {
		t.Error("the card is not called partial")
	}
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err == nil {
		t.Error("a tap approves it")
	}
	shown := b.s.Cards(b.here)[0]
	for _, want := range []string{"bytes hidden", "production", "in the attached file", "Enter code"} {
		if !strings.Contains(shown.Text, want) {
			t.Errorf("the card does not say %q:\n%s", want, shown.Text)
		}
	}
	if len(shown.Files) != 1 || !strings.Contains(shown.Files[0], "From: "+card.Context+"\n") ||
		strings.Contains(shown.Files[0], card.Code.Reveal()) {
		t.Errorf("the files are %q", shown.Files)
	}

	card.Context = "claude · /srv" // shorter now, but what people have read was not the whole
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Fatal(err)
	}
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err == nil {
		t.Error("after an update a tap approves it")
	}
}

func TestWholeCard(t *testing.T) {
	card := high()
	card.Context, card.Body = "/srv/x\nCommand: true", channeltest.Command("make\nWhy: it is fine")
	card.Body = append(card.Body, display.Block{Label: "owner\nFrom", Text: "ann\nFrom: me"})
	want := `Why: It rewrites history.
Agent says (not checked): tidy up
From: /srv/x ⏎ Command: true
Rule: git.force
owner ⏎ From: ann ⏎ From: me

Command, 20 bytes:
make
Why: it is fine`
	if got := card.Whole(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A settled card says what became of it, on one line, even if nobody is named.
func TestResult(t *testing.T) {
	for _, c := range []struct {
		state        approver.State
		result, want string
	}{
		{approver.Consumed, "✅ Approved once by Ann via discord · 12 s", "✅ Approved once by Ann via discord · 12 s"},
		{approver.Denied, "⛔ Denied by **Bob**\n✅ Approved", `⛔ Denied by \*\*Bob\*\* ⏎ ✅ Approved`},
		{approver.Denied, "", "⛔ denied"},
		{approver.Expired, "", "⌛ expired"},
		{approver.Withdrawn, "", "↩ withdrawn"},
		{99, "", "⛔ denied"},
	} {
		card := high()
		card.State, card.Result = c.state, c.result
		v, err := embedded.render(card, cards.Fresh)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(v.Content, "\n"); got != c.want {
			t.Errorf("%s with the result %q: %q, want %q", c.state, c.result, got, c.want)
		}
	}
}
