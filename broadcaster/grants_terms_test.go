package broadcaster

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/channels/intent"
)

func (x *bench) command(n int, text string) approver.Outcome {
	_, card := x.tg.card(n)
	in, err := intent.Parse(strings.ReplaceAll(text, "CODE", card.Code.Reveal()))
	if err != nil {
		x.t.Fatal(err)
	}
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: in.Approve, Method: in.Method, Code: in.Code,
		Grant: in.Grant,
	})
}

// runs reports whether a call is released without anybody being asked.
func (x *bench) runs(call approver.ToolCall, sev approver.Severity) bool {
	before := x.tg.count()
	v := x.askAsync(x.t.Context(), call, sev)
	synctest.Wait()
	asked := x.tg.count() > before
	if asked {
		x.tap(x.tg, -1, "1", false)
	}
	return (<-v).Decision == approver.Allow && !asked
}

func TestGrantsThatLast(t *testing.T) {
	for text, term := range map[string]time.Duration{
		"/approve CODE 15m": 15 * time.Minute, "/approve CODE session": approver.SessionTerm,
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			v := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			out := x.command(0, text)
			if out.Kind != approver.OutcomeApproved || !strings.Contains(out.Text, "runs without asking until") ||
				(<-v).Decision != approver.Allow {
				t.Fatalf("%+v", out)
			}
			if !x.runs(testCall("c2"), approver.High) || !x.runs(testCall("c3"), approver.High) {
				t.Error("the same call is asked again")
			}
			other, elsewhere, session := testCall("c4"), testCall("c5"), testCall("c6")
			other.Args, elsewhere.Peer, session.Session = []byte(`{"command":"git push"}`), approver.Peer{Known: true, UID: 7},
				"another"
			if x.runs(other, approver.High) || x.runs(elsewhere, approver.High) ||
				x.runs(testCall("c7"), approver.Catastrophic) {
				t.Error("it runs what people did not say yes to")
			}
			if got, want := x.runs(session, approver.High), text == "/approve CODE 15m"; got != want {
				t.Errorf("in another session: %v", got)
			}
			time.Sleep(term - time.Minute)
			if !x.runs(testCall("c8"), approver.High) {
				t.Error("it ended too early")
			}
			time.Sleep(time.Minute)
			if x.runs(testCall("c9"), approver.High) {
				t.Error("it runs after its time")
			}
			all := x.audit.events("")
			count := map[approver.Event]int{}
			for _, e := range all {
				count[e]++
			}
			if count[approver.EventGranted] != 1 || count[approver.EventGrantUsed] < 3 ||
				count[approver.EventGrantExpired] != 1 {
				t.Errorf("%v", count)
			}
		})
	}
}

// CATASTROPHIC is approved once only, and a term beside it approves nothing.
func TestNoTermForCatastrophic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		v := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		if out := x.command(0, "/approve CODE 15m"); out.Kind != approver.OutcomeNeedCode {
			t.Errorf("%+v", out)
		}
		if out := x.command(0, "/approve CODE"); out.Kind != approver.OutcomeApproved || (<-v).Decision != approver.Allow {
			t.Errorf("%+v", out)
		}
		if x.runs(testCall("c2"), approver.Catastrophic) {
			t.Error("it runs twice")
		}
	})
}

func TestGrantsEnd(t *testing.T) {
	for name, end := range map[string]func(x *bench) error{
		"revoked": func(x *bench) error {
			g, err := x.Grants.List(x.t.Context())
			if err != nil || len(g) != 1 || g[0].Kind != "15m" || g[0].By != "Alice via Telegram" {
				x.t.Fatalf("%+v, %v", g, err)
			}
			return x.Grants.Revoke(x.t.Context(), g[0].ID, "uid 7")
		},
		"frozen, and lifted": func(x *bench) error {
			if _, err := x.Controls.Freeze(x.t.Context(), "uid 7", ""); err != nil {
				return err
			}
			return x.Controls.Unfreeze(x.t.Context(), "uid 7")
		},
		"the audit fails": func(x *bench) error {
			x.audit.failing(approver.EventGrantUsed)
			return nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			v := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			x.command(0, "/approve CODE 15m")
			<-v
			if err := end(x); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			time.Sleep(time.Second)
			if x.runs(testCall("c2"), approver.High) {
				t.Errorf("%s: it still runs", name)
			}
		})
	}
}

