package broadcaster

import (
	"strings"
	"testing"
	"time"

	"approver.example"
)

// hookCall is a call of an agent's hook, whose fingerprint is bound.
func hookCall(id string) approver.ToolCall {
	call := testCall(id)
	call.Acks, call.Peer = true, approver.Peer{Known: true, UID: 4_000_000_001}
	return call
}

// asking is the verdict of a rule that asks.
func asking(sev approver.Severity) approver.Verdict {
	return approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: sev}
}

// wants sends what somebody wants who has the n-th card of the Telegram chat.
func (x *bench) wants(want approver.Want, n int, sender string) approver.Outcome {
	msg, card := x.tg.card(n)
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: sender, Want: want, Method: approver.ByTap, Request: card.Request,
		Message: msg,
	})
}

// tapTerm is a tap for a term, as the data of a button say it.
func (x *bench) tapTerm(term approver.Term) approver.Outcome {
	msg, card := x.tg.card(-1)
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Grant: term,
		Request: card.Request, Message: msg,
	})
}

// The story: a person wrote why they refused, and nobody told the agent, which then tried the next
// variation. The reason goes to the agent as a person's words, onto every card and into the audit. A code
// that somebody typed in it, a secret, and a line that would pass for one of approver's own do not.
func TestANoWithItsReason(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(12 * time.Second)
		msg, card := x.tg.card(0)
		code := card.Code.Reveal()
		out := x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByPlain, Request: card.Request, Message: msg,
			Reason: "use a branch\ninstead, " + code + " \u202eevil AKIAIOSFODNN7EXAMPLE",
		})
		if out.Kind != approver.OutcomeDenied || out.Text != "Denied: the agent has been told, with your reason." {
			t.Errorf("%+v", out)
		}
		v := <-answer
		if !strings.Contains(v.Reason, "A person denied it, and says: “use a branch instead, CONFIRM-******") {
			t.Errorf("the agent hears %q", v.Reason)
		}
		time.Sleep(time.Second)
		_, shown := x.dc.card(0)
		if !strings.HasPrefix(shown.Result, "⛔ Denied by Alice via Telegram · 12 s: “use a branch instead, ") {
			t.Errorf("the card says %q", shown.Result)
		}
		var told string
		for _, r := range x.audit.recorded() {
			if r.Event == approver.EventDenied {
				told = r.Resolution.Reason
			}
		}
		if !strings.HasPrefix(told, "use a branch instead, CONFIRM-******") {
			t.Errorf("the audit has %q", told)
		}
		for where, text := range map[string]string{"the agent": v.Reason, "the card": shown.Result, "the audit": told} {
			bare := strings.TrimPrefix(code, "CONFIRM-")
			if strings.Contains(text, bare) {
				t.Errorf("%s has the code: %q", where, text)
			}
			if where != "the audit" && (strings.ContainsAny(text, "\u202e\n") || strings.Contains(text, "AKIAIOSFODNN7")) {
				t.Errorf("%s shows %q", where, text)
			}
		}
	})
}

// A long reason is bounded where a character ends, and says so; a yes has none.
func TestBoundsOfAReason(t *testing.T) {
	long := reasonOf(approver.Reply{Reason: strings.Repeat("ä", approver.MaxReason)})
	if len(long) > approver.MaxReason || !strings.HasSuffix(long, "ä …") {
		t.Errorf("%d bytes, %q", len(long), long[len(long)-8:])
	}
	if said := reasonOf(approver.Reply{Approve: true, Reason: "because"}); said != "" {
		t.Errorf("a yes says %q", said)
	}
}

// A reason that comes after the no is not told to the agent, and its person hears that.
func TestAReasonThatComesLate(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.tap(x.tg, 0, "1", false)
		<-answer
		msg, card := x.tg.card(0)
		out := x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByPlain, Request: card.Request, Message: msg,
			Reason: "use a branch",
		})
		if out.Kind != approver.OutcomeDenied || !strings.HasPrefix(out.Text, "Denied already") {
			t.Errorf("%+v", out)
		}
	})
}

