package shieldcore_test

import (
	"testing"

	"approver.example"
	"approver.example/shieldcore"
)

// What has to be looked at by a tier goes on if that tier is there, and to people
// if it is not: 3 always does.
func TestAFloorWithoutItsTierAsksPeople(t *testing.T) {
	for floor, want := range map[string][3]approver.Decision{ // with tiers up to 0, 1 and 2
		"0": {approver.Allow, approver.Allow, approver.Allow},
		"1": {approver.Ask, approver.Allow, approver.Allow},
		"2": {approver.Ask, approver.Ask, approver.Allow},
		"3": {approver.Ask, approver.Ask, approver.Ask},
	} {
		for tiers, decision := range want {
			live := &shieldcore.Live{Tiers: uint8(tiers)}
			for _, p := range []string{ // the second one is put in force while the first judges
				"version: 1\ntools: {known: [Bash]}\ndefault: {decision: pass, min_tier: " + floor + "}\n",
				"version: 1\ntools: {known: [Bash]}\nrules: [{name: a, command: git, decision: allow, min_tier: " + floor + "}]\n",
			} {
				live.Set(mustLoad(t, p))
				v, err := live.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "git"})
				lets := v.Decision == approver.Allow || v.Decision == approver.Pass
				if err != nil || lets != (decision == approver.Allow) || !lets && v.Decision != approver.Ask {
					t.Errorf("min_tier %s with tiers up to %d: %+v, %v\n%s", floor, tiers, v, err, p)
				}
			}
		}
	}
}
