package broadcaster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file tells stories of other approval systems, which must not happen here.

// The story (GHSA-49cg-279w-m73x, and four chats of another system): an approver list that nobody had
// filled in let everybody approve. Here an empty list admits nobody, on any way, and the call is denied.
func TestAnEmptyListAdmitsNobody(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		msg, card := x.tg.card(0)
		for name, people := range map[string]approver.People{
			"nil": nil, "empty": {}, "nameless": {{Channel: "telegram", ID: "1"}: {}},
			"of no account": {{Channel: "telegram"}: {ID: "alice"}},
		} {
			x.Approvers.Set(people)
			for _, w := range ways {
				rep := w.reply(card, msg)
				rep.Channel, rep.Conversation, rep.Sender = "telegram", "T", "1"
				if name == "of no account" {
					rep.Sender = ""
				}
				if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeRefused || out.Details != "" {
					t.Errorf("%s, %s: %+v", name, w.name, out)
				}
			}
		}
		if r := x.loaded(card.Request); r.State != approver.Pending || x.frozenNow() != "" {
			t.Errorf("%v, frozen %q", r.State, x.frozenNow())
		}
		x.Approvers.Set(nil)
		if v := x.Ask(t.Context(), testCall("c2"), approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.Catastrophic,
		}); v.Decision != approver.Deny {
			t.Errorf("nobody could be asked: %+v", v)
		}
		x.stop()
		<-answer
	})
}

// The story (GHSA-4cqv-h74h-93j4, Teleport #68069): somebody called themselves like an approver, or had an
// id that was nearly theirs, and was taken for them. Only the platform's id counts, whole, on its own
// platform. What a body says of who it is from is for display, and the record has the account.
func TestNobodyIsTakenForAnApprover(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		msg, card := x.tg.card(0)
		dcMsg, _ := x.dc.card(0)
		for _, id := range []string{
			"alice", "Alice", "@alice", "01", "1 ", " 1", "1\u200b", "11", "１", "telegram:1", "d1", "",
		} {
			rep := onCard(approver.ByTap, true, card, msg)
			rep.Channel, rep.Conversation, rep.Sender, rep.Name = "telegram", "T", id, "Alice"
			if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeRefused {
				t.Errorf("%q: %+v", id, out)
			}
		}
		rep := onCard(approver.ByTap, true, card, dcMsg)
		rep.Channel, rep.Conversation, rep.Sender = "discord", "D", "1" // Alice's id, of the other platform
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeRefused {
			t.Errorf("on another platform: %+v", out)
		}
		rep = onCard(approver.ByTap, true, card, msg)
		rep.Channel, rep.Conversation, rep.Sender, rep.Name = "telegram", "T", "2", "Alice"
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeApproved {
			t.Errorf("Bob: %+v", out)
		}
		<-answer
		for _, r := range x.audit.recorded() {
			if r.Event == approver.EventApproved && (r.Resolution.Person.ID != "bob" || r.Resolution.Person.Name != "Bob" ||
				r.Resolution.Identity != approver.Identity{Channel: "telegram", ID: "2"} || r.Resolution.Method != approver.ByTap) {
				t.Errorf("recorded is %+v", r.Resolution)
			}
		}
	})
}

// The story (hermes #4973, #6036): "once" was stored as "for this session", and the next call ran unasked.
// Whatever way a yes for once comes, the same call is asked again.
func TestOnceIsOnce(t *testing.T) {
	for _, w := range ways {
		if rep := w.reply(approver.Card{}, ""); !rep.Approve || rep.Grant.Lasts() || rep.Want != approver.WantAnswer ||
			w.name == "wrong CODE" || rep.Method == approver.NoMethod {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				msg, card := x.tg.card(0)
				rep := w.reply(card, msg)
				rep.Channel, rep.Conversation, rep.Sender = "telegram", "T", "1"
				if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeApproved {
					t.Fatalf("%+v", out)
				}
				<-answer
				time.Sleep(time.Second)
				if grants, err := x.Grants.List(t.Context()); err != nil || len(grants) != 0 {
					t.Errorf("%+v, %v", grants, err)
				}
				again := x.askAsync(t.Context(), testCall("c2"), approver.High)
				time.Sleep(time.Second)
				if x.tg.count() != 2 {
					t.Errorf("%d cards", x.tg.count())
				}
				x.stop()
				<-again
			})
		})
	}
}

