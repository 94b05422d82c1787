package approver

import (
	"testing"
	"testing/synctest"

	"approver.example/tokens"
)

// The story: the destination of a forced push stands in a token, base64, and the
// card hides it. A tap, a plain yes and the request's id approved it, and a grant
// for the session ran it again unseen. Only the typed code does now, and once.
func TestAnObscuredCardTakesTheTypedCodeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		call := shellCall("DEPLOY_TOKEN=" + address + "; git push --force \"$(echo $DEPLOY_TOKEN | base64 -d)\" main")
		call.ID, call.Session = "c1", "s"
		got := x.askAsync(t.Context(), call, High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		if card.OneTap || card.Notice == "" || card.Notice[:6] != "HIDDEN" {
			t.Errorf("the card offers a tap: %v, and its notice is %q", card.OneTap, card.Notice)
		}
		base := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true}
		for _, way := range []func(*Reply){
			func(r *Reply) { r.Method, r.Request, r.Message = ByTap, card.Request, msg },
			func(r *Reply) { r.Method, r.Request, r.Message = ByTyped, card.Request, msg },
			func(r *Reply) { r.Method, r.Request, r.Message = ByPlain, card.Request, msg },
			func(r *Reply) { r.Method, r.Request = ByID, card.Request },
			func(r *Reply) { r.Method, r.Code, r.Grant = ByCommand, card.Code, Term{Session: true} },
			func(r *Reply) { r.Method, r.Code, r.Grant = ByCommand, card.Code, Term{For: 15 * 60e9} },
			func(r *Reply) { r.Method, r.Code, r.Grant = ByCommand, card.Code, Term{Always: true} },
			func(r *Reply) { r.Method, r.Code = ByCode, tokens.Code{} },
		} {
			rep := base
			way(&rep)
			if out := x.Answers.Reply(t.Context(), rep); out.Kind == OutcomeApproved || out.Kind == OutcomeRecorded {
				t.Fatalf("%+v was enough: %+v", rep, out)
			}
		}
		rep := base
		rep.Method, rep.Code = ByCode, card.Code
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != OutcomeApproved {
			t.Errorf("the typed code does not approve: %+v", out)
		}
		if v := <-got; v.Decision != Allow {
			t.Errorf("%+v", v)
		}
	})
}
