package telegram

import (
	"context"
	"strconv"
	"testing"

	"approver.example"
	"approver.example/channels/internal/receiving"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
)

// The story: a person writes "lieber einen Branch" below a card, and approver does not know that. A minute
// before, they had a hint, at another card: so they hear nothing, think that it is denied, and the card waits on.
// Every attempt has its own word, also one that is repeated word for word; who talks on hears five at each card, and
// that those were the last.
func TestEveryAttemptHasItsWord(t *testing.T) {
	b := running(t) // a minute between two hints
	first, second := b.post(highCard(t)), b.post(highCard(t))
	for i, c := range []struct {
		card, says, want string
	}{
		{first.Message, "lieber einen Branch", sayNeither},
		{second.Message, "lieber einen Branch", sayNeither},
		{first.Message, "bitte nicht", sayNeither},
		{first.Message, "lieber einen Branch", sayNeither},
		{first.Message, "lieber einen Branch", sayNeither},
		{first.Message, "hallo?", says(receiving.Hint(display.Msg(sayNeither), 0))},
		{first.Message, "hallo?", ""},
		{second.Message, "hallo?", sayNeither},
	} {
		told := len(b.told(ann))
		b.s.ReplyTo(text(ann), text(teamChat), c.card, c.says)
		b.wantWord(ann, told, c.want, strconv.Itoa(i)+" "+c.says)
	}
	for i, says := range []string{"no", "no, not on main"} { // an edited message does not count, each time
		told := len(b.told(ann))
		m := b.s.Payload(ann, teamChat, says)
		m["edit_date"], m["reply_to_message"] = 1, b.s.Copy(teamChat, second.Message)
		b.s.Inject(map[string]any{"edited_message": m})
		b.wantWord(ann, told, sayEdited, strconv.Itoa(i)+" edited "+says)
	}
	if len(b.got()) != 0 {
		t.Errorf("a hint became a reply: %+v", b.got())
	}
}

// The story: in a hurry somebody types "/freeze!" in the group, and nothing happens. What a command is called is
// read as people type it, and the reason behind it is kept.
func TestCommandsAsPeopleTypeThem(t *testing.T) {
	b := running(t)
	bot := "@" + telegramtest.BotName
	n := 0
	for says, reason := range map[string]string{
		"/freeze!": "", "/Freeze": "", "/FREEZE...": "", "/freeze" + bot + "!!": "", bot + " /freeze!": "",
		"/freeze the agent went mad": "the agent went mad", "/freeze" + bot + ": it went mad": "it went mad",
		"@Approver_Test_Bot: freeze it went mad": "it went mad", "/freeze what is this?!": "what is this?!",
	} {
		b.s.Type(text(ann), text(teamChat), says)
		n++
		if r := b.want(n); r.Want != approver.WantFreeze || r.Reason != reason || r.Approve {
			t.Errorf("%q gave %+v, want the reason %q", says, r, reason)
		}
	}
	for says, want := range map[string]approver.Want{
		"/freeze?": approver.WantHelp, "/freeze ??": approver.WantHelp, "/Pending.": approver.WantPending,
		bot + " status": approver.WantStatus,
	} {
		b.s.Type(text(ann), text(teamChat), says)
		n++
		if r := b.want(n); r.Want != want || r.Reason != "" {
			t.Errorf("%q gave %+v", says, r)
		}
	}
	b.eventually("a word on each", func() bool { return len(b.told(ann)) == n })
	told := n
	b.s.Type(text(ann), text(teamChat), bot+" what is this?")
	b.wantWord(ann, told, sayHelp, "a question to the bot")
}

// The story: the store is away, so a yes waits. Its person thinks better of it and types /freeze, which waited behind
// the yes in their queue: the yes was stored first, and the call ran. A freeze waits for nobody.
func TestAFreezeWaitsForNoYes(t *testing.T) {
	b := running(t)
	back := make(chan struct{})
	b.judge = func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Want != approver.WantFreeze {
			<-back
		}
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "Done."}
	}
	defer close(back)
	card := b.post(highCard(t))
	b.s.Type(text(ann), text(teamChat), "/approve CONFIRM-ABC234")
	b.s.ReplyTo(text(ann), text(teamChat), card.Message, "yes")
	b.want(2)
	b.s.Type(text(ann), text(teamChat), "/freeze it went mad")
	b.want(3)
	b.s.ReplyTo(text(ann), text(teamChat), card.Message, "/freeze it went mad")
	if r := b.want(4); r.Want != approver.WantFreeze {
		t.Errorf("got %+v", r)
	}
}
