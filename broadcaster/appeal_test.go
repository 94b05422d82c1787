package broadcaster

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// denying is the verdict of a rule that denies and may be appealed.
func denying(rule string, s approver.Severity) approver.Verdict {
	return approver.Verdict{Decision: approver.Deny, Severity: s, By: "reflex", Rule: rule, Confidence: 0.9,
		Appealable: true, Reason: "it sends data away", Detail: "curl: net-out drop"}
}

// appealGate is a Gate before the people of a bench.
func (x *bench) appealGate(stages ...approver.Stage) *gate.Gate {
	return &gate.Gate{
		Stages: append([]approver.Stage{FreezeStage{Store: x.Store}}, stages...), Ask: x.Ask, Audit: x.audit,
		Appeals: &gate.Appeals{People: x.Broadcaster}, Log: slog.New(slog.DiscardHandler),
	}
}

var agentUser = approver.Peer{Known: true, UID: 1000, PID: 7}

func agentCall(id string) approver.ToolCall {
	c := testCall(id)
	c.Peer, c.At = agentUser, time.Now()
	return c
}

// The story: a rule denies what the user needs. The agent is told how to ask for
// it; people see that it is an appeal; their yes waits for that call, and is used
// once.
func TestAppealYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.High)))
		v := g.Decide(t.Context(), agentCall("c1"))
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "approver appeal c1 --reason") {
			t.Fatalf("%+v", v)
		}
		if n := x.tg.count(); n != 0 {
			t.Fatalf("%d people were asked without an appeal", n)
		}
		r, err := g.Appeal(t.Context(), approver.Peer{Known: true, UID: 1000, PID: 8}, "c1", "the customer wants it")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_, card := x.tg.card(0)
		why := strings.Join(card.Why, " ")
		if !strings.HasPrefix(why, "A rule denies this call, and the agent appeals: ") ||
			!strings.Contains(card.Claimed, "appeal: the customer wants it") || strings.Contains(why, "customer") {
			t.Errorf("the card says %q, claimed %q", why, card.Claimed)
		}
		if v := g.Decide(t.Context(), agentCall("c2")); v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, "Waiting for approval (request "+r.Request) {
			t.Errorf("while people think: %+v", v)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Errorf("Alice is told %+v", out)
		}
		other := agentCall("c3")
		other.Args = []byte(`{"command":"git push --force --all"}`)
		if v := g.Decide(t.Context(), other); v.Decision != approver.Deny {
			t.Errorf("another call runs by it: %+v", v)
		}
		stranger := agentCall("c4")
		stranger.Peer.UID = 1001
		if v := g.Decide(t.Context(), stranger); v.Decision != approver.Deny {
			t.Errorf("another user runs by it: %+v", v)
		}
		if v := g.Decide(t.Context(), agentCall("c5")); v.Decision != approver.Allow ||
			!strings.Contains(v.Reason, "approved by Alice") {
			t.Errorf("the same call: %+v", v)
		}
		if v := g.Decide(t.Context(), agentCall("c5")); v.Decision != approver.Allow {
			t.Errorf("its courier comes back: %+v", v)
		}
		if v := g.Decide(t.Context(), agentCall("c6")); v.Decision != approver.Deny {
			t.Errorf("a second time: %+v", v)
		}
		synctest.Wait()
		var linked []approver.Event
		for _, rec := range x.audit.recorded() {
			if rec.Event == approver.EventAppealed && (rec.Call.ID != "c1" || rec.Note != "claimed: the customer wants it") {
				t.Errorf("%+v", rec)
			}
			if rec.Verdict.Appeal.Of == "c1" {
				linked = append(linked, rec.Event)
			}
		}
		for _, want := range []approver.Event{
			approver.EventAppealed, approver.EventAsked, approver.EventGranted, approver.EventApproved, approver.EventReleased,
		} {
			found := false
			for _, e := range linked {
				found = found || e == want
			}
			if !found {
				t.Errorf("no record of %s leads to the denial: %v", want, linked)
			}
		}
	})
}

