package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// several asks n identical calls, one after the other, and waits until the cards are
// still.
func (x *bench) several(ctx context.Context, n int, sev approver.Severity) []<-chan approver.Verdict {
	var out []<-chan approver.Verdict
	for i := range n {
		out = append(out, x.askAsync(ctx, peerCall(string(rune('a'+i)), 1000), sev))
		synctest.Wait()
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	return out
}

func decisions(answers []<-chan approver.Verdict) (out []approver.Decision) {
	for _, a := range answers {
		out = append(out, (<-a).Decision)
	}
	return out
}

// released lists the calls that the audit says were released.
func (a *memAudit) released() (calls []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.records {
		if r.Event == approver.EventReleased {
			calls = append(calls, r.Call.ID)
		}
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// An agent starts the same command three times at once. There is one card, which is not
// pushed again and says that three wait; one tap runs each of them once, and each is in
// the audit with its own id.
func TestIdenticalCallsShareACard(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.High)
		_, card := x.tg.card(0)
		if x.tg.count() != 1 || x.dc.count() != 1 ||
			!strings.HasPrefix(warned(card), "3 identical calls wait: a yes runs each of them once.") ||
			card.Code.IsZero() || !card.OneTap || card.State != approver.Pending {
			t.Fatalf("%d cards: %+v", x.tg.count(), card)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("%+v", out)
		}
		if got := decisions(answers); !slices.Equal(got, []approver.Decision{
			approver.Allow, approver.Allow, approver.Allow,
		}) {
			t.Errorf("%v", got)
		}
		time.Sleep(5 * time.Second)
		if got := x.audit.released(); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("released by the audit: %v", got)
		}
		if _, card = x.tg.card(0); !strings.Contains(card.Result, "3 identical calls, once each") || x.tg.count() != 1 {
			t.Errorf("%+v", card)
		}
		// Each once: a fourth call is asked about, and none of the three gets it again.
		again := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
		if v := <-again; v.Decision != approver.Deny {
			t.Errorf("a second time: %+v", v)
		}
		fourth := x.askAsync(t.Context(), peerCall("d", 1000), approver.High)
		time.Sleep(time.Second)
		if x.tg.count() != 2 {
			t.Errorf("%d cards after a fourth call", x.tg.count())
		}
		x.tap(x.tg, 1, "1", false)
		<-fourth
	})
}

// While somebody reads a card with one call, another one joins. The yes is for what the
// card said: the call that joined is asked about with a card of its own.
func TestAYesIsForWhatTheCardShowed(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.several(t.Context(), 2, approver.High)
		synctest.Wait() // the cards are still
		bad := func(approver.Card) error { return errors.New("502") }
		x.tg.onUpdate(bad)
		x.dc.onUpdate(bad)
		late := x.askAsync(t.Context(), peerCall("late", 1000), approver.High)
		time.Sleep(3 * time.Second)
		if _, card := x.tg.card(0); !strings.HasPrefix(warned(card), "2 identical calls") {
			t.Fatalf("%+v", card)
		}
		synctest.Wait()
		x.tg.onUpdate(nil)
		x.dc.onUpdate(nil)
		x.tap(x.tg, 0, "1", true)
		if got := decisions(first); !slices.Equal(got, []approver.Decision{approver.Allow, approver.Allow}) {
			t.Errorf("%v", got)
		}
		time.Sleep(5 * time.Second)
		select {
		case v := <-late:
			t.Fatalf("a call that no card showed was answered: %+v", v)
		default:
		}
		if x.tg.count() != 2 || slices.Contains(x.audit.released(), "late") {
			t.Fatalf("%d cards, released %v", x.tg.count(), x.audit.released())
		}
		x.tap(x.tg, 1, "1", true)
		if v := <-late; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// The moment of the tap is before the edit: the second call is not on the card yet.
func TestAYesBeforeTheEdit(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		one := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		synctest.Wait()
		two := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		if v := <-one; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		time.Sleep(3 * time.Second)
		if x.tg.count() != 2 {
			t.Fatalf("%d cards", x.tg.count())
		}
		if _, card := x.tg.card(0); card.State == approver.Pending || !card.Code.IsZero() {
			t.Errorf("the first card has buttons: %+v", card)
		}
		x.tap(x.tg, 1, "1", false)
		if v := <-two; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
	})
}

// A no is for all, and so is silence.
func TestANoIsForAll(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.High)
		x.tap(x.tg, 0, "1", false)
		if got := decisions(answers); !slices.Equal(got, []approver.Decision{
			approver.Deny, approver.Deny, approver.Deny,
		}) || x.tg.count() != 1 {
			t.Errorf("%v, %d cards", got, x.tg.count())
		}
	})
	story(t, func(t *testing.T, x *bench) {
		if got := decisions(x.several(t.Context(), 3, approver.High)); !slices.Equal(got, []approver.Decision{
			approver.Deny, approver.Deny, approver.Deny,
		}) || x.tg.count() != 1 {
			t.Errorf("%v, %d cards", got, x.tg.count())
		}
	})
}

