package approver

import (
	"encoding/json"
	"testing"
	"testing/synctest"
)

// An operator typed `y 1` in a terminal, and read in the audit that they had tapped: an
// auditor looked for a phone that nobody had used. What is typed to a card has a word of
// its own now, counts where a tap counts, and old records keep their word.
func TestATypedAnswerIsNoTap(t *testing.T) {
	for word, want := range map[string]Method{
		"tap": ByTap, "command": ByCommand, "code": ByCode, "plain": ByPlain, "id": ByID, "typed": ByTyped,
		"none": NoMethod, "": NoMethod, "Typed": NoMethod, "typed ": NoMethod, "6": NoMethod, "tapped": NoMethod,
	} {
		var m Method
		if err := m.UnmarshalText([]byte(word)); err != nil || m != want {
			t.Errorf("%q is read as %v, %v", word, m, err)
		}
		if text, err := json.Marshal(want); err != nil || want != NoMethod && string(text) != `"`+word+`"` {
			t.Errorf("%v is written as %s, %v", want, text, err)
		}
	}
	for name, c := range map[string]struct {
		change func(r *Reply)
		want   OutcomeKind
	}{
		"to its card":                {func(*Reply) {}, OutcomeApproved},
		"a no":                       {func(r *Reply) { r.Approve = false }, OutcomeDenied},
		"to no card":                 {func(r *Reply) { r.Message = "" }, OutcomeUnknown},
		"to no request":              {func(r *Reply) { r.Request = "" }, OutcomeUnknown},
		"to another card":            {func(r *Reply) { r.Message = "m77" }, OutcomeUnknown},
		"in another conversation":    {func(r *Reply) { r.Conversation = "T2" }, OutcomeUnknown},
		"by somebody else":           {func(r *Reply) { r.Sender = "77" }, OutcomeRefused},
		"for longer than this once":  {func(r *Reply) { r.Grant = Term{Session: true} }, OutcomeNeedCode},
		"by a method nobody defined": {func(r *Reply) { r.Method = ByTyped + 1 }, OutcomeUnknown},
	} {
		story(t, func(t *testing.T, x *bench) {
			got := x.askAsync(t.Context(), testCall("c1"), High)
			synctest.Wait()
			msg, card := x.tg.card(0)
			rep := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByTyped, Request: card.Request, Message: msg}
			c.change(&rep)
			if out := x.Answers.Reply(t.Context(), rep); out.Kind != c.want {
				t.Errorf("%s: %+v", name, out)
			}
			if c.want != OutcomeApproved && c.want != OutcomeDenied {
				x.tap(x.tg, 0, "1", false)
			}
			if v := <-got; (v.Decision == Allow) != (c.want == OutcomeApproved) {
				t.Errorf("%s: %+v", name, v)
			}
			if r, _, _ := x.Requests.load(t.Context(), card.Request); c.want == OutcomeApproved && r.Resolution.Method.String() != "typed" {
				t.Errorf("the record says %v", r.Resolution.Method)
			}
		})
	}
}
