package slack_test

import (
	"context"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

const wasCommand = "git push <--force> && x\n\t  end :tada:"

// The dialog has the command of the card, exactly. One that the core refuses leaves it open, with the
// reason; one that it takes closes it.
func TestEditDialog(t *testing.T) {
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		switch {
		case r.Command == "" && r.Sender == ben:
			return approver.Outcome{Text: "This request is for Ann."}
		case r.Command == "":
			return approver.Outcome{Kind: approver.OutcomeShown, Text: "Change it.", Details: wasCommand}
		case r.Command == "rm -rf /":
			return approver.Outcome{Kind: approver.OutcomeNeedCode, Text: "The changed command is CATASTROPHIC."}
		}
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved: the changed command."}
	}})
	card := b.full()
	card.Edits = true
	ref := b.post(card)
	if err := b.fake.Tap(ann, here, ref.Message, fake.EditButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the dialog", func() bool { return b.fake.Open(ann) })
	if got := b.fake.Prefilled(ann); got != wasCommand || !strings.Contains(b.fake.Dialog(ann), card.Push) {
		t.Errorf("the dialog has %q: %s", got, b.fake.Dialog(ann))
	}
	for _, text := range []string{"  ", "rm -rf /", "git push origin HEAD:fix"} {
		if err := b.fake.Submit(ann, text); err != nil {
			t.Fatal(err)
		}
		b.pass()
	}
	b.told(ann, "Nothing was typed")
	b.told(ann, "The changed command is CATASTROPHIC.")
	b.eventually("the dialog closes", func() bool { return !b.fake.Open(ann) })
	b.told(ann, "Approved: the changed command.")
	for i, command := range []string{"", "rm -rf /", "git push origin HEAD:fix"} {
		if r := b.want(3)[i]; r.Want != approver.WantEdit || r.Command != command || r.Method != approver.ByTap ||
			r.Request != card.Request || r.Message != ref.Message || r.Sender != ann || r.Conversation != here || r.Approve {
			t.Errorf("%q gave %+v", command, r)
		}
	}
	if err := b.fake.Fill(ben, here, ref.Message, fake.EditButton, "x"); err != nil {
		t.Fatal(err)
	}
	b.told(ben, "This request is for Ann.")
	if b.fake.Open(ben) {
		t.Error("a dialog opens for somebody who may not")
	}
}
