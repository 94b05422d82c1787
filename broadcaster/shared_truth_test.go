package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// An agent asked about x, had an identical call join, and let both go: x was taken off its
// request, came again with the same id, and had a request and cards of its own. The limit
// counted call ids, so one counted question put eleven cards a minute before people. What
// is counted now is the question, and each request is one.
func TestEachRequestIsCounted(t *testing.T) {
	for name, again := range map[string]func(x *bench, i int){
		"the first leaves, then who joined": func(x *bench, i int) {
			ca, da := context.WithCancel(x.t.Context())
			cb, db := context.WithCancel(x.t.Context())
			a := x.askAsync(ca, peerCall("x", 1000), approver.High)
			time.Sleep(300 * time.Millisecond)
			b := x.askAsync(cb, peerCall(fmt.Sprint("y", i), 1000), approver.High)
			time.Sleep(300 * time.Millisecond)
			da()
			<-a
			time.Sleep(700 * time.Millisecond)
			db()
			<-b
			time.Sleep(4 * time.Second)
		},
		"the answer is not for it": func(x *bench, i int) {
			x.failEdits(true)
			n := x.tg.count()
			a := x.askAsync(x.t.Context(), peerCall(fmt.Sprint("a", i), 1000), approver.High)
			time.Sleep(300 * time.Millisecond)
			ctx, die := context.WithCancel(x.t.Context())
			b := x.askAsync(ctx, peerCall("x", 1000), approver.High)
			time.Sleep(300 * time.Millisecond)
			if x.tg.count() > n {
				x.tap(x.tg, n, "1", true)
			}
			<-a
			time.Sleep(3 * time.Second) // x is asked anew
			die()
			<-b
			time.Sleep(4 * time.Second)
		},
		"another request each time": func(x *bench, i int) {
			ctx, die := context.WithCancel(x.t.Context())
			a := x.askAsync(ctx, peerCall(fmt.Sprint("z", i), 1000), approver.High)
			time.Sleep(time.Second)
			die()
			<-a
			time.Sleep(4 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				const most = 3
				var mu sync.Mutex
				counted, refused := map[string]bool{}, 0
				limit := func(_ context.Context, question string, _ approver.ToolCall) error { // as quota.Asks
					mu.Lock()
					defer mu.Unlock()
					if !counted[question] && len(counted) >= most {
						refused++
						return &approver.TooManyError{Limit: "user", Most: most}
					}
					counted[question] = true
					return nil
				}
				x.tune(func(o *Options) { o.Limit = limit })
				for i := range 8 {
					again(x, i)
				}
				if x.tg.count() != most || refused == 0 {
					t.Errorf("%d counted, %d refused, %d cards before people", len(counted), refused, x.tg.count())
				}
			})
		})
	}
}

// The store fails while a request is made, and the daemon tries again: that is one question,
// and honest agents are not refused because Redis failed over.
func TestARetryIsNoOtherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		counted := map[string]int{}
		x.tune(func(o *Options) {
			o.Limit = func(_ context.Context, question string, _ approver.ToolCall) error { counted[question]++; return nil }
		})
		began := time.Now()
		x.failing(func(op, key string) bool {
			// a write is sent again for so long
			return op == "put" && strings.Contains(key, "}:req:") && time.Since(began) < PostTimeout+500*time.Millisecond
		})
		a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		time.Sleep(2 * StorePatience)
		x.tap(x.tg, x.tg.count()-1, "1", true)
		if v := <-a; v.Decision != approver.Allow || len(counted) != 1 {
			t.Errorf("%+v, counted %v", v, counted)
		}
		for _, n := range counted {
			if n < 2 {
				t.Errorf("it was tried %d times", n)
			}
		}
	})
}

// keepingKV keeps every version of the records of requests.
type keepingKV struct {
	*memKV
	mu  sync.Mutex
	was map[string][]memRecord
}

func (k *keepingKV) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	return k.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (k *keepingKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	err := k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
	if err == nil && strings.Contains(key, "}:req:") {
		k.mu.Lock()
		k.was[key] = append(k.was[key], memRecord{value, next})
		k.mu.Unlock()
	}
	return err
}

