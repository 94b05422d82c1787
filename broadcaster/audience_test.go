package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// askWhom puts a call before those whom a rule names.
func (x *bench) askWhom(
	call approver.ToolCall, sev approver.Severity, channels, approvers []string,
) <-chan approver.Verdict {
	out := make(chan approver.Verdict, 1)
	ctx := x.t.Context()
	go func() {
		out <- x.Ask(ctx, call, approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: sev, Channels: channels, Approvers: approvers,
		})
	}()
	return out
}

// The story: a rule says that only Alice decides, on any channel. Bob is on the
// approver list too and says yes in every way there is; nothing runs until Alice
// says it.
func TestOnlyTheNamedApprove(t *testing.T) {
	for _, sev := range []approver.Severity{approver.High, approver.Catastrophic} {
		story(t, func(t *testing.T, x *bench) {
			answer := x.askWhom(testCall("c1"), sev, nil, []string{"alice"})
			synctest.Wait()
			_, tg := x.tg.card(0)
			message, dc := x.dc.card(0)
			if !strings.Contains(warned(tg), "Only for Alice") || !strings.Contains(warned(dc), "Only for Alice") {
				t.Errorf("cards say %q and %q", warned(tg), warned(dc))
			}
			for name, rep := range map[string]approver.Reply{
				"a button": {
					Channel: "discord", Conversation: "D", Sender: "d2", Method: approver.ByTap, Request: dc.Request, Message: message,
				},
				"a code": {
					Channel: "telegram", Conversation: "T", Sender: "2", Method: approver.ByCode, Code: tg.Code,
				},
				"/approve": {
					Channel: "telegram", Conversation: "T", Sender: "2", Method: approver.ByCommand, Code: tg.Code,
				},
				"/approve for longer": {
					Channel: "telegram", Conversation: "T", Sender: "2", Method: approver.ByCommand, Code: tg.Code,
					Grant: approver.Term{Session: true},
				},
				"a plain yes": {
					Channel: "discord", Conversation: "D", Sender: "d2", Method: approver.ByPlain, Request: dc.Request,
					Message: message,
				},
				"its id": {Channel: "discord", Conversation: "D", Sender: "d2", Method: approver.ByID, Request: dc.Request},
			} {
				rep.Approve = true
				if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeRefused ||
					!strings.Contains(out.Text, "for Alice: your yes does not count") {
					t.Errorf("%s: %+v", name, out)
				}
			}
			if r, err := x.Requests.Get(t.Context(), tg.Request); err != nil || r.State != approver.Pending {
				t.Fatalf("%v, %v", r.State, err)
			}
			if out := x.Answers.Reply(t.Context(), approver.Reply{
				Channel: "discord", Conversation: "D", Sender: "d1", Approve: true, Method: approver.ByCode, Code: dc.Code,
			}); out.Kind != approver.OutcomeApproved {
				t.Errorf("Alice: %+v", out)
			}
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Whoever is on the approver list may say no.
func TestAnybodyDenies(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askWhom(testCall("c1"), approver.High, nil, []string{"alice"})
		synctest.Wait()
		if out := x.tap(x.dc, 0, "d2", false); out.Kind != approver.OutcomeDenied {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Deny || !strings.Contains(v.Reason, "denied by Bob") {
			t.Errorf("%+v", v)
		}
	})
}

// A card goes to the channels that a rule names and to no other, also when a lost
// card is posted anew; a yes from elsewhere does not count, a no does.
func TestOnlyTheNamedChannelsShowIt(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askWhom(testCall("c1"), approver.High, []string{"telegram"}, nil)
		synctest.Wait()
		if x.tg.count() != 1 || x.dc.count() != 0 {
			t.Fatalf("%d and %d cards", x.tg.count(), x.dc.count())
		}
		_, card := x.tg.card(0)
		elsewhere := approver.Reply{
			Channel: "discord", Conversation: "D", Sender: "d1", Approve: true, Method: approver.ByID, Request: card.Request,
		}
		if out := x.Answers.Reply(t.Context(), elsewhere); out.Kind != approver.OutcomeRefused ||
			!strings.Contains(out.Text, "answered on Telegram") {
			t.Errorf("%+v", out)
		}
		// The card's note is lost, as in a crash: the new one goes to the same place.
		if _, err := x.Requests.change(t.Context(), card.Request, func(r Request, now time.Time) (Request, error) {
			r.Postings[0].Phase, r.Postings[0].Until = Sending, now
			return r, nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if x.tg.count() != 2 || x.dc.count() != 0 {
			t.Fatalf("posted anew: %d and %d cards", x.tg.count(), x.dc.count())
		}
		elsewhere.Approve = false
		if out := x.Answers.Reply(t.Context(), elsewhere); out.Kind != approver.OutcomeDenied {
			t.Errorf("%+v", out)
		}
		<-answer
	})
}

// Where nobody is left who could say yes, the call is denied at once, and no card
// goes out.
func TestNobodyIsLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		channels, approvers []string
		severity            approver.Severity
		want                string
	}{
		"a channel that is not there": {[]string{"slack"}, nil, approver.High, "nobody can approve it on slack"},
		"a person who is not there":   {nil, []string{"eve"}, approver.High, "none of eve can approve it on any channel"},
		"not on that channel": {
			[]string{"discord"}, []string{"carol"}, approver.High, "none of Carol can approve it on discord",
		},
		"not approved there": {[]string{"discord"}, nil, approver.Catastrophic, "nobody can approve it on discord"},
	} {
		story(t, func(t *testing.T, x *bench) {
			x.People[approver.Identity{Channel: "telegram", ID: "3"}] = approver.Person{ID: "carol", Name: "Carol"}
			x.Channels.byName["discord"] = taker{x.dc}
			start := time.Now()
			v := <-x.askWhom(testCall("c1"), tt.severity, tt.channels, tt.approvers)
			if v.Decision != approver.Deny || !strings.Contains(v.Reason, "none of them can be reached") ||
				!strings.Contains(v.Detail, tt.want) || time.Since(start) != 0 {
				t.Errorf("%s: after %v: %+v", name, time.Since(start), v)
			}
			if x.tg.count()+x.dc.count() != 0 {
				t.Errorf("%s: a card went out", name)
			}
			if got := x.audit.events(""); len(got) != 1 || got[0] != approver.EventVerdict {
				t.Errorf("%s: the audit has %v", name, got)
			}
		})
	}
}

// taker is a channel on which only HIGH requests are approved.
type taker struct{ *chat }

func (taker) Takes(s approver.Severity) bool { return s == approver.High }

// A yes that is kept is one to who was asked then. Where a rule has come to ask
// fewer people, or elsewhere, people are asked anew.
func TestAKeptYesIsOfThoseWhoAreAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		channels, approvers []string
		runs                bool
	}{
		"the same people":  {[]string{"telegram"}, []string{"alice", "bob"}, true},
		"more people":      {nil, nil, true},
		"fewer people":     {[]string{"telegram"}, []string{"bob"}, false},
		"another channel":  {[]string{"discord"}, []string{"alice", "bob"}, false},
		"others and fewer": {[]string{"telegram"}, []string{"bob", "carol"}, false},
	} {
		story(t, func(t *testing.T, x *bench) { // a grant
			x.People[approver.Identity{Channel: "telegram", ID: "3"}] = approver.Person{ID: "carol"}
			v := x.askWhom(testCall("c1"), approver.High, []string{"telegram"}, []string{"alice", "bob"})
			synctest.Wait()
			if out := x.command(0, "/approve CODE 15m"); out.Kind != approver.OutcomeApproved ||
				(<-v).Decision != approver.Allow {
				t.Fatalf("%+v", out)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got := x.Ask(ctx, testCall("c2"), approver.Verdict{
				Decision: approver.Ask, Severity: approver.High, Channels: tt.channels, Approvers: tt.approvers,
			})
			if (got.Decision == approver.Allow) != tt.runs {
				t.Errorf("a grant, %s: %+v", name, got)
			}
		})
		story(t, func(t *testing.T, x *bench) { // a parked request
			x.People[approver.Identity{Channel: "telegram", ID: "3"}] = approver.Person{ID: "carol"}
			x.tune(func(o *Options) { o.TTL = time.Hour })
			<-x.askWhom(parkedCall("c1", 0), approver.High, []string{"telegram"}, []string{"alice", "bob"})
			synctest.Wait()
			if out := x.tap(x.tg, 0, "2", true); out.Kind != approver.OutcomeRecorded {
				t.Fatalf("%+v", out)
			}
			if got := <-x.askWhom(parkedCall("c2", time.Minute), approver.High, tt.channels,
				tt.approvers); (got.Decision == approver.Allow) != tt.runs {
				t.Errorf("parked, %s: %+v", name, got)
			}
		})
	}
}

