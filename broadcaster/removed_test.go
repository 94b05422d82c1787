package broadcaster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

func removeAlice(t *testing.T, b *Broadcaster) {
	t.Helper()
	gone := Removal{
		Person: "alice", Identities: []approver.Identity{
			{Channel: "telegram", ID: "1"}, {Channel: "discord", ID: "d1"},
		}, By: "uid 7", Reason: "left",
	}
	if _, err := b.Removals.Remove(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
}

// away is the removal of somebody as it stands now.
func away(t *testing.T, b *Broadcaster, person string) Removal {
	t.Helper()
	c, _, err := b.Controls.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Removed.InForce() {
		if r.Person == person {
			return r
		}
	}
	return Removal{Person: person}
}

// The story: Alice's session in a chat is stolen. Somebody runs one command, and whoever
// has the session taps, types codes, says yes and no, on every platform and in every way
// there is. Nothing of it counts any more, Bob decides, and the audit says who tried.
func TestARemovedPersonCountsNowhere(t *testing.T) {
	ways := map[string]func(x *bench, c *chat, sender string) approver.Reply{}
	for _, approve := range []bool{true, false} {
		for _, m := range []approver.Method{
			approver.ByTap, approver.ByTyped, approver.ByPlain, approver.ByCode, approver.ByCommand, approver.ByID,
			approver.NoMethod,
		} {
			for _, typed := range []bool{true, false} {
				ways[fmt.Sprintf("%v %v code=%v", approve, m, typed)] = func(x *bench, c *chat, sender string) approver.Reply {
					msg, card := c.card(0)
					r := approver.Reply{
						Channel: c.name, Conversation: map[string]string{"telegram": "T", "discord": "D"}[c.name], Sender: sender,
						Approve: approve, Method: m, Request: card.Request, Message: msg,
					}
					if m == approver.ByID {
						r.Message = ""
					}
					if typed {
						r.Code = card.Code
					}
					return r
				}
			}
		}
	}
	for name, way := range ways {
		for _, at := range []struct{ channel, sender, bob string }{{"telegram", "1", "2"}, {"discord", "d1", "d2"}} {
			story(t, func(t *testing.T, x *bench) {
				c := map[string]*chat{"telegram": x.tg, "discord": x.dc}[at.channel]
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				removeAlice(t, x.Broadcaster)
				_, card := c.card(0)
				out := x.Answers.Reply(t.Context(), way(x, c, at.sender))
				if out.Kind != approver.OutcomeRefused || !strings.Contains(out.Text, "You were removed") {
					t.Errorf("%s on %s: %+v", name, at.channel, out)
				}
				if r, _, _ := x.Requests.load(t.Context(), card.Request); r.State != approver.Pending {
					t.Errorf("%s on %s: the request is %v", name, at.channel, r.State)
				}
				if !strings.Contains(fmt.Sprint(x.audit.events("")), "refused") {
					t.Error("the audit does not say that it was tried")
				}
				x.tap(c, 0, at.bob, true)
				if v := <-answer; v.Decision != approver.Allow {
					t.Errorf("Bob's yes: %+v", v)
				}
			})
		}
	}
}

// The story: Alice said yes to calls that have not come yet: one that was parked, one for
// an hour, one for the session. She is removed. None of them runs any more, also not when
// she is brought back; the lists of grants are empty, and cards say that it was revoked.
func TestAYesIsVoidOnceItsGiverIsRemoved(t *testing.T) {
	for _, who := range []string{"1", "2"} {
		for _, kind := range []string{"parked", "/approve CODE 15m", "/approve CODE session"} {
			story(t, func(t *testing.T, x *bench) {
				call := testCall("c1")
				if kind == "parked" {
					call = parkedCall("c1", 0)
				}
				v := x.askAsync(t.Context(), call, approver.High)
				synctest.Wait()
				if kind == "parked" {
					<-v
					x.tap(x.tg, 0, who, true)
				} else {
					_, card := x.tg.card(0)
					rep := approver.Reply{
						Channel: "telegram", Conversation: "T", Sender: who, Approve: true, Method: approver.ByCommand, Code: card.Code,
					}
					rep.Grant, _ = approver.ParseTerm(strings.Fields(kind)[2])
					x.Answers.Reply(t.Context(), rep)
					<-v
				}
				synctest.Wait()
				if grants, err := x.Grants.List(t.Context()); err != nil || len(grants) != 1 {
					t.Fatalf("%s: %v, %v", kind, grants, err)
				}
				removeAlice(t, x.Broadcaster)
				synctest.Wait()
				grants, err := x.Grants.List(t.Context())
				if err != nil || len(grants) != map[string]int{"1": 0, "2": 1}[who] {
					t.Errorf("%s by %s: %v, %v", kind, who, grants, err)
				}
				time.Sleep(time.Second)
				if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, "alice"), "uid 0"); err != nil {
					t.Fatal(err)
				}
				back := call
				back.ID, back.ParkAt = "c2", time.Time{}
				if ran := x.runs(back, approver.High); ran != (who == "2") {
					t.Errorf("%s by %s: it ran: %v", kind, who, ran)
				}
				_, card := x.tg.card(0)
				if kind == "parked" && who == "1" && !strings.Contains(card.Result, "revoked") {
					t.Errorf("the card says %q", card.Result)
				}
			})
		}
	}
}