// Three identical calls shared a yes. The store lost its last second and came back as it was
// before one of them had taken it: nothing noticed, and that call got its yes again. Each
// older copy in which a call that was released has not taken it is noticed now, with and
// without the first call's acknowledgment, and then the yes is given to nobody again.
func TestAnOlderStoreGivesNoSharedYesTwice(t *testing.T) {
	for _, acks := range []bool{false, true} {
		t.Run(fmt.Sprint("acknowledged ", acks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				store := &keepingKV{memKV: kv, was: map[string][]memRecord{}}
				x := newBenchOn(t, kv, store)
				out := x.several(t.Context(), 3, approver.High)
				time.Sleep(5 * time.Second)
				_, card := x.tg.card(0)
				x.tap(x.tg, 0, "1", true)
				if got := decisions(out); !slices.Equal(got, []approver.Decision{approver.Allow, approver.Allow, approver.Allow}) {
					t.Fatal(got)
				}
				if acks {
					if err := x.Reports.Acknowledge(t.Context(), approver.Peer{Known: true, UID: 1000}, "a"); err != nil {
						t.Fatal(err)
					}
				}
				x.stop()
				told := map[string]approver.Told{}
				for _, r := range x.audit.recorded() {
					approver.Told{Request: r.Request, Event: r.Event, At: r.At, Once: r.Once}.Tell(told)
				}
				key, older := approver.Key("req", card.Request), 0
				newest := kv.record(key)
				for i, rec := range store.was[key] {
					kv.replace(key, rec)
					r, err := DecodeRequest(x.Requests.sealer, rec.value)
					if err != nil {
						t.Fatal(err)
					}
					open := r.State != approver.Consumed || r.hasUntaken(r.Also)
					missing, err := Unheard(t.Context(), kv, told)
					if err != nil || open && len(missing) != 1 {
						t.Errorf("copy %d, %s, owing %t: missing %v, %v", i, r.State, r.hasUntaken(r.Also), missing, err)
					}
					if r.State != approver.Consumed || !r.hasUntaken(r.Also) {
						continue
					}
					older++
					if len(missing) == 0 {
						continue
					}
					if err := x.Removals.VoidLost(t.Context(), missing); err != nil {
						t.Error(err)
					}
					y := newBenchOn(t, kv, kv)
					for _, c := range append(slices.Clone(r.Also), r.callers()[0]) {
						again, cancel := context.WithTimeout(t.Context(), 5*time.Second)
						if v := <-y.askAsync(again, peerCall(c.CallID, 1000), approver.High); v.Decision == approver.Allow {
							t.Errorf("copy %d: %s was released twice", i, c.CallID)
						}
						cancel()
					}
					y.stop()
				}
				if kv.replace(key, newest); older == 0 {
					t.Error("no copy with a call that still waits for its yes")
				}
				if missing, err := Unheard(t.Context(), kv, told); err != nil || len(missing) > 0 {
					t.Errorf("of the newest copy: %v, %v", missing, err)
				}
			})
		})
	}
}

