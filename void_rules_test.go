package approver

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Each reason why a yes is void, by itself: what is asked of approver outlives a freeze, and
// not the removal of whoever said yes; the freeze of either agent counts; and only these
// reasons are final, while trouble with the store is tried again.
func TestWhyAYesIsVoid(t *testing.T) {
	call, own := sessionCall("a"), sessionCall("a")
	own.Control = "unfreeze"
	other := sessionCall("b")
	yes := Resolution{Approve: true, Cause: ByPerson, Person: person(0), Identity: identityOf(0), At: at(5)}
	frozen := Controls{Freeze: Freeze{At: at(10), By: "bob"}, Burned: at(10)}
	var held, gone Controls
	held.Holds = []Hold{{Who: Who{Agent: call.Agent, Session: call.Session, Peer: call.Peer, Project: "/elsewhere"}, Burned: at(10)}}
	if err := gone.remove(Removal{Person: person(0).ID, Identities: []Identity{identityOf(0)}}, at(10)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		c    Controls
		of   ToolCall
		call ToolCall
		want error
	}{
		"nothing":                          {Controls{}, call, call, nil},
		"a freeze":                         {frozen, call, call, errBurned},
		"a freeze, of approver itself":     {frozen, own, own, nil},
		"a freeze, the question was own":   {frozen, own, call, errBurned},
		"a freeze, the call is own":        {frozen, call, own, errBurned},
		"a freeze of who asked":            {held, call, other, errHeld},
		"a freeze of who comes":            {held, other, call, errHeld},
		"a freeze of another":              {held, other, other, nil},
		"a removal":                        {gone, call, call, errTakenBack},
		"a removal, of approver itself":    {gone, own, own, errTakenBack},
		"a removal, and another call came": {gone, call, other, errTakenBack},
	} {
		err := c.c.void(Request{Call: c.of, Created: at(1), Resolution: yes}, c.call)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for err, want := range map[error]bool{
		errBurned: true, errHeld: true, errTakenBack: true, errNoYes: true, ErrAway: false, ErrNotFound: false, errors.New("EOF"): false, ErrTampered: false, ErrConflict: false,
	} {
		if isVoid(err) != want || isVoid(fmt.Errorf("in a chain: %w", err)) != want {
			t.Errorf("void by %v: %t", err, !want)
		}
	}
}

// Only what people let go is a yes: not what a policy allows, and not what they denied.
func TestWhatIsAYes(t *testing.T) {
	said := Request{ID: "r", Resolution: Resolution{Approve: true, Cause: ByPerson}}.yes()
	for name, c := range map[string]struct {
		v    Verdict
		want bool
	}{
		"people let it go": {Verdict{Decision: Allow, By: ByPeople, Approval: said}, true},
		"a policy did":     {Verdict{Decision: Allow, By: "policy", Approval: said}, false},
		"people denied it": {Verdict{Decision: Deny, By: ByPeople, Approval: said}, false},
		"they are asked":   {Verdict{Decision: Ask, By: ByPeople, Approval: said}, false},
		"it passed":        {Verdict{Decision: Pass, By: ByPeople, Approval: said}, false},
		"nothing noted":    {Verdict{Decision: Allow, By: ByPeople}, false},
		"zero":             {Verdict{}, false},
	} {
		if got := c.v.Yes().Request != ""; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Alice says yes for fifteen minutes, and takes that back while Claude Code asks its own
// user about the call. The yes does not stand any more, whoever's call it is.
func TestARevokedYesDoesNotStand(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), sessionCall("a"), High)
		synctest.Wait()
		_, card := x.tg.card(0)
		rep := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCommand, Code: card.Code}
		rep.Grant, _ = ParseTerm("15m")
		x.Answers.Reply(t.Context(), rep)
		yes := (<-first).Yes()
		synctest.Wait()
		under := x.once("b").Yes()
		for name, y := range map[string]Yes{"its own": yes, "under the grant": under} {
			if err := x.Grants.Stands(t.Context(), y, sessionCall("b")); err != nil {
				t.Errorf("%s, before: %v", name, err)
			}
		}
		if err := x.Grants.Revoke(t.Context(), card.Request, "bob"); err != nil {
			t.Fatal(err)
		}
		for name, y := range map[string]Yes{"its own": yes, "under the grant": under} {
			if err := x.Grants.Stands(t.Context(), y, sessionCall("b")); !errors.Is(err, errNoYes) {
				t.Errorf("%s, after: %v", name, err)
			}
		}
	})
}

// People are asked whether a freeze shall end. Another one begins on a daemon that dies
// before it has looked through the requests: their yes was about how it was before. What is
// asked about something else than freezes goes on.
func TestAQuestionAboutFreezesIsMootAfterOne(t *testing.T) {
	for control, want := range map[string]Decision{"unfreeze": Deny, "pause": Deny, "observe": Deny, "restore_person": Allow, "admit": Allow} {
		for _, lifted := range []bool{false, true} {
			t.Run(fmt.Sprint(control, lifted), func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					call := sessionCall("a")
					call.Control = control
					answer := x.askAsync(t.Context(), call, Catastrophic)
					time.Sleep(time.Second)
					synctest.Wait()
					_, err := x.Controls.change(t.Context(), func(c *Controls, now time.Time) error {
						c.Freeze, c.Burned = Freeze{At: now, By: "bob"}, now
						if lifted {
							c.Freeze = Freeze{}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					_, card := x.tg.card(0)
					x.Answers.Reply(t.Context(), Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCode, Code: card.Code})
					if v := <-answer; v.Decision != want {
						t.Errorf("%+v", v)
					}
				})
			})
		}
	}
}

// The grant of a yes that was noted is gone, or another took its place: the yes is weighed by
// itself, and a freeze ends it all the same.
func TestAYesWithoutItsGrantIsWeighedByItself(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), sessionCall("a"), High)
		synctest.Wait()
		_, card := x.tg.card(0)
		rep := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCommand, Code: card.Code}
		rep.Grant, _ = ParseTerm("15m")
		x.Answers.Reply(t.Context(), rep)
		yes := (<-first).Yes()
		synctest.Wait()
		other, moved := yes, yes
		other.Request = "another request"
		moved.Call.Dir = "/without/a/grant"
		for _, to := range []Yes{other, moved} {
			if err := x.Grants.Stands(t.Context(), to, sessionCall("a")); err != nil {
				t.Errorf("before the freeze: %v", err)
			}
		}
		if _, err := x.Controls.Freeze(t.Context(), "bob", "stop"); err != nil {
			t.Fatal(err)
		}
		for _, to := range []Yes{other, moved} {
			if err := x.Grants.Stands(t.Context(), to, sessionCall("a")); !errors.Is(err, errBurned) {
				t.Errorf("after the freeze: %v", err)
			}
		}
	})
}