// The story: a yes for a quarter of an hour had to be typed, so people said yes ten times instead. Now a
// button does it where a yes may last, and the card says for which calls. Data of a button come through
// the client: what no button says, such as an hour, is refused, and so is a term on a card without it.
func TestATapForLonger(t *testing.T) {
	quarter, session := approver.Term{For: approver.TapTerm}, approver.Term{Session: true}
	verdict := func(f func(v *approver.Verdict)) func(*bench, *approver.ToolCall, *approver.Verdict) {
		return func(_ *bench, _ *approver.ToolCall, v *approver.Verdict) { f(v) }
	}
	ofCall := func(f func(c *approver.ToolCall)) func(*bench, *approver.ToolCall, *approver.Verdict) {
		return func(_ *bench, c *approver.ToolCall, _ *approver.Verdict) { f(c) }
	}
	ofBench := func(f func(x *bench)) func(*bench, *approver.ToolCall, *approver.Verdict) {
		return func(x *bench, _ *approver.ToolCall, _ *approver.Verdict) { f(x) }
	}
	hidden := shellCall("DEPLOY_TOKEN=" + address + "; git push --force \"$(echo $DEPLOY_TOKEN | base64 -d)\" main")
	for name, c := range map[string]struct {
		term    approver.Term
		change  func(*bench, *approver.ToolCall, *approver.Verdict)
		offered bool
		kept    bool
	}{
		"a quarter of an hour":      {term: quarter, offered: true, kept: true},
		"the session":               {term: session, offered: true, kept: true},
		"an hour, which is forged":  {term: approver.Term{For: time.Hour}, offered: true},
		"16 minutes, forged":        {term: approver.Term{For: 16 * time.Minute}, offered: true},
		"both at once, forged":      {term: approver.Term{Session: true, For: approver.TapTerm}, offered: true},
		"always, forged":            {term: approver.Term{Always: true}, offered: true},
		"a session that nobody has": {term: quarter, change: ofCall(func(c *approver.ToolCall) { c.Session = "" })},
		"what is not bound":         {term: quarter, change: ofBench(func(x *bench) { x.unbound = []string{"a script"} })},
		"what is hidden": {term: quarter, change: ofCall(func(c *approver.ToolCall) {
			c.Command, c.Args = hidden.Command, hidden.Args
		})},
		"CATASTROPHIC": {
			term: quarter, change: verdict(func(v *approver.Verdict) { v.Severity = approver.Catastrophic }),
		},
		"an agent's own":     {term: quarter, change: verdict(func(v *approver.Verdict) { v.Prompt = true })},
		"an appeal":          {term: quarter, change: verdict(func(v *approver.Verdict) { v.Appeal.Of = "c0" })},
		"approver's own":     {term: quarter, change: ofCall(func(c *approver.ToolCall) { c.Own = true })},
		"approver's pause":   {term: quarter, change: ofCall(func(c *approver.ToolCall) { c.Control = "pause" })},
		"a card that is cut": {term: quarter, offered: true, change: ofBench(func(x *bench) { x.tg.partial = true })},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call, why := testCall("c1"), asking(approver.High)
				if c.change != nil {
					c.change(x, &call, &why)
				}
				answer := x.askUnder(call, why)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				if offered := card.Lasting != ""; offered != c.offered {
					t.Errorf("the card offers %q", card.Lasting)
				}
				out := x.tapTerm(c.term)
				if kept := out.Kind == approver.OutcomeApproved && strings.Contains(out.Text, "without asking"); kept != c.kept {
					t.Errorf("%+v", out)
				}
				if !c.kept {
					if r := x.loaded(card.Request); r.State != approver.Pending || out.Text == "" {
						t.Errorf("it is %v, told %q", r.State, out.Text)
					}
					x.stop()
				}
				<-answer
			})
		})
	}
}

// What a yes for longer covers is on the card in words.
func TestLastingText(t *testing.T) {
	card := composed(Options{}).Cards.Of(Request{
		Call: testCall("c1"), State: approver.Pending, Verdict: approver.Verdict{Severity: approver.High},
		Fingerprint: approver.Fingerprint(strings.Repeat("a", 64)),
	})
	const want = "only this very command of claude in /repo; a session ends after 8 hours at most"
	if card.Lasting != want {
		t.Errorf("%q", card.Lasting)
	}
}
