package broadcaster

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A stateKV does something in the moment in which a request comes into a state: after
// the last look of whoever writes that, and before anybody sees it.
type stateKV struct {
	*memKV
	state atomic.Pointer[string]
	then  atomic.Pointer[func()]
}

func (k *stateKV) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	return k.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (k *stateKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if state := k.state.Load(); state != nil && strings.Contains(key, "}:req:") &&
		strings.Contains(string(value), `"state":"`+*state+`"`) {
		if then := k.then.Swap(nil); then != nil {
			(*then)()
		}
	}
	return k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// slowToExamine has an answer not wait for what it would release: the courier's connection
// releases the call.
func (x *bench) slowToExamine() {
	synctest.Wait() // nobody uses the options now
	was := x.Fingerprint
	x.tune(func(o *Options) {
		o.Fingerprint = func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
			time.Sleep(2 * examineWithin)
			return was(ctx, call)
		}
	})
}

// voidActs are what people can do after a yes. They change the controls and nothing else,
// as on another daemon that has not yet come to this request. Calls with the id a are of
// the session s1, others of s2.
func voidActs() map[string]func(c *Controls, now time.Time) {
	hold := func(session string) func(c *Controls, now time.Time) {
		return func(c *Controls, now time.Time) {
			c.hold(Hold{
				Freeze: Freeze{By: "alarm"}, Who: Who{
					Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/elsewhere", Session: session,
				},
			}, now)
		}
	}
	acts := map[string]func(c *Controls, now time.Time){
		"freeze": func(c *Controls, now time.Time) {
			c.Freeze, c.Burned = Freeze{At: now, By: "uid 0"}, now
		},
		"hold of the session that asked":  hold("s1"),
		"hold of the one that comes back": hold("s2"),
		"hold of the project": func(c *Controls, now time.Time) {
			c.hold(Hold{Who: Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/repo"}}, now)
		},
		"removal": func(c *Controls, now time.Time) { _ = c.remove(Removal{Person: "alice"}, now) },
		"removal of her account": func(c *Controls, now time.Time) {
			_ = c.remove(Removal{Person: "a", Identities: []approver.Identity{{Channel: "telegram", ID: "1"}}}, now)
		},
	}
	for name, act := range maps.Clone(acts) {
		acts[name+", and its end"] = func(c *Controls, now time.Time) {
			act(c, now)
			c.lift(now)
			for _, r := range c.Removed.InForce() {
				_ = c.restore(r, now)
			}
		}
	}
	acts["nothing"] = func(*Controls, time.Time) {}
	acts["hold of another session"] = hold("s3")
	acts["removal of somebody else"] = func(c *Controls, now time.Time) { _ = c.remove(Removal{Person: "bob"}, now) }
	return acts
}

// sessionCall is a call of s1 if it is a, else of s2.
func sessionCall(id string) approver.ToolCall {
	call := peerCall(id, 1000)
	if call.Session = "s2"; id == "a" {
		call.Session = "s1"
	}
	return call
}

// inPlace has a ask, b join it, and a leave, so that the yes to the question of s1 is
// for a call of s2.
func (x *bench) inPlace(b context.Context) <-chan approver.Verdict {
	ctx, die := context.WithCancel(x.t.Context())
	first := x.askAsync(ctx, sessionCall("a"), approver.High)
	synctest.Wait()
	second := x.askAsync(b, sessionCall("b"), approver.High)
	time.Sleep(3 * time.Second)
	die()
	<-first
	time.Sleep(5 * time.Second)
	return second
}

// once asks with a call and gives up after ten seconds.
func (x *bench) once(id string) approver.Verdict {
	ctx, cancel := context.WithTimeout(x.t.Context(), 10*time.Second)
	defer cancel()
	return x.Ask(ctx, sessionCall(id), approver.Verdict{
		Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
	})
}

// voidWays are the ways in which a yes gives a call: each has act run between the yes and
// the call, and returns what the agent is told.
func voidWays() map[string]func(x *bench, kv *stateKV, act func()) approver.Verdict {
	at := func(state string, slow bool) func(x *bench, kv *stateKV, act func()) approver.Verdict {
		return func(x *bench, kv *stateKV, act func()) approver.Verdict {
			second := x.inPlace(x.t.Context())
			if slow {
				x.slowToExamine()
			}
			kv.state.Store(&state)
			kv.then.Store(&act)
			x.tap(x.tg, 0, "1", true)
			return <-second
		}
	}
	return map[string]func(x *bench, kv *stateKV, act func()) approver.Verdict{
		"release with the answer":     at("consumed", false),
		"release after the answer":    at("approved", true),
		"answer after such a release": at("consumed", true),
		"parked take": func(x *bench, _ *stateKV, act func()) approver.Verdict {
			call := sessionCall("a")
			call.ParkAt = time.Now()
			<-x.askAsync(x.t.Context(), call, approver.High)
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
			synctest.Wait()
			act()
			return x.once("b")
		},
		"repeat": func(x *bench, _ *stateKV, act func()) approver.Verdict {
			second := x.inPlace(x.t.Context())
			x.tap(x.tg, 0, "1", true)
			if v := <-second; v.Decision != approver.Allow {
				x.t.Fatalf("%+v", v)
			}
			act()
			return x.once("b")
		},
		"share": func(x *bench, _ *stateKV, act func()) approver.Verdict {
			first := x.askAsync(x.t.Context(), sessionCall("a"), approver.High)
			synctest.Wait()
			ctx, cut := context.WithCancel(x.t.Context())
			second := x.askAsync(ctx, sessionCall("b"), approver.High)
			time.Sleep(3 * time.Second)
			cut()
			<-second
			x.tap(x.tg, 0, "1", true)
			if v := <-first; v.Decision != approver.Allow {
				x.t.Fatalf("%+v", v)
			}
			act()
			return x.once("b")
		},
		"grant": func(x *bench, _ *stateKV, act func()) approver.Verdict {
			first := x.askAsync(x.t.Context(), sessionCall("a"), approver.High)
			synctest.Wait()
			_, card := x.tg.card(0)
			rep := typed(approver.ByCommand, card)
			rep.Grant, _ = approver.ParseTerm("15m")
			x.Answers.Reply(x.t.Context(), rep)
			<-first
			synctest.Wait()
			act()
			return x.once("b")
		},
	}
}

// The story: people say yes, and then freeze everything, one agent freezes because its
// calls go around the gate, or whoever said yes is removed because their phone is stolen.
// Some ways from a yes to a call looked at one of these and not at another: a courier
// that came back for its share of a removed person's yes got it, and the yes to one
// session ran in another that was frozen since. All of them ask in one place now.
func TestAVoidYesGivesNothing(t *testing.T) {
	for way, try := range voidWays() {
		for name, act := range voidActs() {
			synctest.Test(t, func(t *testing.T) {
				kv := &stateKV{memKV: newMemKV()}
				x := newBenchOn(t, kv.memKV, kv)
				v := try(x, kv, func() {
					_, err := x.Controls.change(t.Context(), func(c *Controls, now time.Time) error { act(c, now); return nil })
					if err != nil {
						t.Error(err)
					}
				})
				harmless := name == "nothing" || name == "hold of another session" ||
					strings.HasPrefix(name, "removal of somebody else")
				if (v.Decision == approver.Allow) != harmless {
					t.Errorf("%s, %s: %v %q", way, name, v.Decision, v.Reason)
				}
			})
		}
	}
}

// A yes that was noted stands until people do anything that takes it back.
func TestAYesThatCounts(t *testing.T) {
	for name, act := range voidActs() {
		for _, term := range []string{"once", "15m"} {
			story(t, func(t *testing.T, x *bench) {
				first := x.askAsync(t.Context(), sessionCall("a"), approver.High)
				synctest.Wait()
				_, card := x.tg.card(0)
				rep := typed(approver.ByCommand, card)
				rep.Grant, _ = approver.ParseTerm(term)
				x.Answers.Reply(t.Context(), rep)
				v := <-first
				synctest.Wait()
				if term != "once" {
					v = x.once("b")
				}
				_, err := x.Controls.change(t.Context(), func(c *Controls, now time.Time) error { act(c, now); return nil })
				if err != nil {
					t.Fatal(err)
				}
				call := sessionCall("b")
				if term == "once" { // without a grant it is of the session that asked
					call = sessionCall("a")
				}
				harmless := name == "nothing" || name == "hold of another session" ||
					strings.HasPrefix(name, "removal of somebody else") ||
					term == "once" && strings.HasPrefix(name, "hold of the one that comes back")
				if err := x.Grants.Stands(t.Context(), v.Yes(), call); (err == nil) != harmless {
					t.Errorf("%s, %s: %v", name, term, err)
				}
			})
		}
	}
	story(t, func(t *testing.T, x *bench) {
		if x.Grants.Stands(t.Context(), approver.Yes{}, sessionCall("a")) == nil ||
			x.Grants.Stands(t.Context(), approver.Verdict{
				Decision: approver.Allow, By: approver.ByPeople,
			}.Yes(), sessionCall("a")) == nil {
			t.Error("the zero yes stands")
		}
	})
}
