package broadcaster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// delivered is what somebody wants of the first card, brought by an event.
func (x *bench) delivered(want approver.Want, event string) approver.Outcome {
	msg, card := x.tg.card(0)
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Want: want, Method: approver.ByTap, Request: card.Request,
		Message: msg, Event: event,
	})
}

// The story: the daemon that received a tap for ten more minutes was killed after it had entered it and before
// Telegram heard of that. Another one took over and got the tap again, twenty seconds later: the request waited
// twenty minutes longer for one tap, and could get no more time.
func TestMoreTimeThatIsDeliveredAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		first := x.loaded(card.Request).Due
		for _, at := range []time.Duration{0, 2 * sameTap, time.Minute} {
			time.Sleep(at)
			if out := x.delivered(approver.WantTime, "77"); out.Kind != approver.OutcomeShown {
				t.Errorf("after %v: %+v", at, out)
			}
			if r := x.loaded(card.Request); r.More != 1 || !r.Due.Equal(first.Add(approver.MoreTime)) {
				t.Errorf("after %v it has got more time %d times, until %v", at, r.More, r.Due)
			}
		}
		if x.delivered(approver.WantTime, "78"); x.loaded(card.Request).More != 2 {
			t.Error("another tap does not count")
		}
		if n := x.count(approver.EventExtended); n != 2 {
			t.Errorf("%d records", n)
		}
		x.tap(x.tg, 0, "1", false)
		<-answer
	})
}

// wrongCode is a code that is not that of a card, brought by an event.
func wrongCode(t *testing.T, card approver.Card, event string) approver.Reply {
	t.Helper()
	rep := typed(approver.ByCode, card)
	var err error
	if rep.Code, err = tokens.Mint(tokens.MinLength); err != nil {
		t.Fatal(err)
	}
	rep.Event = event
	return rep
}

// The story: a wrong code was counted, and the daemon was killed before its answer. The platform delivered the
// message again and again, and a person was locked out for one typing error. Each event is one try now, also if
// the try was never decided, and one event with two codes is two.
func TestAWrongCodeThatIsDeliveredAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		wrong := wrongCode(t, card, "1")
		lock := lockKey(approver.Person{ID: "alice"}, wrong)
		var try time.Time
		for range 2 * MaxWrongCodes { // killed after the count each time
			at, locked, err := x.lockout.try(t.Context(), lock, "undecided")
			if err != nil || !locked.IsZero() || !try.IsZero() && !at.Equal(try) {
				t.Fatalf("try %v, before %v, locked until %v, %v", at, try, locked, err)
			}
			try = at
		}
		if _, err := x.lockout.tried(t.Context(), lock, try, true); err != nil {
			t.Fatal(err)
		}
		for range 2 * MaxWrongCodes {
			if out := x.Answers.Reply(t.Context(), wrong); out.Kind != approver.OutcomeUnknown {
				t.Fatalf("%+v", out)
			}
			time.Sleep(time.Second)
		}
		for n := 2; n <= MaxWrongCodes; n++ {
			out := x.Answers.Reply(t.Context(), wrongCode(t, card, fmt.Sprint(n)))
			if last := n == MaxWrongCodes; out.Kind != approver.OutcomeUnknown ||
				strings.Contains(out.Text, "you are locked out") != last {
				t.Errorf("wrong code %d: %+v", n, out)
			}
		}
		yes := typed(approver.ByCode, card)
		yes.Event = "1"
		if out := x.Answers.Reply(t.Context(), yes); out.Kind != approver.OutcomeLocked {
			t.Errorf("after enough wrong codes: %+v", out)
		}
		x.tap(x.tg, 0, "1", false)
		<-answer
	})
}

// Codes of one event that is said to come again are counted one by one: nobody can try many codes as one event.
func TestOneEventIsNoWayAroundTheLock(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		locked := false
		for range MaxWrongCodes + 1 {
			locked = x.Answers.Reply(t.Context(), wrongCode(t, card, "1")).Kind == approver.OutcomeLocked
		}
		if !locked {
			t.Error("many codes of one event lock nobody out")
		}
		x.tap(x.tg, 0, "1", false)
		<-answer
	})
}

// The story: a /freeze was delivered again, after a hand-over, when people had just lifted that freeze: everything
// was frozen anew, by nobody. The same event freezes once. Another one freezes, and so does one whose freeze the
// store never took. A tap that disowns a call is the same.
func TestAFreezeThatIsDeliveredAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		freeze := func(event string) approver.Outcome {
			return x.Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1",
				Want: approver.WantFreeze, Method: approver.ByCommand, Event: event})
		}
		frozen := func() bool {
			c, _, err := x.Controls.Load(t.Context())
			return err != nil || c.Frozen()
		}
		lift := func() {
			t.Helper()
			time.Sleep(time.Second)
			if err := x.Controls.Unfreeze(t.Context(), "root"); err != nil || frozen() {
				t.Fatalf("not lifted: %v", err)
			}
		}
		if freeze("5"); !frozen() {
			t.Fatal("nothing is frozen")
		}
		if out := freeze("5"); !strings.Contains(out.Text, "frozen already") {
			t.Errorf("again: %+v", out)
		}
		lift()
		if out := freeze("5"); frozen() || !strings.Contains(out.Text, "lifted that since") {
			t.Errorf("again, after it was lifted: %+v", out)
		}
		for _, event := range []string{"6", "", ""} { // a channel without ids: each is a new one
			if freeze(event); !frozen() {
				t.Errorf("the event %q freezes nothing", event)
			}
			lift()
		}
		if n := x.count(approver.EventFrozen); n != 5 {
			t.Errorf("%d records of freezes", n)
		}

		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		if out := x.delivered(approver.WantDisown, "9"); out.Kind != approver.OutcomeDenied {
			t.Errorf("%+v", out)
		}
		<-answer
		time.Sleep(time.Second)
		messages := x.dc.count()
		for _, lifted := range []bool{false, true} {
			if lifted {
				if err := x.Controls.Unfreeze(t.Context(), "root"); err != nil {
					t.Fatal(err)
				}
			}
			x.delivered(approver.WantDisown, "9")
			time.Sleep(time.Minute)
			if _, held := x.Controls.held(t.Context(), hookCall("c1")); held == lifted || x.dc.count() != messages {
				t.Errorf("delivered again, lifted %v: the agent is frozen: %v, %d messages more", lifted, held,
					x.dc.count()-messages)
			}
		}
		if n := x.count(approver.EventDisowned); n != 1 {
			t.Errorf("%d records", n)
		}
	})
}

// A record remembers few events, and none without a name.
func TestEventsAreBounded(t *testing.T) {
	var e events
	for _, name := range strings.Split("a b c d e f", " ") {
		e = e.with(name).with("")
	}
	if len(e) != mostEvents || e.has("a") || !e.has("f") || e.has("") {
		t.Errorf("%q", e)
	}
	rep := approver.Reply{Channel: "telegram", Event: "1"}
	other := rep
	other.Channel = "slack"
	if eventOf(rep) == eventOf(other) || eventOf(approver.Reply{Channel: "x"}) != "" ||
		len(eventOf(rep)) != 16 {
		t.Error("names of events")
	}
}
