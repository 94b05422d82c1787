package shieldcore_test

import (
	"strings"
	"testing"

	"approver.example/shieldcore"
)

const comparedBase = `version: 1
tools: {known: [Bash, Read]}
denylist: {restricted: [/vault], protected: [/seal]}
default_ttl: 60s
rules:
  - {name: a, command: 'rm', decision: deny}
  - {name: b, command: 'git push', decision: ask, severity: high, approvers: [ada, bob], channels: [slack]}
  - {name: c, command: 'git status', decision: allow}
  - {name: d, command: 'ls', decision: allow, min_tier: 1}
`

// Whatever is not certain to tighten loosens.
func TestCompare(t *testing.T) {
	old := mustLoad(t, comparedBase)
	for name, tt := range map[string]struct{ was, becomes, why string }{
		"nothing":            {"", "", ""},
		"a comment":          {"version: 1\n", "version: 1 # one\n", ""},
		"a reason":           {"decision: deny}", "decision: deny, reason: no}", ""},
		"a tool fewer":       {"[Bash, Read]", "[Bash]", ""},
		"a denied path more": {"[/vault]", "[/vault, /x]", ""},
		"a rule that denies": {"rules:\n", "rules:\n  - {name: z, command: z, decision: deny}\n", ""},
		"an allow fewer":     {"  - {name: c, command: 'git status', decision: allow}\n", "", ""},
		"ask becomes deny": {"decision: ask, severity: high, approvers: [ada, bob], channels: [slack]",
			"decision: deny", ""},
		"allow becomes deny":  {"'git status', decision: allow", "'git status', decision: deny", ""},
		"more severe":         {"severity: high", "severity: catastrophic", ""},
		"fewer people":        {"[ada, bob]", "[ada]", ""},
		"less time":           {"60s", "30s", ""},
		"a higher tier":       {"min_tier: 1", "min_tier: 2", ""},
		"a default that asks": {"rules:\n", "default: {decision: ask}\nrules:\n", ""},
		"ask behind all":      {"min_tier: 1}\n", "min_tier: 1}\n  - {name: e, command: e, decision: ask}\n", ""},
		"ask before allow":    {"  - {name: c,", "  - {name: e, command: e, decision: ask}\n  - {name: c,", ""},
		"for the evaluation": {"min_tier: 1}\n",
			"min_tier: 1}\n  - {name: e, command: e, decision: escalate, severity: high}\n",
			"is new, and what it asks about may have been stopped"},
		"for it, before a lower": {"  - {name: c,",
			"  - {name: e, command: e, decision: ask, severity: high, min_tier: 2}\n  - {name: c,",
			"is new, and what it asks about may have been stopped"},
		"catastrophic means people": {"min_tier: 1}\n",
			"min_tier: 1}\n  - {name: e, command: e, decision: ask, severity: catastrophic, min_tier: 2}\n", ""},
		"a question that only warns": {"rules:\n", "warn: [delete_tree]\nrules:\n",
			"questions of the rule delete_tree become warnings"},
		"a tool more":            {"[Bash, Read]", "[Bash, Read, Write]", "the tool Write becomes known"},
		"a restricted path less": {"restricted: [/vault], ", "", "/vault is no longer restricted"},
		"a protected path less":  {", protected: [/seal]", "", "/seal is no longer protected"},
		"a deny fewer": {"  - {name: a, command: 'rm', decision: deny}\n", "",
			"the rule a is gone, which decided deny"},
		"a tiered allow fewer": {"  - {name: d, command: 'ls', decision: allow, min_tier: 1}\n", "",
			"let through only after tier 1"},
		"a rule that allows": {"rules:\n", "rules:\n  - {name: z, command: z, decision: allow}\n", "is new and allows"},
		"ask before deny": {"rules:\n", "rules:\n  - {name: z, command: z, decision: ask}\n",
			"may have been stopped by a later one"},
		"deny becomes ask":  {"'rm', decision: deny", "'rm', decision: ask", "decides ask, where it decides deny now"},
		"allow becomes ask": {"'git status', decision: allow", "'git status', decision: ask", "matches more calls"},
		"other text":        {"'rm'", "'rm -rf'", "the rule a matches other calls"},
		"a condition more":  {"command: 'rm'", "command: 'rm', when: {agents: [codex]}", "the rule a matches other calls"},
		"less severe": {"name: a, command: 'rm', decision: deny",
			"name: a, command: 'rm', decision: ask, severity: high", "decides ask"},
		"more people":   {"[ada, bob]", "[ada, bob, eve]", "more people"},
		"everybody":     {"approvers: [ada, bob], ", "", "more people"},
		"every channel": {", channels: [slack]", "", "more channels"},
		"more time":     {"60s", "61s", "longer to say yes"},
		"a lower tier":  {", min_tier: 1", "", "needs a lower tier"},
		"another order": {"name: a, command: 'rm', decision: deny}\n  - {name: b",
			"name: x, command: 'q', decision: deny}\n  - {name: a, command: 'rm', decision: deny}\n  - {name: b", ""},
	} {
		if !strings.Contains(comparedBase, tt.was) {
			t.Fatalf("%s: %q is not in the policy", name, tt.was)
		}
		next := mustLoad(t, strings.Replace(comparedBase, tt.was, tt.becomes, 1))
		got := shieldcore.Compare(old, next)
		if why := strings.Join(got.Why, "; "); (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) ||
			got.Loosens() != (tt.why != "") {
			t.Errorf("%s: got %q, want %q", name, why, tt.why)
		}
		if same := tt.was == tt.becomes; same != (got.Diff == "") || !same && !strings.Contains(got.Diff, "\n@@ ") {
			t.Errorf("%s: the diff is %q", name, got.Diff)
		}
	}
	const first = "  - {name: a, command: 'rm', decision: deny}\n"
	reordered := mustLoad(t, strings.Replace(comparedBase, first, "", 1)+first)
	if got := shieldcore.Compare(old, reordered); !strings.Contains(got.String(),
		"loosens: the rules stand in another order") {
		t.Error(got)
	}
	placed := mustLoad(t, "version: 1\nrules: [{name: a, paths: [/x], decision: allow}]\n")
	if got := shieldcore.Compare(placed, mustLoad(t, "version: 1\n")); !strings.Contains(got.String(),
		"no rule looks at paths any more") {
		t.Error(got)
	}
	if !shieldcore.Compare(nil, old).Loosens() || !shieldcore.Compare(old, &shieldcore.Policy{}).Loosens() {
		t.Error("no policy is no change")
	}
	none := mustLoad(t, "version: 1\ndefault: {decision: deny}\n")
	for text, loosens := range map[string]bool{
		"version: 1\ndefault: {decision: ask}\n": true,
		"version: 1\n":                           true,
		"version: 1\ndefault: {decision: deny}\nrules: [{name: a, command: x, decision: ask}]\n":  true,
		"version: 1\ndefault: {decision: deny}\nrules: [{name: a, command: x, decision: deny}]\n": false,
	} {
		if got := shieldcore.Compare(none, mustLoad(t, text)); got.Loosens() != loosens {
			t.Errorf("%s: %v", text, got)
		}
	}
}