// The story: Alice taps in the very moment in which she is removed. Her tap was looked at
// before the removal, and is stored after it. The call does not run; the same
// for a question of approver itself, which no freeze ever stopped.
func TestARemovalWinsAgainstAYesUnderWay(t *testing.T) {
	for _, c := range []struct {
		control, state string
		slow           bool
	}{
		{"", "consumed", false}, {"", "approved", true}, {"unfreeze", "approved", false},
	} {
		control := c.control
		synctest.Test(t, func(t *testing.T) {
			kv := &stateKV{memKV: newMemKV()}
			kv.state.Store(&c.state)
			x := newBenchOn(t, kv.memKV, kv)
			call := testCall("c1")
			call.Control = control
			answer := x.askAsync(t.Context(), call, approver.High)
			synctest.Wait()
			if c.slow {
				x.slowToExamine()
			}
			gone := func() { removeAlice(t, x.Broadcaster) }
			kv.then.Store(&gone)
			out := x.tap(x.tg, 0, "1", true)
			if v := <-answer; v.Decision == approver.Allow || out.Kind == approver.OutcomeApproved {
				t.Errorf("%q: %+v, told %+v", control, v, out)
			}
			if kv.then.Load() != nil {
				t.Error("nothing was tried")
			}
		})
	}
}

// The story: a courier whose connection broke comes back for its yes within seconds. In
// between whoever gave it was removed: it is not told again.
func TestAYesOfSomebodyRemovedIsNotRepeated(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		<-answer
		removeAlice(t, x.Broadcaster)
		v := x.Ask(t.Context(), testCall("c1"), approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
		})
		if v.Decision == approver.Allow || !strings.Contains(v.Reason, "was removed since") {
			t.Errorf("%+v", v)
		}
	})
}

// The story: two daemons share a store. On one Alice is removed; on the other, which is
// not told, she counts no more from that second on, and not after restarts either. Lists
// that give her account to another person, or her name another account, change nothing.
// Then she is brought back, and counts on both.
func TestARemovalHoldsOnEveryDaemonAndAfterRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		a, b := newBench(t, kv), newBench(t, kv)
		refused := func(what string, x *bench, channel, sender string) {
			t.Helper()
			who, why, _ := x.Approvers.counted(t.Context(), channel, sender)
			if !strings.Contains(why.Format, "You were removed") {
				t.Errorf("%s: %+v counts (%q)", what, who, why)
			}
		}
		answer := b.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		removeAlice(t, a.Broadcaster)
		refused("the other daemon", b, "telegram", "1")
		if out := b.tap(b.tg, 0, "1", true); out.Kind != approver.OutcomeRefused {
			t.Errorf("%+v", out)
		}
		b.tap(b.tg, 0, "2", false)
		<-answer
		b.stop()
		c := newBench(t, kv)
		refused("after a restart", c, "discord", "d1")
		renamed := approver.People{}
		renamed.Add("telegram", []approver.Approver{
			{ID: "1", Name: "Mallory", Person: "mallory"}, {ID: "9", Person: "alice"},
		})
		c.Approvers.Set(renamed)
		refused("her account under another name", c, "telegram", "1")
		refused("another account of hers", c, "telegram", "9")
		if n := len(c.Approvers.Counting()); n != 0 {
			t.Errorf("%d count", n)
		}
		if err := a.Removals.Restore(t.Context(), away(t, a.Broadcaster, "alice"), "uid 0"); err != nil {
			t.Fatal(err)
		}
		if _, why, _ := c.Approvers.counted(t.Context(), "telegram", "1"); why.Format != "" {
			t.Error(why)
		}
		if err := a.Removals.Restore(t.Context(), away(t, a.Broadcaster, "alice"), "uid 0"); !errors.Is(err, ErrNotRemoved) {
			t.Error(err)
		}
	})
}

