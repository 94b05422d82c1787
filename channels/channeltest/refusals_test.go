package channeltest_test

import (
	"fmt"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// The story: somebody who wants to refuse opens the field for a changed command, or replies to the card in their own
// words. A "no" in the field was released to the agent as a command, and a reply such as "Nein, nimm einen Branch",
// a thumb down or a no with its reason on the next line changed nothing.
func aRefusalIsNoCommand(t *testing.T, x *story) {
	n := 0
	ask := func() (message, request string, verdict <-chan approver.Verdict) {
		n++
		call := x.call(fmt.Sprintf("make part-%d", n))
		call.Changes = true
		verdict = x.ask(t.Context(), call)
		message, request = x.card(call.Command)
		return message, request, verdict
	}
	message, request, verdict := ask()
	for _, says := range []string{
		"no", "Nein, nimm einen Branch", "don't", "/deny", "stop it", "/pending", "wait, what?",
	} {
		told := len(x.Told(x.ann))
		if err := x.Fill(x.ann, x.to.Conversation, message, fake.EditButton, says); err != nil {
			t.Fatal(err)
		}
		x.until("a word on "+says, func() bool { return len(x.Told(x.ann)) > told })
		if r := x.request(request); r.State != approver.Pending {
			t.Errorf("%q as a changed command: %v, %q", says, r.State, x.Told(x.ann)[told:])
		}
	}
	for i, says := range []string{"Nein, nimm einen Branch", "👎", "No\nuse a branch", "no! what is that?", "“no”"} {
		if i > 0 {
			message, request, verdict = ask()
		}
		if !x.ReplyTo(x.ann, x.to.Conversation, message, says) {
			t.Fatal("no reply")
		}
		x.until("the end after "+says, func() bool { return x.request(request).State.Settled() })
		if v := verdictOf(t, verdict); v.Decision != approver.Deny || x.request(request).Resolution.Person.Name != "Ann" {
			t.Errorf("%q: %+v", says, v)
		}
	}
}

// The story: in alarm somebody types /freeze where they happen to be: into the field for the reason of a no, or for a
// changed command. It was sent to the agent as a reason, or released to it as a command, and nothing was frozen.
func aFreezeInAFieldFreezes(t *testing.T, x *story) {
	for i, field := range []fake.Button{fake.WhyButton, fake.EditButton} {
		call := x.call(fmt.Sprintf("make part-%d", i))
		call.Changes = true
		verdict := x.ask(t.Context(), call)
		message, _ := x.card(call.Command)
		if err := x.Fill(x.ann, x.to.Conversation, message, field, "/freeze it went mad!"); err != nil {
			t.Fatal(err)
		}
		x.until("the freeze", func() bool {
			c, _, err := x.core.Controls.Load(t.Context())
			return err == nil && c.Frozen() && c.Freeze.Reason == "it went mad!"
		})
		if v := verdictOf(t, verdict); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		if err := x.core.Controls.Unfreeze(t.Context(), "root"); err != nil {
			t.Fatal(err)
		}
	}
}