// What is told of one call hides nothing that was told of another, in whatever order.
func TestToldKeepsEveryRelease(t *testing.T) {
	told := func(e approver.Event, once string) approver.Told {
		return approver.Told{Request: "r", Event: e, Once: "r:" + once}
	}
	rel, b, c := told(approver.EventReleased, "released"), told(approver.EventReleased, "released:#1"),
		told(approver.EventReleased, "released:#2")
	ack, rep, yes, posted := told(approver.EventAcked, "acked"), told(approver.EventRepeated, "repeated:2"),
		told(approver.EventApproved, "approved"), told(approver.EventPosted, "posted:0")
	gone, revoked, no := told(approver.EventWithdrawn, "withdrawn:x"), told(approver.EventRevoked, ""),
		told(approver.EventDenied, "denied")
	const took = `"also":[{"call":"b","n":1,"taken":"2026-11-23T00:00:00Z"},{"call":"c","n":2%s}]}`
	both, one := fmt.Sprintf(took, `,"taken":"2026-11-23T00:00:00Z"`), fmt.Sprintf(took, "")
	for name, x := range map[string]struct {
		told  []approver.Told
		store string
		want  bool
	}{
		"both":             {[]approver.Told{rel, b, c}, `{"state":"consumed",` + both, true},
		"one is missing":   {[]approver.Told{rel, b, c}, `{"state":"consumed",` + one, false},
		"one of one":       {[]approver.Told{rel, b}, `{"state":"consumed",` + one, true},
		"before the first": {[]approver.Told{c, b, rel}, `{"state":"consumed",` + one, false},
		"twice":            {[]approver.Told{b, b, rel}, `{"state":"consumed",` + one, true},
		"an acknowledgment behind": {
			[]approver.Told{rel, c, ack}, `{"state":"consumed","acked":"2026-11-23T00:00:00Z",` + one, false,
		},
		"an acknowledgment before": {
			[]approver.Told{rel, ack, c}, `{"state":"consumed","acked":"2026-11-23T00:00:00Z",` + one, false,
		},
		"a late one, not acknowledged": {[]approver.Told{rel, ack, c}, `{"state":"consumed",` + both, false},
		"a repetition behind":          {[]approver.Told{rel, c, rep}, `{"state":"consumed","repeats":2,` + one, false},
		"a repetition before":          {[]approver.Told{rel, rep, c}, `{"state":"consumed","repeats":1,` + both, false},
		"a repetition that is there":   {[]approver.Told{rel, rep, c}, `{"state":"consumed","repeats":2,` + both, true},
		"a revocation behind":          {[]approver.Told{rel, c, revoked}, `{"state":"consumed",` + one, false},
		"a call that left":             {[]approver.Told{rel, c, gone}, `{"state":"consumed",` + one, false},
		"a card behind":                {[]approver.Told{c, posted}, `{"state":"consumed",` + one, false},
		"the yes behind":               {[]approver.Told{c, yes}, `{"state":"consumed",` + one, false},
		"no answer in the store":       {[]approver.Told{yes, c}, `{"state":"pending"}`, false},
		"an answer, not taken":         {[]approver.Told{yes, c}, `{"state":"approved",` + one, false},
		"an answer, and an end":        {[]approver.Told{yes, c, no}, `{"state":"approved",` + one, false},
		"a no after a fail-over":       {[]approver.Told{yes, rel, c, no}, `{"state":"denied",` + one, true},
		"it leads there":               {[]approver.Told{rel, c}, `{"state":"consumed","n":2}`, true},
		"nobody is beside":             {[]approver.Told{rel, c}, `{"state":"consumed"}`, false},
		"it is the first of no yes":    {[]approver.Told{rel, c}, `{"state":"approved","n":2}`, false},
		"a record that is none":        {[]approver.Told{rel, c}, `{"state":"consumed","also":7}`, false},
		"a call that is named like that": {
			[]approver.Told{rel, told(approver.EventReleased, "released:1")}, `{"state":"consumed"}`, true,
		},
	} {
		all := map[string]approver.Told{}
		for _, told := range x.told {
			told.Tell(all)
		}
		kv := newMemKV()
		kv.replace(approver.Key("req", "r"), memRecord{[]byte(x.store), approver.NewRev()})
		if missing, err := Unheard(t.Context(), kv, all); err != nil || (len(missing) == 0) != x.want {
			t.Errorf("%s: missing %v, %v", name, missing, err)
		}
	}
}

// An edit that said "2 identical calls" ended without a word of the platform. A later one
// that said 3 was confirmed, and then the platform carried out the first: the card said 2,
// for good, and a tap ran 3. From such a card a yes is for what it surely showed before, and
// it says so.
func TestALateEditOfTheCount(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		runs int
		says string
	}{
		"no word":             {context.DeadlineExceeded, 1, "3 identical calls wait: a yes runs one"},
		"a broken connection": {errors.New("connection reset by peer"), 1, "3 identical calls wait: a yes runs one"},
		"it has to wait":      {busy(time.Second), 3, "3 identical calls wait: a yes runs each"},
	} {
		for _, after := range []time.Duration{5 * time.Second, 20 * time.Second} {
			t.Run(fmt.Sprint(name, " ", after), func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					var late *approver.Card
					x.tg.onUpdate(func(card approver.Card) error {
						if strings.HasPrefix(warned(card), "2 identical") && late == nil {
							late = &card
							return c.err
						}
						return nil
					})
					x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
					synctest.Wait()
					x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
					time.Sleep(500 * time.Millisecond)
					x.askAsync(t.Context(), peerCall("c", 1000), approver.High)
					time.Sleep(after)
					msg, card := x.tg.card(0)
					if late == nil || !strings.HasPrefix(warned(card), c.says) {
						t.Fatalf("late %v, the card says %q", late != nil, warned(card))
					}
					if c.runs == 1 {
						x.tg.put(msg, *late)
					}
					x.tap(x.tg, 0, "1", true)
					time.Sleep(3 * time.Second)
					if n := len(x.audit.all(approver.EventReleased)); n != c.runs {
						t.Errorf("%d calls were released, want %d", n, c.runs)
					}
				})
			})
		}
	}
}