// The story: whoever may write to the store deletes, forges or puts back the record in
// which the removal is. Everything freezes, as for a freeze; and what the daemon writes in
// its place still has the removal, so that lifting the freeze brings nobody back.
func TestARemovalOutlivesItsRecord(t *testing.T) {
	for name, harm := range map[string]func(kv *memKV, before memRecord){
		"deleted":  func(kv *memKV, _ memRecord) { delete(kv.records, controlKey()) },
		"put back": func(kv *memKV, before memRecord) { kv.records[controlKey()] = before },
		"forged":   func(kv *memKV, _ memRecord) { kv.records[controlKey()] = memRecord{[]byte("{"), approver.NewRev()} },
	} {
		story(t, func(t *testing.T, x *bench) {
			before := x.kv.record(controlKey())
			removeAlice(t, x.Broadcaster)
			x.kv.mu.Lock()
			harm(x.kv, before)
			x.kv.mu.Unlock()
			if _, why, _ := x.Approvers.counted(t.Context(), "telegram", "1"); why.Format == "" {
				t.Errorf("%s: she counts", name)
			}
			time.Sleep(3 * guardEvery)
			c, _, err := x.Controls.Load(t.Context())
			if err != nil || !c.Frozen() {
				t.Fatalf("%s: not frozen: %+v %v", name, c, err)
			}
			if err := x.Controls.Unfreeze(t.Context(), "uid 0"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, why, _ := x.Approvers.counted(t.Context(), "telegram", "1")
			if !strings.Contains(why.Format, "You were removed") {
				t.Errorf("%s: she is back (%q)", name, why)
			}
		})
	}
}

// Where the store cannot say who was removed, no answer counts, of nobody; and a removal
// that it does not take fails aloud.
func TestARemovalThatCannotBeRead(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.kv.failing(func(_, key string) error {
			if key == controlKey() {
				return errors.New("away")
			}
			return nil
		})
		for _, sender := range []string{"1", "2"} {
			if out := x.tap(x.tg, 0, sender, true); out.Kind != approver.OutcomeRefused {
				t.Errorf("%+v", out)
			}
		}
		_, err := x.Removals.Remove(t.Context(), Removal{Person: "alice", By: "uid 7"})
		if err == nil || !strings.Contains(err.Error(), "alice was NOT removed") {
			t.Error(err)
		}
	})
}

// The story: everybody who could approve was removed. A call that needs people is denied
// at once and the agent is told why, for two minutes nobody could have answered anyway.
func TestEverybodyWasRemoved(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		removeAlice(t, x.Broadcaster)
		if why := x.Approvers.Nobody(approver.Catastrophic); why != "" {
			t.Errorf("Bob is there: %q", why)
		}
		if _, err := x.Removals.Remove(t.Context(), Removal{Person: "bob", By: "uid 7"}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		v := x.Ask(t.Context(), testCall("c1"), approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
		})
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "nobody is left who could approve it") ||
			time.Since(start) > time.Second {
			t.Errorf("after %v: %+v", time.Since(start), v)
		}
		if why := x.Approvers.Nobody(approver.High); !strings.Contains(why, "of telegram no approver counts") {
			t.Errorf("%q", why)
		}
		if x.tg.count() != 0 {
			t.Error("a card was posted")
		}
	})
}

