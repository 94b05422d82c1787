package shieldcore_test

import (
	"testing"

	"approver.example"
)

// The policy says why in words that are the call's only where they have to be.
func TestPolicySaysWhy(t *testing.T) {
	p := load(t, `
denylist: {restricted: ["/vault/**"], protected: ["/seal/**"]}
rules:
  - {name: a.b, command: '^one', decision: ask, reason: "100% ours: %s"}
  - {name: c.d, command: '^two', decision: deny}
`)
	for _, c := range []struct {
		call approver.ToolCall
		want string
	}{
		{approver.ToolCall{Tool: "Bash", Command: "one"}, "100% ours: %s"},
		{approver.ToolCall{Tool: "Bash", Command: "two"}, "the rule c.d of the policy asks or denies"},
		{approver.ToolCall{Tool: "Read", Paths: []string{"/vault/x"}}, "the policy lets no agent read or write /vault/x"},
		{approver.ToolCall{Tool: "Write", Paths: []string{"/seal/x"}}, "the policy lets no agent change /seal/x"},
		{approver.ToolCall{Tool: "x__y"}, "the policy does not know the tool x__y"},
	} {
		v, err := p.Judge(t.Context(), c.call)
		if err != nil || v.Says.Why.Plain() != c.want {
			t.Errorf("%+v: got %q, %v, want %q", c.call, v.Says.Why.Plain(), err, c.want)
		}
	}
}