// A no, and silence, end it: the same call is not put before people again and again.
func TestAppealNo(t *testing.T) {
	for name, answer := range map[string]func(x *bench){
		"no":      func(x *bench) { x.tap(x.tg, 0, "1", false) },
		"silence": func(*bench) { time.Sleep(DefaultTTL + time.Second) },
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			g := x.appealGate(fixed(denying("drop", approver.High)))
			g.Decide(t.Context(), agentCall("c1"))
			if _, err := g.Appeal(t.Context(), agentUser, "c1", ""); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			answer(x)
			synctest.Wait()
			v := g.Decide(t.Context(), agentCall("c2"))
			if v.Decision != approver.Deny || name == "no" && !strings.Contains(v.Reason, "denied by Alice") {
				t.Errorf("%s: %+v", name, v)
			}
			if _, err := g.Appeal(t.Context(), agentUser, "c2", "please"); err == nil {
				t.Errorf("%s: appealed again", name)
			}
			if n := x.tg.count(); n != 1 {
				t.Errorf("%s: %d cards", name, n)
			}
		})
	}
}

func TestAppealRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.High)))
		try := func(name string, peer approver.Peer, id string, want error) {
			t.Helper()
			if _, err := g.Appeal(t.Context(), peer, id, "why"); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		try("a call that nobody made", agentUser, "nothing", gate.ErrNoDenial)
		try("no id", agentUser, "", gate.ErrNoDenial)
		g.Decide(t.Context(), agentCall("c1"))
		try("another user", approver.Peer{Known: true, UID: 1001}, "c1", gate.ErrNoDenial)
		try("nobody", approver.Peer{UID: 1000}, "c1", gate.ErrNoDenial)
		try("root, whose call it is not", approver.Peer{Known: true}, "c1", gate.ErrNoDenial)
		if _, err := g.Appeal(t.Context(), agentUser, "c1", strings.Repeat("x", gate.MaxAppealReason+1)); err == nil {
			t.Error("an endless reason")
		}
		try("the user", agentUser, "c1", nil)
		try("once more", agentUser, "c1", approver.ErrAppealed)
		time.Sleep(approver.DefaultAppealWithin)

		late := agentCall("c2")
		late.Dir = "/late"
		g.Decide(t.Context(), late)
		time.Sleep(approver.DefaultAppealWithin)
		try("too late", agentUser, "c2", gate.ErrNoDenial)

		large := agentCall("c3")
		large.Args = []byte(`"` + strings.Repeat("x", gate.MaxDenialBytes) + `"`)
		if v := g.Decide(t.Context(), large); strings.Contains(v.Reason, "approver appeal") {
			t.Error("an appeal is offered that cannot be made")
		}
		// What denies now is not what denied then.
		for name, stage := range map[string]approver.Stage{
			"final": fixed(approver.Verdict{
				Decision: approver.Deny, Severity: approver.High, By: "policy", Rule: "never", Confidence: 1,
			}),
			"failed":      nil,
			"not at all":  says(approver.Pass),
			"with change": modifies(`1`),
		} {
			call := agentCall("d-" + name)
			call.Dir = "/" + name
			g.Decide(t.Context(), call)
			again := *g
			again.Stages = append(again.Stages[:len(again.Stages):len(again.Stages)], stage)
			if name == "not at all" {
				again.Stages = []approver.Stage{says(approver.Pass)}
			}
			cards := x.tg.count()
			if _, err := again.Appeal(t.Context(), agentUser, call.ID, ""); err == nil || x.tg.count() != cards {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(gate.AppealsWindow)
		}
	})
}

// The story: an agent floods its people with appeals of ever other calls.
func TestAppealsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.High)))
		for i := range gate.MaxDenials + 10 {
			call := agentCall("c" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
			call.Dir = "/" + call.ID
			g.Decide(t.Context(), call)
			_, err := g.Appeal(t.Context(), agentUser, call.ID, "")
			if want := i < gate.MaxAppeals; (err == nil) != want {
				t.Fatalf("appeal %d: %v", i, err)
			}
		}
	})
}