// Two identical calls shared a yes for 15 minutes, and the courier of the second was away.
// Somebody revoked the yes, and the second call was given it all the same when its courier
// came back, as was the first, whose courier had not said that it has it.
func TestWhatWasRevokedIsGivenToNobody(t *testing.T) {
	for name, c := range map[string]struct {
		call string
		undo func(x *bench, id string) error
	}{
		"revoked, for the call beside": {
			"b", func(x *bench, id string) error { return x.Grants.Revoke(x.t.Context(), id, "uid 0") },
		},
		"revoked, for the first": {
			"a", func(x *bench, id string) error { return x.Grants.Revoke(x.t.Context(), id, "uid 0") },
		},
		"revoked, and the grant's record is another's now": {"b", func(x *bench, id string) error {
			err := x.Grants.Revoke(x.t.Context(), id, "uid 0")
			r, loadErr := x.Requests.Get(x.t.Context(), id)
			scope := scopeOf(r.Call, r.Fingerprint)
			g, rev, grantErr := x.Grants.load(x.t.Context(), scope)
			g.Request.ID = "another"
			return errors.Join(err, loadErr, grantErr, x.Grants.save(x.t.Context(), scope, g, rev, time.Time{}))
		}},
		"the request could not be told, for the call beside": {"b", revokedByHand},
		"the request could not be told, for the first":       {"a", revokedByHand},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				ctx, die := context.WithCancel(t.Context())
				a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				synctest.Wait()
				b := x.askAsync(ctx, peerCall("b", 1000), approver.High)
				time.Sleep(5 * time.Second)
				die()
				<-b
				_, card := x.tg.card(0)
				x.Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true,
					Method: approver.ByCommand, Code: card.Code, Grant: approver.Term{For: 15 * time.Minute}})
				if v := <-a; v.Decision != approver.Allow {
					t.Fatalf("%+v", v)
				}
				time.Sleep(time.Second)
				if err := c.undo(x, card.Request); err != nil {
					t.Fatal(err)
				}
				again, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if v := <-x.askAsync(again, peerCall(c.call, 1000), approver.High); v.Decision == approver.Allow {
					t.Errorf("given after it was revoked: %s", v.Reason)
				}
				time.Sleep(5 * time.Second)
				ended := slices.ContainsFunc(x.audit.of("b"), func(r approver.Record) bool {
					return r.Event == approver.EventWithdrawn
				})
				if released := slices.ContainsFunc(x.audit.of("b"), func(r approver.Record) bool {
					return r.Event == approver.EventReleased
				}); released || !ended && strings.HasPrefix(name, "revoked") {
					t.Errorf("of the call beside, released %t, its end recorded %t", released, ended)
				}
			})
		})
	}
}

// revokedByHand ends the grant of a request and leaves the request as it was, as where the
// store fails between the two.
func revokedByHand(x *bench, id string) error {
	r, err := x.Requests.Get(x.t.Context(), id)
	if err != nil {
		return err
	}
	scope := scopeOf(r.Call, r.Fingerprint)
	g, rev, err := x.Grants.load(x.t.Context(), scope)
	if err != nil {
		return err
	}
	g.Ended = "revoked"
	return x.Grants.save(x.t.Context(), scope, g, rev, time.Time{})
}

// The disk of the audit was full for a moment while a call joined: it waited all the same,
// and was released, and the audit never heard that it asked. A call waits only where that
// is recorded.
func TestNoCallWaitsUnrecorded(t *testing.T) {
	for _, last := range []time.Duration{200 * time.Millisecond, 3 * time.Second, time.Minute} {
		t.Run(last.String(), func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				synctest.Wait()
				x.audit.failing(approver.EventAsked)
				b := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				time.Sleep(min(last, 20*time.Second))
				r, _, _ := x.page()
				if r.callers().includes("b") {
					t.Error("it waits, and nothing of it is recorded")
				}
				if last < time.Minute {
					x.audit.failing("")
				}
				time.Sleep(10 * time.Second)
				x.tap(x.tg, 0, "1", true)
				if v := <-a; v.Decision != approver.Allow {
					t.Errorf("the first: %+v", v)
				}
				v := <-b
				asked := slices.ContainsFunc(x.audit.of("b"), func(r approver.Record) bool {
					return r.Event == approver.EventAsked
				})
				if want := last < time.Minute; (v.Decision == approver.Allow) != want || asked != want {
					t.Errorf("%+v, the audit has the question: %t", v, asked)
				}
			})
		})
	}
}
