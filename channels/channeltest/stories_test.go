package channeltest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest/fake"
)

// A story is a core with one platform and two approvers, whose couriers wait for what becomes of their calls.
type story struct {
	*matrix

	ann, bob string
	kv       approver.KV
	stop     func()
	asked    int
}

// start starts the core and its channel on what is stored.
func (x *story) start() {
	listed := []approver.Approver{{ID: x.ann, Name: "Ann", Person: "ann"}, {ID: x.bob, Name: "Bob", Person: "bob"}}
	channel, to := x.open(x.t, listed)
	x.to = to
	x.stop = x.run(coreOptions(x.kv, channel, to, listed))
}

// restart ends the core and its channel, and starts them anew.
func (x *story) restart() {
	x.stop()
	x.start()
}

// stories tells a story on each platform.
func stories(t *testing.T, tell func(*testing.T, *story)) {
	if testing.Short() {
		t.Skip("the race detector sees the same in the tests of each channel")
	}
	for name, start := range map[string]func(*testing.T) app{
		"telegram": newTelegram, "discord": newDiscord, "slack": newSlack,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t)
			x := &story{matrix: &matrix{app: a, t: t}, ann: a.add("approver"), bob: a.add("approver"), kv: embedded(t)}
			x.start()
			tell(t, x)
		})
	}
}

// call is a new call of a command.
func (x *story) call(command string) approver.ToolCall {
	x.asked++
	call := approver.ToolCall{ID: fmt.Sprintf("%032d", x.asked), Agent: "claude", Session: "s", Tool: "Bash",
		Command: command, Dir: "/repo", At: time.Now(), Peer: approver.Peer{Known: true, UID: 1000}}
	call.Args = fmt.Appendf(nil, `{"command":%q}`, command)
	return call
}

// ask asks about a call, until the context ends.
func (x *story) ask(ctx context.Context, call approver.ToolCall) <-chan approver.Verdict {
	verdict := make(chan approver.Verdict, 1)
	core := x.core
	go func() {
		verdict <- core.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
			Severity: approver.High})
	}()
	return verdict
}

// card waits for the card of an open request for a command, and returns its message and request.
func (x *story) card(command string) (message, request string) {
	x.t.Helper()
	x.until("the card of "+command, func() bool {
		open, _ := x.core.Requests.Open(x.t.Context())
		for _, r := range open {
			for _, c := range x.Cards(x.to.Conversation) {
				if r.Call.Command == command && strings.Contains(c.Text, command) && len(r.Postings) > 0 &&
					r.Postings[0].Phase == broadcaster.Posted && r.Postings[0].Ref.Message == c.Message {
					message, request = c.Message, r.ID
				}
			}
		}
		return message != ""
	})
	return message, request
}

func (x *story) tap(user, message string, b fake.Button) {
	x.t.Helper()
	if err := x.Tap(user, x.to.Conversation, message, b); err != nil {
		x.t.Error(err)
	}
}

func verdictOf(t *testing.T, v <-chan approver.Verdict) approver.Verdict {
	t.Helper()
	select {
	case got := <-v:
		return got
	case <-time.After(time.Minute):
		t.Fatal("the courier waits for ever")
		panic("unreachable")
	}
}

// The story (B10): people read one command, and another ran under their yes, because what identified a call was
// cut, trimmed or lacked its folder. A yes releases the very call of the card; one that differs by a blank,
// by its folder or by another argument is asked about by itself.
func TestAYesIsForTheCallOfItsCard(t *testing.T) {
	stories(t, func(t *testing.T, x *story) {
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
	})
}

// The story (B11): "always allow env" covered whatever env runs. A yes for the session covers the exact command
// of the card, and no wrapper, longer command or other word of it.
func TestAYesForTheSessionCoversNoWrapper(t *testing.T) {
	stories(t, func(t *testing.T, x *story) {
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
	})
}

// The story (C17, C18): the daemon was restarted while somebody read the card. The request was lost, or the
// first press after the restart was swallowed. The card and its buttons outlive the restart, the courier that
// comes back gets the answer of one press, once.
func TestOnePressAfterARestart(t *testing.T) {
	stories(t, func(t *testing.T, x *story) {
		call := x.call("make deploy")
		ctx, end := context.WithCancelCause(t.Context())
		before := x.ask(ctx, call)
		message, request := x.card("make deploy")
		end(approver.ErrShuttingDown)
		if v := verdictOf(t, before); v.Decision == approver.Allow {
			t.Fatalf("the end of the daemon released it: %+v", v)
		}
		x.restart()
		after := x.ask(t.Context(), call)
		x.until("the courier and the channel are back", func() bool {
			return x.request(request).WithdrawAt.IsZero() && x.core.Channels.State(x.to.Channel).Up
		})
		x.tap(x.ann, message, fake.ApproveButton)
		if v := verdictOf(t, after); v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		if r := x.request(request); r.State != approver.Consumed || r.Resolution.Person.Name != "Ann" {
			t.Errorf("%v by %+v", r.State, r.Resolution.Person)
		}
		for _, c := range x.Cards(x.to.Conversation) {
			if c.Message != message && strings.Contains(c.Text, "make deploy") {
				t.Errorf("a second card: %s", c.Text)
			}
		}
	})
}

// The story (C19): approve and deny were two tokens, each burnt by itself, so that both counted. Two people
// press at the same moment, again and again: one answer stands, the courier gets that one, and who pressed is told.
func TestTwoPressesAtOnce(t *testing.T) {
	stories(t, func(t *testing.T, x *story) {
		for n := range 8 {
			command := fmt.Sprintf("make part-%d", n)
			answer := x.ask(t.Context(), x.call(command))
			message, request := x.card(command)
			told := len(x.Told(x.ann)) + len(x.Told(x.bob))
			var both sync.WaitGroup
			both.Go(func() { _ = x.Tap(x.ann, x.to.Conversation, message, fake.ApproveButton) })
			both.Go(func() { _ = x.Tap(x.bob, x.to.Conversation, message, fake.DenyButton) })
			both.Wait()
			v := verdictOf(t, answer)
			x.until("the end of "+command, func() bool { return x.request(request).State.Settled() })
			r := x.request(request)
			if yes := r.Resolution.Approve; yes != (v.Decision == approver.Allow) ||
				yes != (r.Resolution.Person.Name == "Ann") {
				t.Errorf("%s: the courier got %v, and it is %v by %s", command, v.Decision, r.State, r.Resolution.Person.Name)
			}
			x.until("who pressed is told", func() bool { return len(x.Told(x.ann))+len(x.Told(x.bob)) >= told+1 })
		}
	})
}
