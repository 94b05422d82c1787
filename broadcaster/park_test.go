package broadcaster

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// parkedCall is a call that is parked after d.
func parkedCall(id string, d time.Duration) approver.ToolCall {
	c := testCall(id)
	c.ParkAt, c.Peer = time.Now().Add(d), approver.Peer{Known: true, UID: 1000}
	return c
}

// The story: nobody is at their phone while the agent's hook waits. The agent is
// told to come back; somebody says yes ten minutes later; the same call runs,
// once, and nobody is told more than that it may.
func TestParkedYesRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.tune(func(o *Options) { o.TTL = time.Hour })
		v := <-x.askAsync(t.Context(), parkedCall("c1", 20*time.Second), approver.High)
		if v.Decision != approver.Deny || !strings.HasPrefix(v.Reason, "Waiting for approval (request ") ||
			!strings.Contains(v.Reason, "run the same call again later") {
			t.Fatalf("%+v", v)
		}
		time.Sleep(10 * time.Minute)
		// comes back too early
		if v := <-x.askAsync(t.Context(), parkedCall("c2", 0), approver.High); !strings.HasPrefix(v.Reason, "Waiting") {
			t.Fatalf("%+v", v)
		}
		if _, second := x.tg.card(1); second.Request != "" {
			t.Fatal("asked twice for one call")
		}
		out := x.tap(x.tg, 0, "1", true)
		if out.Kind != approver.OutcomeRecorded || !strings.Contains(out.Text, "may now run this call once") {
			t.Errorf("told %+v", out)
		}
		synctest.Wait()
		if _, card := x.dc.card(0); card.OneTap || !card.Code.IsZero() ||
			!strings.Contains(card.Result, "Yes by Alice via Telegram · 10 min") ||
			!strings.Contains(card.Result, "may run it once") {
			t.Errorf("the other card: %+v", card)
		}
		if out := x.tap(x.dc, 0, "d2", false); out.Kind != approver.OutcomeTooLate {
			t.Errorf("told %+v", out)
		}
		// Who changes their mind is not told again that the yes counts, nor, from another account of
		// theirs, that it was somebody else's.
		for _, out := range []approver.Outcome{x.tap(x.tg, 0, "1", false), x.tap(x.dc, 0, "d1", false)} {
			if out.Kind != approver.OutcomeTooLate || !strings.Contains(out.Text, "your own yes came first") {
				t.Errorf("told %+v", out)
			}
		}
		// Others must not have it: another user, folder, agent, content.
		for name, change := range map[string]func(*approver.ToolCall){
			"uid":          func(c *approver.ToolCall) { c.Peer.UID++ },
			"unknown peer": func(c *approver.ToolCall) { c.Peer = approver.Peer{} },
			"dir":          func(c *approver.ToolCall) { c.Dir = "/else" },
			"agent":        func(c *approver.ToolCall) { c.Agent = "codex" }, "content": func(c *approver.ToolCall) {
				c.Args = []byte(`{"command":"git push"}`)
			},
		} {
			other := parkedCall("x"+name, 0)
			change(&other)
			if v := <-x.askAsync(t.Context(), other, approver.High); v.Decision != approver.Deny {
				t.Errorf("%s: %+v", name, v)
			}
		}
		a, b := x.askAsync(t.Context(), parkedCall("c3", 0), approver.High),
			x.askAsync(t.Context(), parkedCall("c4", 0), approver.High)
		va, vb := <-a, <-b
		if (va.Decision == approver.Allow) == (vb.Decision == approver.Allow) {
			t.Errorf("two calls at once: %+v and %+v", va, vb)
		}
		ran := map[bool]string{true: "c3", false: "c4"}[va.Decision == approver.Allow]
		// its answer was lost on the way
		if v := <-x.askAsync(t.Context(), parkedCall(ran, 0), approver.High); v.Decision != approver.Allow {
			t.Errorf("the same courier again: %+v", v)
		}
		if v := <-x.askAsync(t.Context(), parkedCall("c5", 0), approver.High); v.Decision != approver.Deny { // asked anew
			t.Errorf("used twice: %+v", v)
		}
		synctest.Wait() // the agent has its answer before the release is in the audit
		_, first := x.tg.card(0)
		var got []string
		for _, e := range x.audit.events(first.Request) {
			if e != approver.EventPosted {
				got = append(got, string(e))
			}
		}
		if all := strings.Join(got, " "); !strings.HasPrefix(all, "asked parked parked ") ||
			!strings.Contains(all, "granted refused ") || strings.Count(all, "released") != 1 {
			t.Errorf("the audit has %s", all)
		}
	})
}