// A typed code lets one CATASTROPHIC call run, however many wait: the card says so, and
// the others are asked about again, on one card.
func TestACatastrophicYesIsForOne(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.Catastrophic)
		_, card := x.tg.card(0)
		if !strings.HasPrefix(warned(card), "3 identical calls wait: a yes runs one, the others are asked again.") ||
			card.OneTap {
			t.Fatalf("%+v", card)
		}
		x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
		if v := <-answers[0]; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		time.Sleep(5 * time.Second)
		if _, card = x.tg.card(1); x.tg.count() != 2 || !strings.HasPrefix(warned(card), "2 identical calls wait") {
			t.Fatalf("%d cards: %+v", x.tg.count(), card)
		}
		x.tap(x.tg, 1, "1", false)
		if got := decisions(answers[1:]); !slices.Equal(got, []approver.Decision{approver.Deny, approver.Deny}) {
			t.Errorf("%v", got)
		}
		if got := x.audit.released(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%v", got)
		}
	})
}

// The courier of the first call dies. That takes only itself off the card; a yes releases
// the others, and not the call that nobody waits for.
func TestOneCourierLeavesTheOthersStay(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, die := context.WithCancel(t.Context())
		first := x.askAsync(ctx, peerCall("first", 1000), approver.High)
		synctest.Wait()
		others := x.several(t.Context(), 2, approver.High)
		die()
		<-first
		time.Sleep(WithdrawGrace + 5*time.Second)
		synctest.Wait()
		if _, card := x.tg.card(0); card.State != approver.Pending || !strings.HasPrefix(warned(card), "2 identical calls") {
			t.Fatalf("%+v", card)
		}
		x.tap(x.tg, 0, "1", true)
		if got := decisions(others); !slices.Equal(got, []approver.Decision{approver.Allow, approver.Allow}) {
			t.Errorf("%v", got)
		}
		time.Sleep(time.Second)
		if got := x.audit.released(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%v", got)
		}
	})
}

// When none of them waits any more, the request is withdrawn.
func TestAllCouriersLeave(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, die := context.WithCancel(t.Context())
		answers := x.several(ctx, 3, approver.High)
		die()
		decisions(answers)
		time.Sleep(WithdrawGrace + 5*time.Second)
		if _, card := x.tg.card(0); card.State != approver.Withdrawn {
			t.Errorf("%+v", card)
		}
	})
}

// What is not the same stands alone: another user, agent, folder, content or severity that
// asks for more. Appeals and what the daemon asks about itself share nothing.
func TestWhatIsNotIdenticalStandsAlone(t *testing.T) {
	base := func() (approver.ToolCall, approver.Verdict) {
		return peerCall("b", 1000), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High}
	}
	for name, spoil := range map[string]func(*approver.ToolCall, *approver.Verdict){
		"another user":     func(c *approver.ToolCall, _ *approver.Verdict) { c.Peer.UID = 1001 },
		"root":             func(c *approver.ToolCall, _ *approver.Verdict) { c.Peer.UID = 0 },
		"an unknown user":  func(c *approver.ToolCall, _ *approver.Verdict) { c.Peer = approver.Peer{} },
		"another agent":    func(c *approver.ToolCall, _ *approver.Verdict) { c.Agent = "codex" },
		"another folder":   func(c *approver.ToolCall, _ *approver.Verdict) { c.Dir = "/repo/sub" },
		"a folder's alias": func(c *approver.ToolCall, _ *approver.Verdict) { c.Dir = "/repo/" },
		"another command": func(c *approver.ToolCall, _ *approver.Verdict) {
			c.Command, c.Args = "git push -f", []byte(`{"command":"git push -f"}`)
		},
		"one space more": func(c *approver.ToolCall, _ *approver.Verdict) {
			c.Command, c.Args = "git push  --force", []byte(`{"command":"git push  --force"}`)
		},
		"another argument": func(c *approver.ToolCall, _ *approver.Verdict) {
			c.Args = []byte(`{"command":"git push --force","timeout":1}`)
		},
		"another tool":           func(c *approver.ToolCall, _ *approver.Verdict) { c.Tool = "Shell" },
		"a stricter question":    func(_ *approver.ToolCall, v *approver.Verdict) { v.Severity = approver.Catastrophic },
		"others are to answer":   func(_ *approver.ToolCall, v *approver.Verdict) { v.Approvers = []string{"bob"} },
		"on one channel":         func(_ *approver.ToolCall, v *approver.Verdict) { v.Channels = []string{"telegram"} },
		"a question of approver": func(c *approver.ToolCall, _ *approver.Verdict) { c.Control = "unfreeze" },
		"an environment that differs": func(c *approver.ToolCall, _ *approver.Verdict) {
			c.Env = map[string]string{"PATH": "/tmp/evil"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				synctest.Wait()
				call, why := base()
				spoil(&call, &why)
				go x.Ask(t.Context(), call, why)
				time.Sleep(4 * time.Second)
				if n := x.tg.count(); n != 2 {
					t.Errorf("%d cards", n)
				}
			})
		})
	}
	t.Run("the same", func(t *testing.T) {
		story(t, func(t *testing.T, x *bench) {
			x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
			synctest.Wait()
			call, why := base()
			call.Session, call.Peer.PID, call.Claimed = "another", 77, "other words"
			go x.Ask(t.Context(), call, why)
			time.Sleep(4 * time.Second)
			if n := x.tg.count(); n != 1 {
				t.Errorf("%d cards", n)
			}
		})
	})
}

