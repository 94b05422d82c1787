package slack_test

import (
	"context"
	"strings"
	"testing"

	"approver.example"
	"approver.example/display"
)

// A shortcut shows what waits, as the app's Home does, and one stops everything once that is confirmed.
func TestShortcuts(t *testing.T) {
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "Outcome of " + r.Want.String() + ".",
			Details: "the details"}
	}})
	b.fake.Shortcut(ann, "approver_pending")
	b.told(ann, "Outcome of pending.")
	if told := strings.Join(b.fake.Told(ann), " "); !strings.Contains(told, "the details") ||
		!strings.Contains(told, "Answer on the cards") {
		t.Errorf("the shortcut shows %q", told)
	}
	b.fake.Shortcut(ann, "approver_freeze")
	b.eventually("the question", func() bool { return b.fake.Open(ann) })
	if got := b.got(); len(got) != 1 || !strings.Contains(b.fake.Dialog(ann), "Every call") {
		t.Fatalf("it froze unasked: %+v, %q", got, b.fake.Dialog(ann))
	}
	if err := b.fake.Submit(ann, ""); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "Outcome of freeze.")
	for i, want := range []approver.Want{approver.WantPending, approver.WantFreeze} {
		if r := b.want(2)[i]; r.Want != want || r.Sender != ann || r.Conversation != "" || r.Approve {
			t.Errorf("the reply is %+v", r)
		}
	}
	b.fake.Shortcut(ann, "approver_new")
	b.told(ann, "has no such shortcut")
	for _, id := range []string{"approver_pending", "approver_freeze"} {
		b.fake.Shortcut(stranger, id)
	}
	b.eventually("two refusals", func() bool { return len(b.fake.Told(stranger)) == 2 })
	b.told(stranger, "not on the approver list")
	b.want(2)
}

// A stranger who has the dialog of somebody else's freeze stops nothing.
func TestAStrangersFreezeIsRefused(t *testing.T) {
	b := start(t, setup{})
	b.fake.Shortcut(ann, "approver_freeze")
	b.eventually("the question", func() bool { return b.fake.Open(ann) })
	p, err := b.fake.SubmitPayload(ann, "")
	if err != nil {
		t.Fatal(err)
	}
	p["user"] = object{"id": stranger, "name": "eve", "team_id": "T0HOME1234"}
	b.fake.DeliverSubmission(stranger, p)
	b.pass()
	if got := b.got(); len(got) != 0 {
		t.Errorf("it became %+v", got)
	}
}

// A shortcut of a message shows the details of a card, and says why if it is none.
func TestMessageShortcut(t *testing.T) {
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "Deploy", Details: "all of it"}
	}})
	card := b.card()
	ref := b.post(card)
	b.fake.MessageShortcut(ann, here, ref.Message, "approver_details")
	b.told(ann, "all of it")
	if r := b.want(1)[0]; r.Want != approver.WantDetails || r.Request != card.Request || r.Message != ref.Message ||
		r.Conversation != here || r.Sender != ann {
		t.Errorf("the reply is %+v", r)
	}
	b.fake.MessageShortcut(stranger, here, ref.Message, "approver_details")
	b.told(stranger, "not on the approver list")
	b.fake.MessagePayload(ben, here, "", "lunch?")
	list := b.fake.Messages(here)
	b.fake.MessageShortcut(ann, here, list[len(list)-1].TS, "approver_details")
	b.told(ann, "no card of approver")
	b.channel.Speak(func(string, string) display.Texts {
		german, err := display.In("de")
		if err != nil {
			t.Error(err)
		}
		return german
	})
	card.State, card.Result = approver.Expired, "⌛"
	if err := b.channel.Update(t.Context(), ref, card); err != nil {
		t.Fatal(err)
	}
	b.fake.MessageShortcut(ann, here, ref.Message, "approver_details")
	b.told(ann, "nimmt keine Antwort mehr an")
	b.want(1)
}
