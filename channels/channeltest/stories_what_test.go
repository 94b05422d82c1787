package channeltest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// Stories of what was approved.

// The story (B9): the card showed the beginning, and all of it ran. A call that does not fit stands whole in a file
// beside the card, the card says how much it hides, and neither a tap nor a plain yes is enough for it.
func aCutCardTakesNoTap(t *testing.T, x *story) {
	var script strings.Builder
	for i := range 900 {
		fmt.Fprintf(&script, "echo line number %d of the script\n", i)
	}
	script.WriteString("rm -rf /srv/last")
	answer := x.ask(t.Context(), x.call(script.String()))
	message, request := x.cardOf(func(c approver.ToolCall) bool { return strings.HasPrefix(c.Command, "echo") },
		"line number 0 ")
	card := x.shown(message)
	whole := false
	for _, c := range x.Cards(x.to.Conversation) {
		for _, f := range c.Files {
			whole = whole || strings.Contains(f, script.String())
		}
	}
	if !whole || !strings.Contains(card.Text, "hidden") {
		t.Errorf("a file has all of it: %v; the card is %s", whole, card.Text)
	}
	for _, b := range []fake.Button{fake.ApproveButton, fake.QuarterButton, fake.SessionButton} {
		x.refused(x.ann, message, request, b)
	}
	told := len(x.Told(x.ann))
	x.ReplyTo(x.ann, x.to.Conversation, message, "yes")
	x.until("a word on the yes", func() bool { return len(x.Told(x.ann)) > told })
	if r := x.request(request); r.State != approver.Pending {
		t.Fatalf("it is %v", r.State)
	}
	if err := x.EnterCode(x.ann, x.to.Conversation, message, codeOnCard.FindString(card.Text)); err != nil {
		t.Fatal(err)
	}
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
}

// The story (B10): people read one command, and another ran under their yes, because what identified a call was
// cut, trimmed or lacked its folder. A yes releases the very call of the card; one that differs by a blank,
// by its folder or by another argument is asked about by itself.
func aYesIsForTheCallOfItsCard(t *testing.T, x *story) {
	first := x.call("make release")
	answer := x.ask(t.Context(), first)
	message, _ := x.card("make release")
	trailing, folder, argument := first, first, first
	trailing.Command, trailing.Args = "make release ", []byte(`{"command":"make release "}`)
	folder.Dir = "/other"
	argument.Args = []byte(`{"command":"make release","timeout":9}`)
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Fatalf("%+v", v)
	}
	for name, call := range map[string]approver.ToolCall{"a blank": trailing, "a folder": folder,
		"an argument": argument} {
		ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
		if v := verdictOf(t, x.ask(ctx, call)); v.Decision == approver.Allow {
			t.Errorf("the yes was for a call with another %s, too", name)
		}
		leave()
	}
}

// The story (B11): "always allow env" covered whatever env runs. A yes for the session covers the exact command
// of the card, and no wrapper, longer command or other word of it.
func aYesForTheSessionCoversNoWrapper(t *testing.T, x *story) {
	answer := x.ask(t.Context(), x.call("env make check"))
	message, _ := x.card("env make check")
	x.tap(x.ann, message, fake.SessionButton)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Fatalf("%+v", v)
	}
	if v := verdictOf(t, x.ask(t.Context(), x.call("env make check"))); v.Decision != approver.Allow {
		t.Errorf("the same command is asked again: %+v", v)
	}
	for _, command := range []string{"env", "env make check install", "env -S 'make check'", "busybox env make check",
		"env make check; make install", "ENV make check"} {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		if v := verdictOf(t, x.ask(ctx, x.call(command))); v.Decision == approver.Allow {
			t.Errorf("%q runs by the yes to another command", command)
		}
		leave()
	}
}

// The story (B12): "once" was stored as "for the session", and the next call ran unasked. A yes leaves nothing behind
// unless its button or command says for how long.
func onceIsOnce(t *testing.T, x *story) {
	for i, yes := range []func(message, code string){
		func(message, _ string) { x.tap(x.ann, message, fake.ApproveButton) },
		func(_, code string) { x.Type(x.ann, x.to.Conversation, "/approve "+code) },
	} {
		command := fmt.Sprintf("make release-%d", i)
		answer := x.ask(t.Context(), x.call(command))
		message, _ := x.card(command)
		yes(message, codeOnCard.FindString(x.shown(message).Text))
		if v := verdictOf(t, answer); v.Decision != approver.Allow {
			t.Fatalf("%+v", v)
		}
		if grants, err := x.core.Grants.List(t.Context()); err != nil || len(grants) != 0 {
			t.Errorf("%+v, %v", grants, err)
		}
		ctx, leave := context.WithCancel(t.Context())
		again := x.ask(ctx, x.call(command))
		if next, _ := x.card(command); next == message {
			t.Error("nobody is asked again")
		}
		leave()
		if v := verdictOf(t, again); v.Decision == approver.Allow {
			t.Errorf("%+v", v)
		}
	}
}

// The story (B13): a yes for the session was taken back, a call that used it at that moment wrote it back, and it
// stood there again after the restart. What was taken back stays so, and people are asked.
func aTakenBackYesStaysSo(t *testing.T, x *story) {
	answer := x.ask(t.Context(), x.call("make check"))
	message, _ := x.card("make check")
	x.tap(x.ann, message, fake.SessionButton)
	_ = verdictOf(t, answer)
	soon, end := context.WithTimeout(t.Context(), 2*time.Second) // whether it is before or after is all the same
	defer end()
	used := x.ask(soon, x.call("make check"))
	grants, err := x.core.Grants.List(t.Context())
	if err != nil || len(grants) != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	if err := x.core.Grants.Revoke(t.Context(), grants[0].ID, "root"); err != nil {
		t.Fatal(err)
	}
	_ = verdictOf(t, used)
	x.restart()
	ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
	defer leave()
	if v := verdictOf(t, x.ask(ctx, x.call("make check"))); v.Decision == approver.Allow {
		t.Errorf("the yes that was taken back lets it run: %+v", v)
	}
}

// The story (B14): invisible characters hid a part of the command, or split a secret so that no filter knew it. Each
// stands on the card by its number, and the secret does not.
func nothingInvisibleOnACard(t *testing.T, x *story) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	hidden := "make deploy # \u202etxt.exe\u202c a\u200bb \u2066x\u2069 y\ufe01 TOKEN=" +
		secret[:9] + "\u200b" + secret[9:]
	answer := x.ask(t.Context(), x.call(hidden))
	message, _ := x.cardOf(func(c approver.ToolCall) bool { return c.Command == hidden }, "make deploy")
	text := x.shown(message).Text
	for _, char := range []string{"\u202e", "\u202c", "\u200b", "\u2066", "\u2069", "\ufe01"} {
		if strings.Contains(text, char) {
			t.Errorf("%U is in the card", []rune(char))
		}
		if number := fmt.Sprintf("%U", []rune(char)[0]); !strings.Contains(text, number) {
			t.Errorf("the card does not show %s: %s", number, text)
		}
	}
	if strings.Contains(text, secret[9:]) || strings.Contains(text, secret[20:]) {
		t.Errorf("the secret is in the card: %s", text)
	}
	x.tap(x.ann, message, fake.DenyButton)
	_ = verdictOf(t, answer)
}
