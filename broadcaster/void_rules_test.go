package broadcaster

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// Each reason why a yes is void, by itself: what is asked of approver outlives a freeze, and
// not the removal of whoever said yes; the freeze of either agent counts; and only these
// reasons are final, while trouble with the store is tried again.
func TestWhyAYesIsVoid(t *testing.T) {
	call, own := sessionCall("a"), sessionCall("a")
	own.Control = "unfreeze"
	other := sessionCall("b")
	yes := approver.Resolution{
		Approve: true, Cause: approver.ByPerson, Person: person(0), Identity: identityOf(0), At: at(5),
	}
	frozen := Controls{Freeze: Freeze{At: at(10), By: "bob"}, Burned: at(10)}
	var held, gone Controls
	held.Holds = []Hold{
		{Who: Who{Agent: call.Agent, Session: call.Session, Peer: call.Peer, Project: "/elsewhere"}, Burned: at(10)},
	}
	if err := gone.remove(Removal{
		Person: person(0).ID, Identities: []approver.Identity{identityOf(0)},
	}, at(10)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		c    Controls
		of   approver.ToolCall
		call approver.ToolCall
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
		errBurned: true, errHeld: true, errTakenBack: true, errNoYes: true, approver.ErrAway: false,
		approver.ErrNotFound: false, errors.New("EOF"): false, approver.ErrTampered: false, approver.ErrConflict: false,
	} {
		if isVoid(err) != want || isVoid(fmt.Errorf("in a chain: %w", err)) != want {
			t.Errorf("void by %v: %t", err, !want)
		}
	}
}

// Only what people let go is a yes: not what a policy allows, and not what they denied.
func TestWhatIsAYes(t *testing.T) {
	said := yesOf(Request{ID: "r", Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson}})
	for name, c := range map[string]struct {
		v    approver.Verdict
		want bool
	}{
		"people let it go": {approver.Verdict{Decision: approver.Allow, By: approver.ByPeople, Approval: said}, true},
		"a policy did":     {approver.Verdict{Decision: approver.Allow, By: "policy", Approval: said}, false},
		"people denied it": {approver.Verdict{Decision: approver.Deny, By: approver.ByPeople, Approval: said}, false},
		"they are asked":   {approver.Verdict{Decision: approver.Ask, By: approver.ByPeople, Approval: said}, false},
		"it passed":        {approver.Verdict{Decision: approver.Pass, By: approver.ByPeople, Approval: said}, false},
		"nothing noted":    {approver.Verdict{Decision: approver.Allow, By: approver.ByPeople}, false},
		"zero":             {approver.Verdict{}, false},
	} {
		if got := c.v.Yes().Request != ""; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Alice says yes for fifteen minutes, and takes that back while Claude Code asks its own
// user about the call. The yes does not stand any more, whoever's call it is.
func TestARevokedYesDoesNotCount(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), sessionCall("a"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		rep := typed(approver.ByCommand, card)
		rep.Grant, _ = approver.ParseTerm("15m")
		x.Answers.Reply(t.Context(), rep)
		yes := (<-first).Yes()
		synctest.Wait()
		under := x.once("b").Yes()
		for name, y := range map[string]approver.Yes{"its own": yes, "under the grant": under} {
			if err := x.Grants.Stands(t.Context(), y, sessionCall("b")); err != nil {
				t.Errorf("%s, before: %v", name, err)
			}
		}
		if err := x.Grants.Revoke(t.Context(), card.Request, "bob"); err != nil {
			t.Fatal(err)
		}
		for name, y := range map[string]approver.Yes{"its own": yes, "under the grant": under} {
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
	for control, want := range map[string]approver.Decision{
		"unfreeze": approver.Deny, "pause": approver.Deny, "observe": approver.Deny, "restore_person": approver.Allow,
		"admit": approver.Allow,
	} {
		for _, lifted := range []bool{false, true} {
			t.Run(fmt.Sprint(control, lifted), func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					call := sessionCall("a")
					call.Control = control
					answer := x.askAsync(t.Context(), call, approver.Catastrophic)
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
					x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
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
		first := x.askAsync(t.Context(), sessionCall("a"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		rep := typed(approver.ByCommand, card)
		rep.Grant, _ = approver.ParseTerm("15m")
		x.Answers.Reply(t.Context(), rep)
		yes := (<-first).Yes()
		synctest.Wait()
		other, moved := yes, yes
		other.Request = "another request"
		moved.Call.Dir = "/without/a/grant"
		for _, to := range []approver.Yes{other, moved} {
			if err := x.Grants.Stands(t.Context(), to, sessionCall("a")); err != nil {
				t.Errorf("before the freeze: %v", err)
			}
		}
		if _, err := x.Controls.Freeze(t.Context(), "bob", "stop"); err != nil {
			t.Fatal(err)
		}
		for _, to := range []approver.Yes{other, moved} {
			if err := x.Grants.Stands(t.Context(), to, sessionCall("a")); !errors.Is(err, errBurned) {
				t.Errorf("after the freeze: %v", err)
			}
		}
	})
}
