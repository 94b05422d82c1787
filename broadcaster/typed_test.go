package broadcaster

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"approver.example"
)

// An operator typed `y 1` in a terminal, and read in the audit that they had tapped: an
// auditor looked for a phone that nobody had used. What is typed to a card has a word of
// its own now, counts where a tap counts, and old records keep their word.
func TestATypedAnswerIsNoTap(t *testing.T) {
	for word, want := range map[string]approver.Method{
		"tap": approver.ByTap, "command": approver.ByCommand, "code": approver.ByCode, "plain": approver.ByPlain,
		"id": approver.ByID, "typed": approver.ByTyped,
		"none": approver.NoMethod, "": approver.NoMethod, "Typed": approver.NoMethod, "typed ": approver.NoMethod,
		"6": approver.NoMethod, "tapped": approver.NoMethod,
	} {
		var m approver.Method
		if err := m.UnmarshalText([]byte(word)); err != nil || m != want {
			t.Errorf("%q is read as %v, %v", word, m, err)
		}
		if text, err := json.Marshal(want); err != nil || want != approver.NoMethod && string(text) != `"`+word+`"` {
			t.Errorf("%v is written as %s, %v", want, text, err)
		}
	}
	for name, c := range map[string]struct {
		change func(r *approver.Reply)
		want   approver.OutcomeKind
	}{
		"to its card":             {func(*approver.Reply) {}, approver.OutcomeApproved},
		"a no":                    {func(r *approver.Reply) { r.Approve = false }, approver.OutcomeDenied},
		"to no card":              {func(r *approver.Reply) { r.Message = "" }, approver.OutcomeUnknown},
		"to no request":           {func(r *approver.Reply) { r.Request = "" }, approver.OutcomeUnknown},
		"to another card":         {func(r *approver.Reply) { r.Message = "m77" }, approver.OutcomeUnknown},
		"in another conversation": {func(r *approver.Reply) { r.Conversation = "T2" }, approver.OutcomeUnknown},
		"by somebody else":        {func(r *approver.Reply) { r.Sender = "77" }, approver.OutcomeRefused},
		"for longer than this once": {
			func(r *approver.Reply) { r.Grant = approver.Term{Session: true} }, approver.OutcomeNeedCode,
		},
		"by a method nobody defined": {func(r *approver.Reply) { r.Method = approver.ByTyped + 1 }, approver.OutcomeUnknown},
	} {
		story(t, func(t *testing.T, x *bench) {
			got := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			msg, card := x.tg.card(0)
			rep := approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTyped,
				Request: card.Request, Message: msg,
			}
			c.change(&rep)
			if out := x.Answers.Reply(t.Context(), rep); out.Kind != c.want {
				t.Errorf("%s: %+v", name, out)
			}
			if c.want != approver.OutcomeApproved && c.want != approver.OutcomeDenied {
				x.tap(x.tg, 0, "1", false)
			}
			if v := <-got; (v.Decision == approver.Allow) != (c.want == approver.OutcomeApproved) {
				t.Errorf("%s: %+v", name, v)
			}
			if r, _, _ := x.Requests.load(t.Context(), card.Request); c.want == approver.OutcomeApproved &&
				r.Resolution.Method.String() != "typed" {
				t.Errorf("the record says %v", r.Resolution.Method)
			}
		})
	}
}
