package discord

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// shows starts Run with a core that shows these details of every request.
func (b *bench) shows(details *atomic.Value) *bench {
	b.t.Helper()
	return b.run(func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Want != approver.WantDetails {
			return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
		}
		text, _ := details.Load().(string)
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "🟠 HIGH · Force-push main", Details: text}
	})
}

// Details come from the core, whole, and are shown as they are to whoever asked.
func TestDetails(t *testing.T) {
	t.Parallel()
	var details atomic.Value
	b := newBench(t, nil).shows(&details)
	card := high()
	ref := b.post(b.here, card)
	for i, text := range []string{
		"Rule: git.force\n\nCommand, 44 bytes:\ngit push\n\techo '<@1> **x**' `date`",
		strings.Repeat("echo hello; ", 200), "echo ```\n@everyone\n``` `x`",
		strings.Repeat("echo 漢🔥 `x` ``` ", 5000) + "the end",
	} {
		details.Store(text)
		if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DetailsButton); err != nil {
			t.Fatal(err)
		}
		b.told(b.ann, text)
		r := b.one(i)
		if r.Want != approver.WantDetails || r.Approve || r.Request != card.Request || r.Message != ref.Message ||
			r.Conversation != b.here || r.Sender != b.ann || !r.Code.IsZero() {
			t.Errorf("the core was asked for %+v", r)
		}
	}
	details.Store("secret stuff")
	if err := b.s.Tap(b.mallory, b.here, ref.Message, fake.DetailsButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.mallory, "not on the approver list")
	if strings.Contains(strings.Join(b.s.Told(b.mallory), "\n"), "secret stuff") || len(b.got()) != 4 {
		t.Error("a stranger was shown the details")
	}
	if got := b.s.Cards(b.here); len(got) != 1 || len(b.s.Pings()) != 0 {
		t.Errorf("the details are public, or notify %q: %d messages", b.s.Pings(), len(got))
	}
}

// A core that shows nothing says why.
func TestDetailsOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).run(func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "There is no such request in this conversation."}
	})
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DetailsButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "There is no such request")
}

// The story: a person presses Details on a long request, and sees an empty file because the first
// try was lost, or "thinking…" for ever because Discord does not take the file.
func TestDetailsThatDiscordDoesNotTake(t *testing.T) {
	t.Parallel()
	long := "begin " + strings.Repeat("make all; ", 5000) + "the end"
	for name, c := range map[string]struct {
		trip fake.Trip
		want string
	}{
		"a try that is lost": {fake.Trip{Status: 500}, long},
		"too large":          {fake.Trip{Status: 413, Body: `{"code":40005,"message":"Too large"}`}, "bytes hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var details atomic.Value
			details.Store(long)
			b := newBench(t, nil).shows(&details)
			ref := b.post(b.here, high())
			c.trip.Call, c.trip.Times = "PATCH /api/v10/webhooks/", 1
			b.s.Trips.Add(c.trip)
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DetailsButton); err != nil {
				t.Fatal(err)
			}
			b.told(b.ann, c.want)
			b.told(b.ann, "the end")
		})
	}
}
