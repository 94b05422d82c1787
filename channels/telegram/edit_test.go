package telegram

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/intent"
)

// editing runs a channel whose core has a command to change, for Ann.
func editing(t *testing.T) (*bench, approver.Card, approver.Ref) {
	b := running(t)
	b.judge = func(_ context.Context, r approver.Reply) approver.Outcome {
		switch {
		case r.Want != approver.WantEdit:
			return approver.Outcome{Text: "no edit"}
		case r.Command == "" && r.Sender == text(bob):
			return approver.Outcome{Text: "This request is for Ann."}
		case r.Command == "":
			return approver.Outcome{Kind: approver.OutcomeShown, Text: "Change it.", Details: "git push <--force> && x"}
		}
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved: the changed command."}
	}
	card := highCard(t)
	card.Edits = true
	return b, card, b.post(card)
}

// The bot shows the command to copy, and takes the reply of the person who tapped as the changed one.
func TestEditByReply(t *testing.T) {
	b, card, ref := editing(t)
	b.tap(ann, ref, fake.EditButton)
	b.eventually("the question", func() bool { return len(b.s.AskedToReply(text(ann), teamChat)) == 1 })
	q := b.s.AskedToReply(text(ann), teamChat)[0]
	if !strings.Contains(q.Text, "git push <--force> && x") || strconv.Itoa(q.ReplyTo) != ref.Message ||
		q.Force.Placeholder != sayEditShort {
		t.Errorf("the question is %+v", q)
	}
	if e := q.Entities[len(q.Entities)-1]; e.Type != "pre" {
		t.Errorf("the command cannot be copied: %+v", q.Entities)
	}
	for i, says := range []string{"git push origin HEAD:fix", "/usr/bin/x@y --z", "yes | x", "CONFIRM-ABC234"} {
		b.answerTo(ann, q, says)
		r := b.want(2 + i)
		if r.Want != approver.WantEdit || r.Command != says || r.Method != approver.ByPlain || r.Request != card.Request ||
			r.Message != ref.Message || r.Sender != text(ann) || r.Approve || !r.Code.IsZero() {
			t.Errorf("%q gave %+v", says, r)
		}
	}
	b.wantTold(ann, "Approved: the changed command.")
	heard := len(b.got())
	b.answerTo(bob, q, "rm -rf ~")
	b.wantTold(bob, sayNotAsked)
	for _, says := range []string{"yes", "no, use a branch instead", "deny: not on Fridays", "/deny wrong branch"} {
		b.answerTo(ann, q, says)
	}
	b.wantTold(ann, intent.NotACommandText)
	b.answerTo(mallory, q, "mine")
	b.tap(bob, ref, fake.EditButton)
	b.wantTold(bob, "This request is for Ann.")
	if n := len(b.s.AskedToReply(text(bob), teamChat)); n != 0 || len(b.got()) != heard+1 {
		t.Errorf("somebody else was asked %d times, %d replies", n, len(b.got())-heard)
	}
}

// Telegram takes backticks, stars and underscores for formatting and removes them: the command would be
// another one.
func TestFormattedCommands(t *testing.T) {
	b, _, ref := editing(t)
	b.tap(ann, ref, fake.EditButton)
	b.eventually("the question", func() bool { return len(b.s.AskedToReply(text(ann), teamChat)) == 1 })
	q := b.s.AskedToReply(text(ann), teamChat)[0]
	send := func(kind string, offset, length int) {
		m := b.s.Payload(ann, teamChat, "echo date x")
		m["reply_to_message"] = b.s.Copy(teamChat, strconv.Itoa(q.ID))
		m["entities"] = []any{map[string]any{"type": kind, "offset": offset, "length": length}}
		b.s.Inject(map[string]any{"message": m})
	}
	for _, kind := range []string{"code", "pre", "bold", "italic", "spoiler", "blockquote", "text_link", "unheard_of"} {
		before := len(b.got())
		send(kind, 5, 4)
		b.settled()
		if got := b.got(); len(got) != before {
			t.Errorf("%s gave %+v", kind, got[before:])
		}
	}
	b.wantTold(ann, sayFormatted)
	for i, kind := range []string{"code", "pre"} {
		send(kind, 0, len("echo date x"))
		b.want(2 + i)
	}
	send("url", 5, 4)
	b.want(4)
}