// The story (openclaw #78225): a call counted its use of a grant while somebody revoked it, wrote back what
// it had read, and the grant was there again.
func TestAUseDoesNotBringARevokedGrantBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		store := &interposed{memKV: kv}
		x := newBenchOn(t, kv, store)
		x.lastingYes(testCall("c1"))
		grants, err := x.Grants.List(t.Context())
		if err != nil || len(grants) != 1 {
			t.Fatalf("%+v, %v", grants, err)
		}
		revoked := false
		store.before = func(key string) {
			if strings.Contains(key, "}:grant:") && !revoked {
				revoked = true
				if err := x.Grants.Revoke(context.Background(), grants[0].ID, "uid 7"); err != nil {
					t.Error(err)
				}
			}
		}
		answer := x.askAsync(t.Context(), testCall("c2"), approver.High)
		time.Sleep(time.Second)
		if x.tg.count() != 2 {
			t.Error("the call ran by a grant that was revoked")
		}
		if grants, err := x.Grants.List(t.Context()); err != nil || len(grants) != 0 || !revoked {
			t.Errorf("%+v, %v, revoked %v", grants, err, revoked)
		}
		x.stop()
		<-answer
	})
}

// An interposed store lets something happen right before a write.
type interposed struct {
	*memKV
	before func(key string)
}

func (s *interposed) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if s.before != nil {
		s.before(key)
	}
	return s.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// The story (agent-os #1597): silence was recorded as a person's no. Whatever ends a request by itself
// names its cause, and no person.
func TestSilenceIsNobodysNo(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(x *bench, leave func())
		cause approver.Cause
	}{
		"silence": {func(*bench, func()) {}, approver.TimedOut},
		"it left": {func(_ *bench, leave func()) { leave() }, approver.AgentGone},
		"frozen":  {func(x *bench, _ func()) { _, _ = x.Controls.Freeze(x.t.Context(), "root", "") }, approver.Frozen},
		"its agent": {func(x *bench, _ func()) {
			_, _ = x.Controls.Hold(x.t.Context(), Who{Agent: "claude", Project: "/"}, "root", "")
		}, approver.Held},
		"unreachable": {nil, approver.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				if c.end == nil {
					refuse := func(context.Context) error { return approver.ErrFinal }
					x.tg.onPost(refuse)
					x.dc.onPost(refuse)
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				x.askAsync(ctx, testCall("c1"), approver.High)
				time.Sleep(time.Second)
				if c.end != nil {
					c.end(x, leave)
				}
				time.Sleep(3 * time.Minute)
				found := false
				for _, r := range x.audit.recorded() {
					if r.Event != approver.EventDenied && r.Event != approver.EventExpired && r.Event != approver.EventWithdrawn {
						continue
					}
					if found = true; r.Resolution.Cause != c.cause || r.Resolution.Person != (approver.Person{}) {
						t.Errorf("%s: %+v", r.Event, r.Resolution)
					}
				}
				if !found {
					t.Error("its end is not recorded")
				}
			})
		})
	}
}

// The story: options of another system were read, printed, and never used. Each of these changes what
// happens.
func TestOptionsAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(o *Options)
		kept func(x *bench, card approver.Card, r Request) bool
	}{
		"TTL": {func(o *Options) { o.TTL = 7 * time.Minute },
			func(_ *bench, c approver.Card, _ Request) bool { return c.Due.Sub(c.Created) == 7*time.Minute }},
		"CodeLength": {func(o *Options) { o.CodeLength = 9 },
			func(_ *bench, c approver.Card, _ Request) bool { return len(c.Code.Reveal()) == len("CONFIRM-")+9 }},
		"Host": {func(o *Options) { o.Host = "build-7" },
			func(_ *bench, c approver.Card, _ Request) bool { return strings.Contains(c.Context, "build-7") }},
		"Notice": {func(o *Options) { o.Notice = "NOT ISOLATED: it is not" },
			func(_ *bench, c approver.Card, _ Request) bool { return strings.Contains(c.Context, "NOT ISOLATED") }},
		"KeepFor": {func(o *Options) { o.KeepFor = 3 * 24 * time.Hour }, func(x *bench, _ approver.Card, r Request) bool {
			return x.kv.keep[approver.Key("call", r.CallID)].Sub(r.Due) == 3*24*time.Hour
		}},
		"Project": {func(o *Options) { o.Project = func(string) string { return "/repo-root" } },
			func(x *bench, _ approver.Card, _ Request) bool {
				x.wants(approver.WantDisown, 0, "1")
				return strings.Contains(x.frozenNow(), "/repo-root")
			}},
		"Language": {func(o *Options) {
			o.Language = func(approver.Destination) display.Texts { t, _ := display.In("de"); return t }
		}, func(_ *bench, c approver.Card, _ Request) bool { return c.Texts.Language() == "de" }},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.tune(c.set)
				x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				if !c.kept(x, card, x.loaded(card.Request)) {
					t.Errorf("it changes nothing: %+v", card)
				}
				x.stop()
			})
		})
	}
}