// The form of a term is strict: what is not one, beside plain consent at most, is not a longer yes.
func TestParseTerm(t *testing.T) {
	for text, want := range map[string]approver.Term{
		"/approve CONFIRM-7KQ4MX 15m": {For: 15 * time.Minute}, "/approve 7KQ4MX session": {Session: true},
		"/approve CONFIRM-7KQ4MX 60m":  {For: time.Hour},
		"/approve CONFIRM-7KQ4MX once": {}, "/approve CONFIRM-7KQ4MX 61m": {}, "/approve CONFIRM-7KQ4MX 0m": {},
		"/approve CONFIRM-7KQ4MX 015m": {},
		"/approve CONFIRM-7KQ4MX 1h":   {}, "/approve CONFIRM-7KQ4MX 15m please": {For: 15 * time.Minute},
		"/approve CONFIRM-7KQ4MX not session": {}, "/deny CONFIRM-7KQ4MX 15m": {},
		"CONFIRM-7KQ4MX 15m": {For: 15 * time.Minute}, "yes session": {}, "/approve session": {},
		"/approve CONFIRM-7KQ4MX 15m or 30m": {},
	} {
		if in, _ := intent.Parse(text); in.Grant != want {
			t.Errorf("%q: %v", text, in.Grant)
		}
	}
}

// The story: somebody approved with a tap, then wrote the command with "session", and read
// "this once" with no word of the session, as if it had been heard. It is told now.
func TestASecondAnswerIsToldThatItsTermIsIgnored(t *testing.T) {
	who, now := approver.Person{ID: "ana"}, time.Now()
	r := Request{State: approver.Consumed, Resolution: approver.Resolution{
		Cause: approver.ByPerson, Approve: true, Person: who, Identity: approver.Identity{Channel: "terminal", ID: "1"},
		At: now,
	}}
	for _, c := range []struct {
		first, second approver.Term
		told          bool
	}{
		{
			approver.Term{}, approver.Term{Session: true}, true,
		}, {approver.Term{}, approver.Term{For: time.Hour}, true}, {approver.Term{}, approver.Term{}, false},
		{
			approver.Term{Session: true}, approver.Term{Session: true}, false,
		}, {approver.Term{Session: true}, approver.Term{}, false},
	} {
		r.Resolution.Grant = c.first
		out := outcomeOf(r, approver.Reply{Channel: "terminal", Sender: "1", Approve: true, Grant: c.second}, who)
		if out.Kind != approver.OutcomeApproved || strings.Contains(out.Text, "counts for nothing") != c.told {
			t.Errorf("first %v, then %v: %v %q", c.first, c.second, out.Kind, out.Text)
		}
	}
}

// Somebody typed /approve CODE 15m, and the card said "Approved once": who reads it later
// takes the next calls for asked. The card says how long a yes lasts, and "once" where it does
// not.
func TestTheCardSaysHowLongAYesLasts(t *testing.T) {
	session := approver.ToolCall{Session: "s"}
	for name, tt := range map[string]struct {
		call  approver.ToolCall
		sev   approver.Severity
		grant approver.Term
		want  string
	}{
		"once":        {session, approver.High, approver.Term{}, "✅ Approved once by "},
		"a time":      {session, approver.High, approver.Term{For: 15 * time.Minute}, "✅ Approved for 15m by "},
		"an hour":     {session, approver.High, approver.Term{For: time.Hour}, "✅ Approved for 60m by "},
		"the session": {session, approver.High, approver.Term{Session: true}, "✅ Approved for the session by "},
		"no session": {
			approver.ToolCall{}, approver.High, approver.Term{Session: true}, "✅ Approved once by ",
		},
		"a rule is proposed":        {session, approver.High, approver.Term{Always: true}, "✅ Approved once by "},
		"CATASTROPHIC is only once": {session, approver.Catastrophic, approver.Term{For: time.Minute}, "✅ Approved once by "},
	} {
		r := Request{
			Call: tt.call, Verdict: approver.Verdict{Severity: tt.sev}, State: approver.Consumed, Fingerprint: "bound",
		}
		r.Resolution = approver.Resolution{Approve: true, Cause: approver.ByPerson, Grant: tt.grant}
		if got := resultLine(r, r.Resolution); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