// A freeze comes between the yes and the second call: what was not given yet burns.
func TestAFreezeBurnsSharedCalls(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.High)
		if _, err := x.Controls.Freeze(t.Context(), "alice", "stop"); err != nil {
			t.Fatal(err)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind == approver.OutcomeApproved {
			t.Errorf("%+v", out)
		}
		if got := decisions(answers); !slices.Equal(got, []approver.Decision{approver.Deny, approver.Deny, approver.Deny}) {
			t.Errorf("%v", got)
		}
	})
}

// What would run changed after the card: no call of it runs.
func TestSharedCallsThatChanged(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.High)
		x.fpChange = "another policy"
		x.tap(x.tg, 0, "1", true)
		if got := decisions(answers); !slices.Equal(got, []approver.Decision{
			approver.Deny, approver.Deny, approver.Deny,
		}) || len(x.audit.released()) != 0 {
			t.Errorf("%v, %v", got, x.audit.released())
		}
	})
}

// The daemon ends while three wait, and their couriers come back to the next: there is
// still one request, and a yes is for what its card showed.
func TestSharedCallsOutliveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		connected, cut := context.WithCancelCause(t.Context())
		x.several(connected, 3, approver.High)
		msg, card := x.tg.card(0)
		cut(approver.ErrShuttingDown)
		x.stop()
		y := newBench(t, kv)
		y.tg.holds(msg, card)
		var answers []<-chan approver.Verdict
		for _, id := range []string{"c", "a", "b"} {
			answers = append(answers, y.askAsync(t.Context(), peerCall(id, 1000), approver.High))
		}
		late := y.askAsync(t.Context(), peerCall("late", 1000), approver.High)
		time.Sleep(4 * time.Second)
		if n := y.tg.count(); n != 1 {
			t.Errorf("%d cards", n)
		}
		y.tap(y.tg, 0, "1", true)
		for i, a := range answers {
			if v := <-a; v.Decision != approver.Allow {
				t.Errorf("%d: %+v", i, v)
			}
		}
		time.Sleep(3 * time.Second)
		if n := y.tg.count(); n != 2 {
			t.Errorf("%d cards: the late call was on none", n)
		}
		y.tap(y.tg, 1, "1", false)
		if v := <-late; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
	})
}

// Telegram took the first post, and its answer was lost, so there are two cards with one
// code. The one that is known says that two calls wait; the other still says one. A yes
// from it, or by the code, is for the first call alone, and the second is asked anew.
func TestAYesFromACardThatWasLostIsForWhatItShowed(t *testing.T) {
	for name, answer := range map[string]func(x *retried) approver.Outcome{
		"a tap on the lost card":  func(x *retried) approver.Outcome { return x.tap(x.tg.chat, 0, "1", true) },
		"a tap on the known card": func(x *retried) approver.Outcome { return x.tap(x.tg.chat, 1, "1", true) },
		"the code":                func(x *retried) approver.Outcome { return x.code(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), []step{{err: errors.New("cut"), taken: true}}, nil)
				first := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				time.Sleep(5 * time.Second)
				second := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				time.Sleep(5 * time.Second)
				if x.tg.count() != 2 {
					t.Fatalf("%d cards on Telegram", x.tg.count())
				}
				if out := answer(x); out.Kind != approver.OutcomeApproved {
					t.Fatalf("%+v", out)
				}
				if v := <-first; v.Decision != approver.Allow {
					t.Errorf("the first call: %+v", v)
				}
				time.Sleep(5 * time.Second)
				select {
				case v := <-second:
					t.Errorf("the second call was answered: %+v", v)
				default:
				}
				if got := x.audit.released(); !slices.Equal(got, []string{"a"}) {
					t.Errorf("released: %v", got)
				}
			})
		})
	}
}
