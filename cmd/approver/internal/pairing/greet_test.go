package pairing

import (
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// Only the person's own first answer to the test card counts, by a button or with its code, and
// nothing that is said then says that anything ran.
func TestOnlyTheirOwnTapCounts(t *testing.T) {
	card, err := testCard(time.Now(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reply approver.Reply
		kind  approver.OutcomeKind
	}{
		"a tap":              {approver.Reply{Request: card.Request, Sender: "1", Approve: true}, approver.OutcomeApproved},
		"a no":               {approver.Reply{Request: card.Request, Sender: "1"}, approver.OutcomeDenied},
		"the code":           {approver.Reply{Code: card.Code, Sender: "1", Approve: true}, approver.OutcomeApproved},
		"another person":     {approver.Reply{Request: card.Request, Sender: "2", Approve: true}, approver.OutcomeRefused},
		"another card":       {approver.Reply{Request: "x", Sender: "1", Approve: true}, approver.OutcomeUnknown},
		"another code":       {approver.Reply{Code: other, Sender: "1", Approve: true}, approver.OutcomeUnknown},
		"the card, not code": {approver.Reply{Request: card.Request, Code: other, Sender: "1"}, approver.OutcomeUnknown},
		"nothing":            {approver.Reply{Sender: "1", Approve: true}, approver.OutcomeUnknown},
	} {
		trial := &trial{who: approver.Paired{ID: "1"}, tapped: make(chan approver.Reply, 2), card: card, posted: time.Now()}
		out := trial.reply(t.Context(), c.reply)
		counts := c.kind == approver.OutcomeApproved || c.kind == approver.OutcomeDenied
		if out.Kind != c.kind || len(trial.tapped) == 1 != counts || out.Text == "" {
			t.Errorf("%s: %+v, %d taps", name, out, len(trial.tapped))
		}
		again := trial.reply(t.Context(), c.reply)
		if counts && (again.Kind != approver.OutcomeUsed || len(trial.tapped) != 1) {
			t.Errorf("%s, again: %+v", name, again)
		}
	}
	before := &trial{who: approver.Paired{ID: "1"}, tapped: make(chan approver.Reply, 1)}
	if out := before.reply(t.Context(), approver.Reply{Sender: "1", Approve: true}); out.Kind != approver.OutcomeUnknown {
		t.Errorf("before the card is there: %+v", out)
	}
	if !strings.Contains(card.Push, "TEST") || !strings.Contains(card.Body[0].Text, "nothing runs") || card.Code.IsZero() {
		t.Errorf("the card does not say that it is a test: %+v", card)
	}
}

// The greeting names the person if the platform tells a name.
func TestGreeting(t *testing.T) {
	for who, want := range map[approver.Paired]string{
		{ID: "1", Name: "Ada"}: "You are paired, Ada. ",
		{ID: "U1", Name: "U1"}: "You are paired. ",
		{ID: "1"}:              "You are paired. ",
	} {
		if got := greeting(who, "/help"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "/help says what works.") {
			t.Errorf("%+v is greeted with %q", who, got)
		} else if !strings.Contains(got, "a force-push, deleting files, sending a secret") {
			t.Errorf("it does not say what is asked: %q", got)
		}
	}
}
