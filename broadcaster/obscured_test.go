package broadcaster

import (
	"testing"
	"testing/synctest"

	"approver.example"
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
		got := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		if card.OneTap || warned(card) == "" || warned(card)[:6] != "HIDDEN" {
			t.Errorf("the card offers a tap: %v, and its notice is %q", card.OneTap, warned(card))
		}
		base := approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true}
		for _, way := range []func(*approver.Reply){
			func(r *approver.Reply) { r.Method, r.Request, r.Message = approver.ByTap, card.Request, msg },
			func(r *approver.Reply) { r.Method, r.Request, r.Message = approver.ByTyped, card.Request, msg },
			func(r *approver.Reply) { r.Method, r.Request, r.Message = approver.ByPlain, card.Request, msg },
			func(r *approver.Reply) { r.Method, r.Request = approver.ByID, card.Request },
			func(r *approver.Reply) {
				r.Method, r.Code, r.Grant = approver.ByCommand, card.Code, approver.Term{Session: true}
			},
			func(r *approver.Reply) {
				r.Method, r.Code, r.Grant = approver.ByCommand, card.Code, approver.Term{For: 15 * 60e9}
			},
			func(r *approver.Reply) {
				r.Method, r.Code, r.Grant = approver.ByCommand, card.Code, approver.Term{Always: true}
			},
			func(r *approver.Reply) { r.Method, r.Code = approver.ByCode, tokens.Code{} },
		} {
			rep := base
			way(&rep)
			if out := x.Answers.Reply(t.Context(), rep); out.Kind == approver.OutcomeApproved ||
				out.Kind == approver.OutcomeRecorded {
				t.Fatalf("%+v was enough: %+v", rep, out)
			}
		}
		rep := base
		rep.Method, rep.Code = approver.ByCode, card.Code
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeApproved {
			t.Errorf("the typed code does not approve: %+v", out)
		}
		if v := <-got; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}
