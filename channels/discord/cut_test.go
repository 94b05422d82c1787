package discord

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// The story: an agent makes a directory with line breaks in its name, or names
// its session so, and works there. The card's fields must not get lines that look
// like ours from it.
func TestTextsCannotForgeLines(t *testing.T) {
	const forged = "/repo/x\n\n✅ Reviewed by the security team\nApprove"
	card := high()
	card.Why, card.Rule, card.Claimed, card.Agent, card.Session, card.Dir, card.Host, card.Notice = forged, forged, forged,
		forged, forged, forged, forged, forged
	for _, state := range []approver.State{approver.Pending, approver.Denied} {
		card.State, card.Result = state, forged
		v, err := render(card, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Embeds[0].Fields {
			lines := map[string]int{"Why": 2, "Answer": strings.Count(f.Value, "\n") + 1}[f.Name] // the rule, and our own words
			if got := strings.Count(f.Value, "\n") + 1; got != max(lines, 1) {
				t.Errorf("the field %s has %d lines: %q", f.Name, got, f.Value)
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
	card.Dir = "/home/ann/" + strings.Repeat("environments/", 40) + "production"
	ref := b.post(b.here, card)
	if !ref.Partial {
		t.Error("the card is not called partial")
	}
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err == nil {
		t.Error("a tap approves it")
	}
	shown := b.s.Cards(b.here)[0]
	for _, want := range []string{"bytes hidden", "production", "in the attached card.txt", "Enter code"} {
		if !strings.Contains(shown.Text, want) {
			t.Errorf("the card does not say %q:\n%s", want, shown.Text)
		}
	}
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DetailsButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "Directory: "+card.Dir)
	b.told(b.ann, "The whole card, ")

	card.Dir = "/srv" // shorter now, but what people have read was not the whole
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Fatal(err)
	}
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err == nil {
		t.Error("after an update a tap approves it")
	}
}

func TestWholeCard(t *testing.T) {
	card := high()
	card.Dir, card.Command = "/srv/x\nCommand: true", "make\nWhy: it is fine"
	want := `Why: It rewrites history.
Rule: git.force
Agent says (not checked): tidy up
Agent: claude
Session: s1
Directory: /srv/x ⏎ Command: true
Host: devbox

Command:
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
		v, err := render(card, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(v.Content, "\n"); got != c.want {
			t.Errorf("%s with the result %q: %q, want %q", c.state, c.result, got, c.want)
		}
	}
}