// A second removal adds accounts and keeps who was first; there is an end to how many
// there are; what was lifted long ago is forgotten.
func TestRemovalsAreFew(t *testing.T) {
	now := time.Now()
	var c Controls
	for i := range maxUnlisted {
		if err := c.remove(Removal{Person: fmt.Sprint(i), By: "first", Unlisted: true}, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.remove(Removal{Person: "one more", Unlisted: true}, now); !errors.Is(err, errManyGone) {
		t.Error(err)
	}
	if err := c.remove(Removal{
		Person: "3", By: "second", Identities: []approver.Identity{{Channel: "telegram", ID: "1"}},
	}, now.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if r := c.Removed[3]; r.By != "first" || !r.At.Equal(now) || len(r.Identities) != 1 {
		t.Errorf("%+v", r)
	}
	yes := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "3"}, At: now}
	if c.restore(c.Removed[3], now.Add(time.Minute)) != nil || !c.Removed.takesBack(yes) {
		t.Error("a yes of before counts again")
	}
	if yes.At = now.Add(2 * time.Minute); c.Removed.takesBack(yes) {
		t.Error("a yes of after does not count")
	}
	if err := c.remove(Removal{Person: "one more", Unlisted: true}, now.Add(time.Minute)); err != nil {
		t.Error("one who is back takes a place:", err)
	}
	n := len(c.Removed)
	if err := c.remove(Removal{Person: "listed"}, now.Add(holdKeep+time.Hour)); err != nil || len(c.Removed) != n {
		t.Error("one who is back for long is kept:", len(c.Removed), err)
	}
	if (Removal{}).Stands() || (RemovedPeople{{At: now}}).takesBack(approver.Resolution{Approve: true,
		Cause: approver.ByPerson}) {
		t.Error("a removal of nobody is one of somebody")
	}
}

// The story: an agent runs approver people restore alice, and people read the card. The
// owner learns that her phone is stolen, and removes her once more, with an account that
// the card did not name. The yes to the card would have brought all of it back; it is to
// another removal now, so she stays away, and the list says both reasons.
func TestARemovalAnewWinsAgainstARestore(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(x *bench)
		want      error
	}{
		"nothing": {func(*bench) {}, nil},
		"another account": {func(x *bench) {
			_, _ = x.Removals.Remove(x.t.Context(), Removal{
				Person: "alice", Identities: []approver.Identity{{Channel: "slack", ID: "U1"}}, By: "uid 0", Reason: "stolen",
			})
		}, ErrRemovedAnew},
		"the same accounts": {func(x *bench) { removeAlice(x.t, x.Broadcaster) }, ErrRemovedAnew},
		"back and away again": {func(x *bench) {
			_ = x.Removals.Restore(x.t.Context(), away(x.t, x.Broadcaster, "alice"), "uid 0")
			time.Sleep(time.Second)
			removeAlice(x.t, x.Broadcaster)
		}, ErrRemovedAnew},
		"back": {
			func(x *bench) { _ = x.Removals.Restore(x.t.Context(), away(x.t, x.Broadcaster, "alice"), "uid 0") }, ErrNotRemoved,
		},
		"somebody else": {
			func(x *bench) { _, _ = x.Removals.Remove(x.t.Context(), Removal{Person: "bob", By: "uid 0"}) }, nil,
		},
	} {
		story(t, func(t *testing.T, x *bench) {
			removeAlice(t, x.Broadcaster)
			seen := away(t, x.Broadcaster, "alice")
			time.Sleep(time.Minute)
			c.meanwhile(x)
			time.Sleep(time.Minute)
			if err := x.Removals.Restore(t.Context(), seen, "uid 0"); !errors.Is(err, c.want) ||
				(err == nil) != (c.want == nil) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			line := away(t, x.Broadcaster, "alice").Line()
			if name == "another account" && (!strings.Contains(line, "(left), and anew by uid 0") ||
				!strings.Contains(line, "(stolen)")) {
				t.Errorf("the list says %q", line)
			}
		})
	}
	// The second removal comes between the look and the write.
	c := Controls{}
	now := time.Now()
	_ = c.remove(Removal{Person: "alice"}, now)
	seen := c.Removed[0]
	_ = c.remove(Removal{Person: "alice"}, now.Add(time.Second))
	if err := c.restore(seen, now.Add(time.Minute)); !errors.Is(err, ErrRemovedAnew) || !c.Removed[0].Stands() {
		t.Errorf("%v, %+v", err, c.Removed)
	}
}
