package slack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack/slacktest"
)

func TestCodeDialog(t *testing.T) {
	outcome := make(chan approver.Outcome, 1)
	b := start(t, setup{outcome: func(context.Context, approver.Reply) approver.Outcome { return <-outcome }})
	card := b.catastrophic()
	ref := b.post(card)

	enter := func(text string) {
		t.Helper()
		if err := b.fake.EnterCode(ann, here, ref.Message, text); err != nil {
			t.Fatal(err)
		}
	}
	enter("make it so")
	b.told(ann, "not a confirmation code")
	enter("don’t! CONFIRM-ACDEFGHJ") // the dialog approves: a refusal in it must not
	b.told(ann, "/deny and the code")
	if !b.fake.Open(ann) || len(b.got()) != 0 {
		t.Fatalf("a text that is no code must keep the dialog open and reach nobody: %+v", b.got())
	}
	outcome <- approver.Outcome{Kind: approver.OutcomeUnknown, Text: "That code is wrong."}
	enter("CONFIRM-ACDEFGHJ")
	b.told(ann, "That code is wrong.")
	if !b.fake.Open(ann) {
		t.Error("a wrong code must keep the dialog open for another try")
	}
	outcome <- approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved: it runs."}
	if err := b.fake.Submit(ann, strings.ToLower(card.Code.Reveal())); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "Approved: it runs.")
	b.eventually("the dialog closes", func() bool { return !b.fake.Open(ann) })
	r := b.want(2)[1]
	if !r.Approve || r.Method != approver.ByCode || r.Request != card.Request || r.Message != ref.Message ||
		!r.Code.Equal(card.Code) ||
		r.Conversation != here || r.Sender != ann || r.Name != "ann" {
		t.Errorf("the reply is %+v", r)
	}
}

// The dialog's acknowledgement waits for the outcome, but not beyond Slack's
// three seconds; then the person is told in another way.
func TestSlowCode(t *testing.T) {
	t.Parallel()
	b := start(t, setup{outcome: func(ctx context.Context, _ approver.Reply) approver.Outcome {
		select {
		case <-time.After(3300 * time.Millisecond):
		case <-ctx.Done():
		}
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "That code is wrong."}
	}})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.EnterCode(ann, here, ref.Message, card.Code.Reveal()); err != nil {
		t.Fatal(err)
	}
	b.fake.Type(ben, here, "/deny "+card.Code.Reveal())
	b.told(ann, "That code is wrong.")
	b.told(ben, "That code is wrong.")
	b.want(2)
	if n := b.fake.Count("attempt 1"); n != 0 {
		t.Errorf("%d events were delivered again: their acknowledgement was late", n)
	}
	if got := strings.Join(append(b.fake.Told(ann), b.fake.Told(ben)...), "\n"); strings.Contains(got, "trouble") ||
		strings.Contains(got, "dispatch_failed") {
		t.Errorf("Slack complained: %s", got)
	}
}

func TestForgedDialogs(t *testing.T) {
	b := start(t, setup{})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.Tap(ann, here, ref.Message, fake.CodeButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the dialog", func() bool { return b.fake.Open(ann) })
	for name, change := range map[string]func(p object){
		"another app":                   func(p object) { p["api_app_id"] = "A0EVIL1234" },
		"another workspace":             func(p object) { p["team"] = object{"id": "T0EVIL1234"} },
		"a member of another workspace": func(p object) { p["user"] = object{"id": ann, "team_id": "T0EVIL1234"} },
		"a stranger":                    func(p object) { p["user"] = object{"id": stranger, "team_id": slacktest.Team} },
		"another dialog":                func(p object) { p["view"] = with(p["view"], "callback_id", "evil") },
		"another conversation": func(p object) {
			p["view"] = with(p["view"], "private_metadata",
				`{"r":"x","c":"C0EVIL1234","m":"1"}`)
		},
		"no place": func(p object) { p["view"] = with(p["view"], "private_metadata", "") },
		"no code":  func(p object) { p["view"] = with(p["view"], "state", nil) },
	} {
		p, err := b.fake.SubmitPayload(ann, card.Code.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		b.fake.Deliver("interactive", p)
		b.pass()
		if got := b.got(); len(got) != 0 {
			t.Fatalf("%s: it became %+v", name, got)
		}
	}
	if err := b.fake.Submit(ann, card.Code.Reveal()); err != nil {
		t.Fatal(err)
	}
	b.want(1)
}

func TestDetails(t *testing.T) {
	details := "Rule: deploy\n\nCommand, 9999 bytes:\n" + strings.Repeat("a line of the command\n", 2000) + "the last line"
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Want != approver.WantDetails {
			return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Noted."}
		}
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "🟠 HIGH · Deploy", Details: details}
	}})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.Tap(ben, here, ref.Message, fake.DetailsButton); err != nil {
		t.Fatal(err)
	}
	b.told(ben, "🟠 HIGH · Deploy\n"+details)
	got := b.got()
	if len(got) != 1 || got[0].Want != approver.WantDetails || got[0].Approve || got[0].Request != card.Request ||
		got[0].Message != ref.Message || got[0].Conversation != here || got[0].Sender != ben || !got[0].Code.IsZero() {
		t.Errorf("the core was asked for %+v", got)
	}
	if len(b.fake.Pinged()) != 0 {
		t.Errorf("looking notified %q", b.fake.Pinged())
	}
	if err := b.fake.Tap(stranger, here, ref.Message, fake.DetailsButton); err != nil {
		t.Fatal(err)
	}
	b.told(stranger, "not on the approver list")
	if strings.Contains(strings.Join(b.fake.Told(stranger), ""), "the last line") {
		t.Error("a stranger was shown the details")
	}
}

// A dialog that Slack does not open is said, not swallowed.
func TestDialogTooLate(t *testing.T) {
	b := start(t, setup{opts: slacktest.Options{TriggerTTL: time.Nanosecond}})
	ref := b.post(b.catastrophic())
	if err := b.fake.Tap(ann, here, ref.Message, fake.CodeButton); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "Press the button again")
}