// What may never be released by an appeal, whoever said yes to what.
func TestAppealIsBound(t *testing.T) {
	yes := func(t *testing.T, x *bench, g *gate.Gate) {
		t.Helper()
		g.Decide(t.Context(), agentCall("c1"))
		if _, err := g.Appeal(t.Context(), agentUser, "c1", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("%+v", out)
		}
	}
	for name, change := range map[string]func(x *bench, g *gate.Gate){
		"another rule denies": func(_ *bench, g *gate.Gate) { g.Stages[1] = fixed(denying("other", approver.High)) },
		"it is catastrophic now": func(_ *bench, g *gate.Gate) {
			g.Stages[1] = fixed(denying("drop", approver.Catastrophic))
		},
		"it is final now": func(_ *bench, g *gate.Gate) {
			v := denying("drop", approver.High)
			v.Appealable = false
			g.Stages[1] = fixed(v)
		},
		"a stage fails":           func(_ *bench, g *gate.Gate) { g.Stages = append(g.Stages, nil) },
		"the content has changed": func(x *bench, _ *gate.Gate) { x.fpChange = "2" },
		"everything was frozen":   func(x *bench, _ *gate.Gate) { _, _ = x.Controls.Freeze(x.t.Context(), "Bob", "stop") },
		"the yes was not used":    func(*bench, *gate.Gate) { time.Sleep(DefaultTTL + GrantMargin + time.Second) },
		"the audit fails":         func(x *bench, _ *gate.Gate) { x.audit.failing(approver.EventApproved) },
		"the rule asks others too": func(_ *bench, g *gate.Gate) {
			g.Stages = append(g.Stages, fixed(approver.Verdict{
				Decision: approver.Ask, Severity: approver.High, Approvers: []string{"bob"}, Confidence: 1, Rule: "q",
			}))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			g := x.appealGate(fixed(denying("drop", approver.High)))
			yes(t, x, g)
			change(x, g)
			if v := g.Decide(t.Context(), agentCall("c2")); v.Decision != approver.Deny {
				t.Errorf("%s: %+v", name, v)
			}
		})
	}
	// A yes to an ordinary question does not lift a denial, nor the other way round.
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "drop",
		}))
		asked := agentCall("c1")
		asked.ParkAt = time.Now()
		if v := g.Decide(t.Context(), asked); v.Decision != approver.Deny {
			t.Fatalf("%+v", v)
		}
		x.tap(x.tg, 0, "1", true)
		g.Stages[1] = fixed(denying("drop", approver.High))
		if v := g.Decide(t.Context(), agentCall("c2")); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
	})
}

// A catastrophic denial stays catastrophic before people, and a yes to an appeal
// does not last.
func TestAppealTakesNoTapAndNoTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.Catastrophic)))
		g.Decide(t.Context(), agentCall("c1"))
		if _, err := g.Appeal(t.Context(), agentUser, "c1", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeNeedCode {
			t.Errorf("a tap: %+v", out)
		}
		if out := x.command(0, "/approve CODE"); out.Kind != approver.OutcomeRecorded {
			t.Errorf("the code: %+v", out)
		}
		if v := g.Decide(t.Context(), agentCall("c2")); v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		g.Stages[1] = fixed(denying("drop", approver.High))
		again := agentCall("c3")
		again.Dir = "/other"
		g.Decide(t.Context(), again)
		if _, err := g.Appeal(t.Context(), agentUser, "c3", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if out := x.command(1, "/approve CODE 60m"); out.Kind != approver.OutcomeNeedCode {
			t.Errorf("for an hour: %+v", out)
		}
	})
}

// The yes outlives the process, what may be appealed does not.
func TestAppealAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.High)))
		g.Decide(t.Context(), agentCall("c1"))
		g.Appeals = &gate.Appeals{People: x.Broadcaster}
		if _, err := g.Appeal(t.Context(), agentUser, "c1", ""); !errors.Is(err, gate.ErrNoDenial) {
			t.Errorf("%v", err)
		}
		g.Decide(t.Context(), agentCall("c2"))
		if _, err := g.Appeal(t.Context(), agentUser, "c2", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		x.stop()
		y := newBench(t, x.kv)
		if v := y.appealGate(fixed(denying("drop", approver.High))).Decide(t.Context(),
			agentCall("c3")); v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// A rule changes the call, and another denies what it becomes. An appeal would run
// the agent's own call, which is not the one that was judged last.
func TestChangedCallIsNotAppealable(t *testing.T) {
	g := &gate.Gate{
		Stages: []approver.Stage{stage(func(c approver.ToolCall) (approver.Verdict, error) {
			if string(c.Args) == `"safer"` {
				return denying("drop", approver.High), nil
			}
			return approver.Verdict{Decision: approver.Modify, Severity: approver.High, Args: []byte(`"safer"`)}, nil
		})},
		Rewrite: func(c approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
			c.Args = args
			return c, nil
		},
		Log: slog.New(slog.DiscardHandler),
	}
	if v, _ := g.Judge(t.Context(), approver.ToolCall{Args: []byte(`"x"`)}); v.Decision != approver.Deny || v.Appealable {
		t.Errorf("%+v", v)
	}
}