// A daemon that takes a request over holds to whom it was for.
func TestATakenOverRequestIsForTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		first := newBench(t, kv)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := make(chan approver.Verdict, 1)
		why := approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, Channels: []string{"telegram"}, Approvers: []string{"alice"},
		}
		go func() { gone <- first.Ask(ctx, testCall("c1"), why) }()
		synctest.Wait()
		cancel(approver.ErrShuttingDown)
		first.stop()
		<-gone
		second := newBench(t, kv)
		second.tg.holds(first.tg.card(0))
		answer := make(chan approver.Verdict, 1)
		go func() { answer <- second.Ask(t.Context(), testCall("c1"), why) }()
		synctest.Wait()
		if second.dc.count() != 0 {
			t.Error("a card went to another channel")
		}
		if out := second.tap(second.tg, 0, "2", true); out.Kind != approver.OutcomeRefused {
			t.Errorf("Bob: %+v", out)
		}
		if out := second.tap(second.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("Alice: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// The state machine itself takes no yes of anybody else.
func TestAnswerHoldsToTheVerdict(t *testing.T) {
	now := time.Now()
	r := Request{
		State: approver.Pending, Due: now.Add(time.Minute), Verdict: approver.Verdict{
			Channels: []string{"slack"}, Approvers: []string{"ada"},
		},
	}
	yes := approver.Resolution{
		Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "ada"},
		Identity: approver.Identity{Channel: "slack", ID: "U1"},
	}
	other, elsewhere := yes, yes
	other.Person.ID, elsewhere.Identity.Channel = "bob", "discord"
	for _, res := range []approver.Resolution{other, elsewhere} {
		if got, err := r.Answer(res, now); !errors.Is(err, ErrNotAsked) || got.State != approver.Pending {
			t.Errorf("%+v: %v, %v", res, got.State, err)
		}
		res.Approve = false
		if got, err := r.Answer(res, now); err != nil || got.State != approver.Denied {
			t.Errorf("a no: %v, %v", got.State, err)
		}
	}
	if got, err := r.Answer(yes, now); err != nil || got.State != approver.Approved {
		t.Errorf("%v, %v", got.State, err)
	}
}

// A pause does not let through what only some people may approve: whoever paused
// need not be one of them.
func TestAPauseDoesNotSpeakForTheNamed(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		if _, err := x.Controls.Pause(t.Context(), nil, time.Minute, true, "bob"); err != nil {
			t.Fatal(err)
		}
		var whom []string
		g := &gate.Gate{Stages: []approver.Stage{stageFunc(func() approver.Verdict {
			return approver.Verdict{Decision: approver.Ask, Severity: approver.High, Approvers: whom}
		})},
			Paused: x.Controls.PausedFor, Ask: func(context.Context, approver.ToolCall,
				approver.Verdict) approver.Verdict {
				return approver.Verdict{}
			}, Audit: x.audit, Log: x.Log}
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Pass {
			t.Errorf("anybody: %+v", v)
		}
		whom = []string{"alice"}
		if v := g.Decide(t.Context(), testCall("c2")); v.Decision != approver.Deny {
			t.Errorf("Alice only: %+v", v)
		}
	})
}
