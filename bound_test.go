package approver

import (
	"strings"
	"testing"
	"testing/synctest"
)

// The story: the daemon may not look into the agent's home. What lies there
// could be another program by the time the call runs, and the fingerprint would
// be the same. People are told so on the card, and their yes is for one run.
func TestFilesThatCannotBeRead(t *testing.T) {
	call := testCall("c1")
	open, err := FingerprintOf(call, "p", map[string]string{"/x": "sha256:1"})
	if err != nil || !open.Bound() {
		t.Errorf("%q, %v", open, err)
	}
	closed, err := FingerprintOf(call, "p", map[string]string{"/home/a/": unreadable})
	if err != nil || closed.Bound() || !closed.Equal(closed) || closed.Equal(open) {
		t.Errorf("%q, %v", closed, err)
	}
	story(t, func(t *testing.T, x *bench) {
		x.files = map[string]string{"/home/a/": unreadable}
		answer := x.askAsync(t.Context(), call, High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		if !strings.HasPrefix(card.Notice, "FILES NOT BOUND") {
			t.Errorf("the card says %q", card.Notice)
		}
		lasting := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCommand, Code: card.Code, Grant: Term{Session: true}, Message: msg}
		if out := x.Reply(t.Context(), lasting); out.Kind != OutcomeNeedCode || !strings.Contains(out.Text, "once only") {
			t.Errorf("a lasting yes: %+v", out)
		}
		once := lasting
		once.Grant = Term{}
		if out := x.Reply(t.Context(), once); out.Kind != OutcomeApproved {
			t.Errorf("a yes for once: %+v", out)
		}
		if v := <-answer; v.Decision != Allow {
			t.Errorf("%+v", v)
		}
	})
}
