package broadcaster

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/fingerprint"
)

// The story: the daemon may not look into the agent's home. What lies there
// could be another program by the time the call runs, and the fingerprint would
// be the same. People are told its name on the card, and their yes is for one run.
func TestWhatIsNotBound(t *testing.T) {
	call := testCall("c1")
	open, err := fingerprint.Bind(call, "p", map[string]string{"/x": "sha256:1"}, nil)
	if err != nil || !open.Fingerprint.Bound() {
		t.Errorf("%q, %v", open, err)
	}
	closed, err := fingerprint.Bind(call, "p", map[string]string{"/x": "sha256:1"}, []string{"/home/a/x.sh"})
	if err != nil || closed.Fingerprint.Bound() || !closed.Fingerprint.Equal(closed.Fingerprint) ||
		closed.Fingerprint.Equal(open.Fingerprint) {
		t.Errorf("%q, %v", closed, err)
	}
	story(t, func(t *testing.T, x *bench) {
		x.unbound = []string{
			"/home/a/x.sh", "what ssh runs elsewhere: TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ456789 ./y\u202e\nBOUND",
		}
		answer := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		if !strings.HasPrefix(warned(card), "/home/a/x.sh, what ssh runs elsewhere: ") {
			t.Errorf("the card says %q", warned(card))
		}
		if strings.Contains(warned(card), "ghp_0123456789") || strings.ContainsAny(warned(card), "\u202e\n") {
			t.Errorf("a name hides or tells too much: %q", warned(card))
		}
		lasting := approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByCommand, Code: card.Code,
			Message: msg,
		}
		for _, term := range []approver.Term{{Session: true}, {For: 15 * time.Minute}} {
			lasting.Grant = term
			if out := x.Answers.Reply(t.Context(), lasting); out.Kind != approver.OutcomeNeedCode ||
				!strings.Contains(out.Text, "once only") {
				t.Errorf("a yes for %s: %+v", term, out)
			}
		}
		lasting.Grant = approver.Term{}
		if out := x.Answers.Reply(t.Context(), lasting); out.Kind != approver.OutcomeApproved {
			t.Errorf("a yes for once: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// A grant does not hold for a call that is not bound, whoever kept it.
func TestNoGrantForWhatIsNotBound(t *testing.T) {
	now := time.Now()
	call := testCall("c1")
	call.Session = "s"
	for _, unbound := range [][]string{nil, {"x"}} {
		bound, err := fingerprint.Bind(call, "p", nil, unbound)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{
			Call: call, Fingerprint: bound.Fingerprint, Verdict: approver.Verdict{
				Decision: approver.Ask, Severity: approver.High,
			},
		}
		r.Resolution = approver.Resolution{Approve: true, Grant: approver.Term{Session: true}}
		g := lastingGrant{Request: r, Until: now.Add(time.Hour)}
		if got := g.holds(call, r.Verdict, bound.Fingerprint, Controls{}, now); got != (unbound == nil) {
			t.Errorf("unbound %q: a grant holds: %v", unbound, got)
		}
	}
}

// mayChange is what a card says of what a yes does not bind, behind its name.
const mayChange = " can change after you answer, so a yes is for one run."

func TestUnboundNotice(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "some of what this would run"},
		{[]string{"a"}, "a"},
		{[]string{"a", "b", "c", "d"}, "a, b, c, d"},
		{[]string{"a", "b", "c", "d", "e", "f"}, "a, b, c, d, and 2 more"},
		{[]string{strings.Repeat("é", 200)}, strings.Repeat("é", 60) + "…"},
		{[]string{"a\n b"}, "a b"},
	} {
		if got := display.UnboundNotice(c.names, display.Texts{}); got != c.want+mayChange {
			t.Errorf("%q: %q", c.names, got)
		}
	}
	var old Request
	if err := json.Unmarshal([]byte(`{"id":"x","fingerprint":"ab-unbound"}`), &old); err != nil || old.Unbound != nil {
		t.Errorf("a record of before: %+v, %v", old, err)
	}
	b, err := json.Marshal(Request{Unbound: []string{"a"}})
	if err != nil || !slices.Contains(strings.Split(string(b), ","), `"unbound":["a"]`) {
		t.Errorf("%s, %v", b, err)
	}
}
