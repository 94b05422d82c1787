package approver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (x *bench) command(n int, text string) Outcome {
	_, card := x.tg.card(n)
	in, err := ParseIntent(strings.ReplaceAll(text, "CODE", card.Code.Reveal()))
	if err != nil {
		x.t.Fatal(err)
	}
	return x.Answers.Reply(x.t.Context(), Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: in.Approve, Method: in.Method, Code: in.Code, Grant: in.Grant})
}

// runs reports whether a call is released without anybody being asked.
func (x *bench) runs(call ToolCall, sev Severity) bool {
	before := x.tg.count()
	v := x.askAsync(x.t.Context(), call, sev)
	synctest.Wait()
	asked := x.tg.count() > before
	if asked {
		x.tap(x.tg, -1, "1", false)
	}
	return (<-v).Decision == Allow && !asked
}

func TestGrantsThatLast(t *testing.T) {
	for text, term := range map[string]time.Duration{"/approve CODE 15m": 15 * time.Minute, "/approve CODE session": SessionTerm} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			v := x.askAsync(t.Context(), testCall("c1"), High)
			synctest.Wait()
			out := x.command(0, text)
			if out.Kind != OutcomeApproved || !strings.Contains(out.Text, "runs without asking until") || (<-v).Decision != Allow {
				t.Fatalf("%+v", out)
			}
			if !x.runs(testCall("c2"), High) || !x.runs(testCall("c3"), High) {
				t.Error("the same call is asked again")
			}
			other, elsewhere, session := testCall("c4"), testCall("c5"), testCall("c6")
			other.Args, elsewhere.Peer, session.Session = []byte(`{"command":"git push"}`), Peer{Known: true, UID: 7}, "another"
			if x.runs(other, High) || x.runs(elsewhere, High) || x.runs(testCall("c7"), Catastrophic) {
				t.Error("it runs what people did not say yes to")
			}
			if got, want := x.runs(session, High), text == "/approve CODE 15m"; got != want {
				t.Errorf("in another session: %v", got)
			}
			time.Sleep(term - time.Minute)
			if !x.runs(testCall("c8"), High) {
				t.Error("it ended too early")
			}
			time.Sleep(time.Minute)
			if x.runs(testCall("c9"), High) {
				t.Error("it runs after its time")
			}
			all := x.audit.events("")
			count := map[Event]int{}
			for _, e := range all {
				count[e]++
			}
			if count[EventGranted] != 1 || count[EventGrantUsed] < 3 || count[EventGrantExpired] != 1 {
				t.Errorf("%v", count)
			}
		})
	}
}

// CATASTROPHIC is approved once only, and a term beside it approves nothing.
func TestNoTermForCatastrophic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		v := x.askAsync(t.Context(), testCall("c1"), Catastrophic)
		synctest.Wait()
		if out := x.command(0, "/approve CODE 15m"); out.Kind != OutcomeNeedCode {
			t.Errorf("%+v", out)
		}
		if out := x.command(0, "/approve CODE"); out.Kind != OutcomeApproved || (<-v).Decision != Allow {
			t.Errorf("%+v", out)
		}
		if x.runs(testCall("c2"), Catastrophic) {
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
			x.audit.failing(EventGrantUsed)
			return nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			v := x.askAsync(t.Context(), testCall("c1"), High)
			synctest.Wait()
			x.command(0, "/approve CODE 15m")
			<-v
			if err := end(x); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			time.Sleep(time.Second)
			if x.runs(testCall("c2"), High) {
				t.Errorf("%s: it still runs", name)
			}
		})
	}
}

// The form of a term is strict: what is not exactly one is not a longer yes.
func TestParseTerm(t *testing.T) {
	for text, want := range map[string]Term{
		"/approve CONFIRM-7KQ4MX 15m": {For: 15 * time.Minute}, "/approve 7KQ4MX session": {Session: true}, "/approve CONFIRM-7KQ4MX 60m": {For: time.Hour},
		"/approve CONFIRM-7KQ4MX once": {}, "/approve CONFIRM-7KQ4MX 61m": {}, "/approve CONFIRM-7KQ4MX 0m": {}, "/approve CONFIRM-7KQ4MX 015m": {},
		"/approve CONFIRM-7KQ4MX 1h": {}, "/approve CONFIRM-7KQ4MX 15m please": {}, "/approve CONFIRM-7KQ4MX not session": {}, "/deny CONFIRM-7KQ4MX 15m": {},
		"CONFIRM-7KQ4MX 15m": {}, "yes session": {}, "/approve session": {}, "/approve CONFIRM-7KQ4MX -15m": {},
	} {
		if in, _ := ParseIntent(text); in.Grant != want {
			t.Errorf("%q: %v", text, in.Grant)
		}
	}
}

// The story: somebody approved with a tap, then wrote the command with "session", and read
// "this once" with no word of the session, as if it had been heard. It is told now.
func TestASecondAnswerIsToldThatItsTermIsIgnored(t *testing.T) {
	who, now := Person{ID: "ana"}, time.Now()
	r := Request{State: Consumed, Resolution: Resolution{Cause: ByPerson, Approve: true, Person: who, Identity: Identity{"terminal", "1"}, At: now}}
	for _, c := range []struct {
		first, second Term
		told          bool
	}{
		{Term{}, Term{Session: true}, true}, {Term{}, Term{For: time.Hour}, true}, {Term{}, Term{}, false},
		{Term{Session: true}, Term{Session: true}, false}, {Term{Session: true}, Term{}, false},
	} {
		r.Resolution.Grant = c.first
		out := outcomeOf(r, Reply{Channel: "terminal", Sender: "1", Approve: true, Grant: c.second}, who)
		if out.Kind != OutcomeApproved || strings.Contains(out.Text, "counts for nothing") != c.told {
			t.Errorf("first %v, then %v: %v %q", c.first, c.second, out.Kind, out.Text)
		}
	}
}

// Somebody typed /approve CODE 15m, and the card said "Approved once": who reads it later
// takes the next calls for asked. The card says how long a yes lasts, and "once" where it does
// not.
func TestTheCardSaysHowLongAYesLasts(t *testing.T) {
	session := ToolCall{Session: "s"}
	for name, tt := range map[string]struct {
		call  ToolCall
		sev   Severity
		grant Term
		want  string
	}{
		"once":                      {session, High, Term{}, "✅ Approved once by "},
		"a time":                    {session, High, Term{For: 15 * time.Minute}, "✅ Approved for 15m by "},
		"an hour":                   {session, High, Term{For: time.Hour}, "✅ Approved for 60m by "},
		"the session":               {session, High, Term{Session: true}, "✅ Approved for the session by "},
		"no session":                {ToolCall{}, High, Term{Session: true}, "✅ Approved once by "},
		"a rule is proposed":        {session, High, Term{Always: true}, "✅ Approved once by "},
		"CATASTROPHIC is only once": {session, Catastrophic, Term{For: time.Minute}, "✅ Approved once by "},
	} {
		r := Request{Call: tt.call, Verdict: Verdict{Severity: tt.sev}, State: Consumed, Fingerprint: "bound"}
		r.Resolution = Resolution{Approve: true, Cause: ByPerson, Grant: tt.grant}
		if got := r.resultLine(r.Resolution); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
