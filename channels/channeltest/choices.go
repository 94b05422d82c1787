package channeltest

import (
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// This file checks the choices of an agent's own question. A yes that means more than this one call
// needs the whole text of what it means on the card, and a button of its own.

var choiceChecks = []check{
	{"each choice is shown whole and has a button", checkChoices},
	{"a card that was cut offers no choice", checkChoicesOfCut},
	{"a card without one tap offers no choice", checkChoicesNoTap},
	{"the longest choices fit", checkLongChoices},
	{"a settled card has no choices", checkChoicesSettled},
}

// chosen is a card with choices, whose texts have what markup and previews would change.
func chosen(t *testing.T) approver.Card {
	t.Helper()
	card := high(t)
	card.Choices = []approver.Choice{
		{Label: "session: acceptEdits", Detail: "in this session, claude no longer asks before edits (mode acceptEdits)"},
		{Label: "localSettings: Bash(npm run *)",
			Detail: "claude no longer asks for Bash(npm run *) <@1> *a* `b` ~c~ https://example.org/x: " +
				".claude/settings.local.json"},
	}
	return card
}

func wantChoices(t *testing.T, s fake.Shown, card approver.Card, offered bool) {
	t.Helper()
	for i, c := range card.Choices {
		if got := slices.Contains(s.Buttons, fake.ChoiceButton(i+1)); got != offered {
			t.Errorf("choice %d has a button: %v, want %v (%v)", i+1, got, offered, s.Labels)
		}
		if offered && !strings.Contains(words(s.Text), words(approver.ChoiceLine(i+1, c))) {
			t.Errorf("choice %d is not shown whole:\n%s", i+1, s.Text)
		}
	}
	if slices.Contains(s.Buttons, fake.ChoiceButton(len(card.Choices)+1)) {
		t.Errorf("there is a button of a choice that the card does not have")
	}
}

// words are those of a text, so that a line may be broken between them.
func words(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(plain(s), "┊", " ")), " ")
}

func checkChoices(t *testing.T, m maker) {
	b, card, ref := posted(t, m, chosen)
	wantChoices(t, b.shown(ref), card, true)
	wantButtons(t, b.shown(ref), true)
	for i := range card.Choices {
		b.tap(b.Approver, ref, fake.ChoiceButton(i+1))
		r := b.wantReplies(i + 1)[i]
		b.fromHere(r)
		b.wantTapOf(r, card, ref)
		if !r.Approve || r.Choice != i+1 || !r.Code.IsZero() || r.Shown != 0 {
			t.Errorf("a tap on choice %d gave %+v", i+1, r)
		}
	}
	n := len(card.Choices)
	for i, button := range []fake.Button{fake.ApproveButton, fake.DenyButton} {
		b.tap(b.Approver, ref, button)
		if r := b.wantReplies(n + i + 1)[n+i]; r.Choice != 0 || r.Approve != (i == 0) {
			t.Errorf("a tap on another button gave %+v", r)
		}
	}
}

func checkChoicesOfCut(t *testing.T, m maker) {
	b := start(t, m)
	card := chosen(t)
	card.Body = Command(strings.Repeat("echo a long line of a command\n", 4000))
	ref, s := b.post(b.Here, card)
	wantChoices(t, s, card, !ref.Partial)
	wantWhole(t, ref, s, card)
}

func checkChoicesNoTap(t *testing.T, m maker) {
	b := start(t, m)
	card := chosen(t)
	card.OneTap = false
	ref, s := b.post(b.Here, card)
	wantChoices(t, s, card, false)
	if err := b.Fake.Tap(b.Approver, ref.Conversation, ref.Message, fake.ChoiceButton(1)); err == nil {
		t.Errorf("the fake let an honest client press a button that is not there")
	}
}

func checkLongChoices(t *testing.T, m maker) {
	b := start(t, m)
	for _, n := range []int{100, 1200, 1990, 2500, 2990, 3400, 4090} {
		card := high(t)
		card.Body = Command(strings.Repeat("abcdefg ", n/8) + "END-" + card.Request[24:])
		for i := range approver.MaxChoices {
			card.Choices = append(card.Choices, approver.Choice{
				Label:  strings.Repeat("l", approver.MaxChoiceLabel),
				Detail: strings.Repeat(string(rune('a'+i))+"_*", approver.MaxChoiceDetail/3),
			})
		}
		ref, s := b.post(b.Here, card)
		wantWhole(t, ref, s, card)
		wantChoices(t, s, card, !ref.Partial)
	}
}

func checkChoicesSettled(t *testing.T, m maker) {
	b, card, ref := posted(t, m, chosen)
	result := "✅ Approved by Ann, and: in this session"
	wantSettled(t, b.update(ref, settled(card, approver.Consumed, result)), card, "✅", result)
}