// A no is kept for the call that comes back, and names who said it; after that
// people are asked anew.
func TestParkedNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", false); out.Kind != approver.OutcomeDenied {
			t.Errorf("told %+v", out)
		}
		for range 2 {
			if v := <-x.askAsync(t.Context(), parkedCall("c2", 0), approver.High); v.Decision != approver.Deny ||
				!strings.Contains(v.Reason, "denied by Alice via Telegram") {
				t.Errorf("%+v", v)
			}
		}
		time.Sleep(DefaultTTL + GrantMargin)
		if v := <-x.askAsync(t.Context(), parkedCall("c3", 0), approver.High); !strings.HasPrefix(v.Reason, "Waiting") {
			t.Errorf("%+v", v)
		}
	})
}

// A yes that nobody comes for, one that a freeze burned, and one that is not in
// the audit run nothing.
func TestParkedYesEnds(t *testing.T) {
	for name, end := range map[string]func(x *bench){
		"its time is over": func(*bench) { time.Sleep(DefaultTTL + GrantMargin) },
		"a freeze": func(x *bench) {
			if n, err := x.Controls.Freeze(x.t.Context(), "uid 7", ""); n != 1 || err != nil {
				x.t.Errorf("%d, %v", n, err)
			}
			if err := x.Controls.Unfreeze(x.t.Context(), "uid 7"); err != nil {
				x.t.Error(err)
			}
			time.Sleep(time.Second)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
			synctest.Wait()
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
			end(x)
			if v := <-x.askAsync(t.Context(), parkedCall("c2", 0), approver.High); v.Decision != approver.Deny {
				t.Errorf("%s: %+v", name, v)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
		synctest.Wait()
		x.audit.failing(approver.EventGranted)
		if out := x.tap(x.tg, 0, "1", true); out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded {
			t.Errorf("told %+v", out)
		}
		if v := <-x.askAsync(t.Context(), parkedCall("c2", 0), approver.High); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
	})
}

// What was HIGH when people said yes and is CATASTROPHIC now is asked anew.
func TestParkedYesIsOfItsSeverity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		if v := <-x.askAsync(t.Context(), parkedCall("c2", 0), approver.Catastrophic); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
	})
}

// A fail-over took the request that a call's id led to. An identical call had been parked,
// and its yes waited. The courier looked for its lost request for nine seconds, was told that
// the store had a problem, and the yes stayed unused. It takes the yes now, once.
func TestACallWhoseRequestIsLostTakesAParkedYes(t *testing.T) {
	for name, c := range map[string]struct {
		yes, lost bool
		decision  approver.Decision
	}{
		"a yes": {true, true, approver.Allow}, "a no": {false, true, approver.Deny},
		"a yes, nothing is lost": {true, false, approver.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call := peerCall("a", 1000)
				call.ParkAt = time.Now().Add(time.Second)
				<-x.askAsync(t.Context(), call, approver.High)
				x.tap(x.tg, 0, "1", c.yes)
				if c.lost {
					gone := []byte("0198c0de-0000-7000-8000-000000000000")
					if err := x.kv.Put(t.Context(), approver.Key("call", "b"), gone, "", approver.NewRev(), time.Time{},
						time.Now().Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
				}
				v := <-x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				if v.Decision != c.decision || v.By != approver.ByPeople || x.tg.count() != 1 {
					t.Errorf("%v by %s: %q, %d cards", v.Decision, v.By, v.Reason, x.tg.count())
				}
				again := x.askAsync(t.Context(), peerCall("c", 1000), approver.High)
				time.Sleep(3 * time.Second)
				if c.yes && (x.tg.count() != 2 || len(x.audit.released()) != 1) {
					t.Errorf("%d cards, released %v", x.tg.count(), x.audit.released())
				}
				if c.yes {
					x.tap(x.tg, 1, "1", false)
				}
				<-again
			})
		})
	}
}

// The same with the yes to an appeal.
func TestACallWhoseRequestIsLostTakesTheYesToAnAppeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		g := x.appealGate(fixed(denying("drop", approver.High)))
		g.Decide(t.Context(), agentCall("c1"))
		if _, err := g.Appeal(t.Context(), agentUser, "c1", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		gone := []byte("0198c0de-0000-7000-8000-000000000000")
		if err := x.kv.Put(t.Context(), approver.Key("call", "c2"), gone, "", approver.NewRev(), time.Time{},
			time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(t.Context(), agentCall("c2")); v.Decision != approver.Allow || x.tg.count() != 1 {
			t.Errorf("%v %q, %d cards", v.Decision, v.Reason, x.tg.count())
		}
	})
}
