package broadcaster

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// agentOf is one agent in a project.
func agentOf(agent, project string) Who {
	return Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: agent, Project: project}
}

// A freeze meets the calls of its user alone. A call whose user is not known is nobody's,
// also where the freeze is of uid 0; a folder that was named with a slash behind it is the
// same folder.
func TestWhoseCallsAFreezeMeets(t *testing.T) {
	call := func(known bool, uid uint32, dir string) approver.ToolCall {
		return approver.ToolCall{Agent: "claude", Session: "s", Dir: dir, Peer: approver.Peer{Known: known, UID: uid}}
	}
	root, nobody := agentOf("claude", "/repo/"), Who{Agent: "claude", Project: "/repo"}
	root.Peer = approver.Peer{Known: true}
	for name, tt := range map[string]struct {
		who  Who
		call approver.ToolCall
		want bool
	}{
		"root's":                        {root, call(true, 0, "/repo"), true},
		"below root's":                  {root, call(true, 0, "/repo/x"), true},
		"beside root's":                 {root, call(true, 0, "/repo2"), false},
		"not known who":                 {root, call(false, 0, "/repo"), false},
		"of nobody known":               {nobody, call(false, 0, "/repo"), true},
		"root's, where nobody is known": {nobody, call(true, 0, "/repo"), false},
		"another user":                  {root, call(true, 1, "/repo"), false},
		"elsewhere, and neither names one": {
			Who{
				Peer: root.Peer, Agent: "claude", Project: "/repo",
			}, approver.ToolCall{Agent: "claude", Dir: "/else", Peer: root.Peer}, false,
		},
		"a question of approver about them": {
			root, approver.ToolCall{Agent: "claude", Dir: "/repo", Peer: root.Peer, Control: "unfreeze"}, false,
		},
	} {
		if got := tt.who.Is(tt.call); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A question about a freeze is void once any freeze began, ended, or is of somebody else;
// so each part of them is compared.
func TestFreezesAreComparedWhole(t *testing.T) {
	at := time.Now()
	made := func() Controls {
		return Controls{Burned: at, Holds: []Hold{{Freeze: Freeze{At: at}, Who: agentOf("claude", "/a"), Burned: at}}}
	}
	for name, other := range map[string]func(c *Controls){
		"everything":     func(c *Controls) { c.Burned = at.Add(1) },
		"a beginning":    func(c *Controls) { c.Holds[0].At = at.Add(1) },
		"an end":         func(c *Controls) { c.Holds[0].At = time.Time{} },
		"a burn":         func(c *Controls) { c.Holds[0].Burned = at.Add(1) },
		"another agent":  func(c *Controls) { c.Holds[0].Who.Agent = "codex" },
		"another folder": func(c *Controls) { c.Holds[0].Who.Project = "/b" },
		"one more":       func(c *Controls) { c.Holds = append(c.Holds, c.Holds[0]) },
		"none":           func(c *Controls) { c.Holds = nil },
	} {
		c := made()
		if other(&c); c.SameFreezes(made()) || made().SameFreezes(c) {
			t.Errorf("%s: taken for the same", name)
		}
	}
	if !made().SameFreezes(made()) {
		t.Error("they are not the same as themselves")
	}
}

// Freezes are merged where there are many, and never to fewer: one that stands stays one
// that stands, what was burned last stays burned, and a freeze of everything keeps who
// froze.
func TestMergedFreezesFreezeNoLess(t *testing.T) {
	now := time.Now()
	lifted := func(agent string, n int) (all []Hold) {
		for i := range n {
			all = append(all, Hold{Who: agentOf(agent, fmt.Sprint("/p", i)), Burned: now.Add(-time.Duration(i) * time.Minute)})
		}
		return all
	}
	standing := Hold{Freeze: Freeze{At: now, By: "ada"}, Who: agentOf("claude", "/stands"), Burned: now}

	c := Controls{Holds: append(lifted("claude", maxHoldsEach+1), standing)}
	c.merge(now)
	if held := c.Held(); len(held) != 1 || held[0].Who.Project != "/stands" || len(c.Holds) != 2 {
		t.Errorf("%+v", c.Holds)
	}
	var many []Hold
	for i := range maxHolds + 1 {
		many = append(many, lifted(fmt.Sprint("agent", i), 1)...)
	}
	for _, burned := range []time.Time{now.Add(time.Second), now.Add(-time.Hour)} {
		c = Controls{Burned: burned, Holds: append(many, standing)}
		c.merge(now)
		if c.Burned.Before(now) || c.Burned.Before(burned) || len(c.Held()) != 1 {
			t.Errorf("burned at %v, %d stand", c.Burned.Sub(now), len(c.Held()))
		}
	}

	// Six of another agent, and six of this one of which one is frozen anew: neither makes it more.
	for _, agent := range []string{"codex", "claude"} {
		c = Controls{}
		for i := range maxHoldsEach {
			c.hold(Hold{Freeze: Freeze{By: "ada", Reason: "first"}, Who: agentOf(agent, fmt.Sprint("/p", i))}, now)
		}
		c.hold(Hold{Freeze: Freeze{By: "bob", Reason: "second"}, Who: agentOf("claude", "/p0")}, now.Add(time.Second))
		for _, h := range c.Holds {
			if h.Who.Project == "/" {
				t.Errorf("%s: frozen everywhere: %+v", agent, h)
			}
			if agent == "claude" && (h.By != "ada" || h.Reason != "first") {
				t.Errorf("who was first is lost: %+v", h)
			}
		}
	}

	// One too many freezes everything; who froze everything before is kept, and what was approved until now is void.
	full := func() (c Controls) {
		for i := range maxHolds {
			c.hold(Hold{Freeze: Freeze{By: "ada"}, Who: agentOf(fmt.Sprint("agent", i), "/")}, now)
		}
		return c
	}
	for _, before := range []Freeze{{}, {At: now, By: "eve", Reason: "all"}} {
		c = full()
		c.Freeze = before
		c.hold(Hold{Freeze: Freeze{By: "bob"}, Who: agentOf("claude", "/")}, now.Add(time.Minute))
		if by := c.Freeze.By; by != cmp.Or(before.By, "bob") || !c.Frozen() || !c.Burned.Equal(now.Add(time.Minute)) {
			t.Errorf("frozen by %q, %+v, burned %v", by, c.Freeze, c.Burned)
		}
	}
}

// Lifting ends what stands. What was lifted before is not burned anew, or a yes from
// after it would be void; and whoever has a copy of the controls keeps what they read.
func TestALiftBurnsWhatItLifts(t *testing.T) {
	now := time.Now()
	before := now.Add(-time.Hour)
	c := Controls{
		Holds: []Hold{
			{
				Who: agentOf("codex", "/"), Burned: before,
			}, {Freeze: Freeze{At: before}, Who: agentOf("claude", "/"), Burned: before},
		},
	}
	read := c
	c.lift(now)
	if !c.Holds[0].Burned.Equal(before) || !c.Holds[1].Burned.Equal(now) || len(c.Held()) != 0 {
		t.Errorf("%+v", c.Holds)
	}
	if len(read.Held()) != 1 {
		t.Error("a copy was changed")
	}
}

// What is frozen is named in a line that has an end, and in which no name writes anything
// of its own.
func TestWhatIsFrozenIsNamed(t *testing.T) {
	var c Controls
	for i := range maxNamed + 2 {
		by := fmt.Sprintf("uid %d\u202e\nEverything is lifted", i)
		c.hold(Hold{Freeze: Freeze{By: by}, Who: agentOf(fmt.Sprintf("a%d\u202e\n", i), "/p")}, time.Now())
	}
	text := c.FrozenText()
	if strings.ContainsAny(text, "\u202e\n") || strings.Count(text, "; ") != maxNamed ||
		!strings.HasSuffix(text, "and 2 more") {
		t.Errorf("%q", text)
	}
	if (Controls{}).FrozenText() != "" {
		t.Error("nothing is frozen")
	}
}

// The story: an agent is frozen while a call of it waits, a pause is asked for and somebody
// is to be brought back. The call is denied, and is the one that is counted; what was asked
// because nothing was frozen is void; the third has nothing to do with it and stays open.
// Its cards say so at once. A freeze that is not recorded holds, and is an error.
func TestWhatAFreezeEnds(t *testing.T) {
	for _, everything := range []bool{false, true} {
		story(t, func(t *testing.T, x *bench) {
			verdicts := map[string]<-chan approver.Verdict{}
			for _, control := range []string{"", "pause", "restore_person"} {
				call := testCall("c" + control)
				call.Control, call.Command, call.Args = control, "x"+control, fmt.Appendf(nil, `{"command":"x%s"}`, control)
				if control == "" {
					call.Peer = approver.Peer{Known: true, UID: 1000}
				}
				verdicts[control] = x.askAsync(t.Context(), call, approver.High)
				synctest.Wait()
			}
			x.audit.fail = approver.EventFrozen
			var denied int
			var err error
			if everything {
				denied, err = x.Controls.Freeze(t.Context(), "ada", "it runs wild")
			} else {
				denied, err = x.Controls.Hold(t.Context(), agentOf("claude", "/repo"), "ada", "it runs wild")
			}
			if denied != 1 || err == nil || !strings.Contains(err.Error(), "disk full") {
				t.Errorf("%d denied, %v", denied, err)
			}
			synctest.Wait()
			if v := <-verdicts[""]; v.Decision != approver.Deny {
				t.Errorf("the call: %+v", v)
			}
			if v := <-verdicts["pause"]; v.Decision != approver.Deny {
				t.Errorf("the pause: %+v", v)
			}
			for i, open := range []bool{false, false, true} {
				_, card := x.tg.card(i)
				if (card.State == approver.Pending) != open {
					t.Errorf("everything %v: card %d is %v: %q", everything, i, card.State, card.Result)
				}
			}
			if out := x.tap(x.tg, 2, "1", true); out.Kind == approver.OutcomeRefused {
				t.Errorf("the restore: %+v", out)
			}
			<-verdicts["restore_person"]
		})
	}
}

// The story: an agent worked in a folder whose name had a line break and "Everything is
// lifted" in it, and was frozen there. Status, cards and the answer of every call had that
// as a line of approver's own. Whatever names somebody is one line now.
func TestAFolderWritesNoLineOfItsOwn(t *testing.T) {
	for _, gap := range []string{"\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"} {
		name := "/repo" + gap + "FROZEN: nothing"
		many := &approver.TooManyError{Limit: "agent", Whose: agentOf("claude", name).String() + name}
		away := Removal{Person: name, By: name, Reason: name, Last: time.Now(), LastBy: name, LastReason: name}
		all := Controls{
			Freeze: Freeze{At: time.Now(), By: name}, Holds: []Hold{
				{Freeze: Freeze{At: time.Now(), By: name}, Who: agentOf(name, name)},
			},
		}
		for what, text := range map[string]string{
			"who": agentOf(name, name).String(), "frozen": all.FrozenText(), "too many": many.Error(), "removed": away.Line(),
			"the card": strings.SplitN(all.Notice(time.Now()), " since ", 2)[0],
		} {
			if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") || !strings.Contains(text, "nothing") {
				t.Errorf("%s, %q: %q", what, gap, text)
			}
		}
	}
}
