package discord

import (
	"context"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/cards"
)

const wasCommand = "git push --force\n\t`x` *y*  end"

// The dialog has the command of the card, exactly, and what a person makes of it is for the core to judge.
func TestEditDialog(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.run(func(_ context.Context, r approver.Reply) approver.Outcome {
		switch {
		case r.Command == "" && r.Sender == b.bob:
			return approver.Outcome{Text: "This request is for Ann."}
		case r.Command == "":
			return approver.Outcome{Kind: approver.OutcomeShown, Text: "Change it.", Details: wasCommand}
		}
		return approver.Outcome{Text: "The changed command is denied: no."}
	})
	b.until("the connection", func() bool { return !b.c.Reception().Good.IsZero() })
	card := catastrophic()
	card.Edits = true
	ref := b.post(b.here, card)
	d, err := b.s.Open(b.ann, b.here, ref.Message, fake.EditButton)
	if err != nil {
		t.Fatal(err)
	}
	if d.Value != wasCommand || !d.Long || d.Most != approver.MaxCommand || d.Title != card.Push {
		t.Errorf("the dialog is %+v", d)
	}
	want := approver.Reply{Channel: Name, Conversation: b.here, Sender: b.ann, Name: "Ann", Method: approver.ByTap,
		Want: approver.WantEdit, Request: card.Request, Message: ref.Message}
	if got := b.one(0); got != want {
		t.Errorf("the press gave %+v", got)
	}
	const text = " git push origin HEAD:fix\n"
	if err := d.Submit(text); err != nil {
		t.Fatal(err)
	}
	want.Command = text
	if got := b.one(1); got != want {
		t.Errorf("the dialog gave %+v", got)
	}
	b.told(b.ann, "The changed command is denied: no.")
	if err := d.Submit(" \n"); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "so nothing was changed")
	if err := b.s.Tap(b.bob, b.here, ref.Message, fake.EditButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.bob, "This request is for Ann.")
	if n := b.s.Dialogs(b.bob); n != 0 || len(b.got()) != 3 {
		t.Errorf("%d dialogs for somebody else, %d replies", n, len(b.got()))
	}
}

// The button is only on a card that offers it and shows everything as it is.
func TestEditButton(t *testing.T) {
	for name, change := range map[string]func(*approver.Card){
		"offered":        func(*approver.Card) {},
		"not offered":    func(c *approver.Card) { c.Edits = false },
		"a long command": func(c *approver.Card) { c.Body[0].Text = strings.Repeat("a ", 4000) },
		"a fence":        func(c *approver.Card) { c.Body[0].Text += "```x" },
		"settled":        func(c *approver.Card) { c.State = approver.Denied },
	} {
		card := everything()
		card.Edits = true
		change(&card)
		has := false
		for _, row := range dialect().Lay(card, cards.Fresh).Rows {
			for _, b := range row {
				has = has || b.Action == cards.Edit
			}
		}
		if has != (name == "offered") {
			t.Errorf("%s: %t", name, has)
		}
	}
}
