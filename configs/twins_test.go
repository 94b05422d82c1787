package configs_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/shieldcore/heuristics"
)

// A together is a heuristic and a rule that both find something in the same call.
type together struct{ heuristic, rule string }

// togethers has all of them among the examples, each with a call, and of which a twin finds the
// same effect and outranks the rule, so that an exception from the twin holds for it, too.
func togethers(t *testing.T) (calls map[together]string, covered map[together]bool) {
	t.Helper()
	lib, err := configs.NewLibrary(nil, january)
	if err != nil {
		t.Fatal(err)
	}
	e, err := reflexcore.NewWith(lib.Rules(), reflexcore.DefaultConfig().Limits())
	if err != nil {
		t.Fatal(err)
	}
	texts := mustHeuristics(t)
	calls, covered = map[together]string{}, map[together]bool{}
	open := map[together]bool{}
	look := func(call approver.ToolCall) {
		found := texts.Finds(call)
		if len(found) == 0 {
			return
		}
		how := e.Explain(call)
		for _, id := range found {
			h, _ := lib.Rules().Heuristic(id)
			for _, f := range how.Findings {
				pair := together{id, f.Rule}
				if calls[pair] == "" {
					calls[pair] = strings.TrimSpace(call.Tool + " " + call.Command + " " + string(call.Args))
				}
				if !slices.Contains(h.Twins, f.Rule) && !saysMore(how.Findings, f, h.Twins) {
					open[pair] = true
				}
				covered[pair] = !open[pair]
			}
		}
	}
	for _, r := range lib.Rules().List() {
		for _, x := range slices.Concat(r.Match, r.Pass) {
			look(x.Call())
		}
	}
	for _, h := range texts.Rules() {
		for _, x := range slices.Concat(h.Match, h.Pass) {
			call := h.Call(x)
			call.Dir, call.Env = "/home/ada/shop", map[string]string{"HOME": "/home/ada"}
			look(call)
			if slices.Contains(h.Twins, "container_system") { // which finds something only there
				call.Container = &approver.Container{}
				look(call)
			}
		}
	}
	return calls, covered
}

// saysMore reports whether a twin found the same effect as f, and is at least as strict.
func saysMore(all []reflexcore.Found, f reflexcore.Found, twins []string) bool {
	return f.Effect >= 0 && slices.ContainsFunc(all, func(g reflexcore.Found) bool {
		return g.Effect == f.Effect && slices.Contains(twins, g.Rule) &&
			(g.Decision < f.Decision || g.Decision == f.Decision && g.Severity <= f.Severity)
	})
}

// The story: a person made an exception for force pushes, and the heuristic about force pushes
// asked all the same. Wherever a rule and a heuristic find something in the same example, the
// heuristic names the rule as its twin, a twin of it says more of the same effect, or the file
// says why both stay. Nothing is declared that no example shows.
func TestTwinsAreDeclared(t *testing.T) {
	const file = "heuristics.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := configs.LoadHeuristics(file, data)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := configs.ReadApart(file, data)
	if err != nil {
		t.Fatal(err)
	}
	calls, covered := togethers(t)
	used := map[string]bool{}
	for pair, call := range calls {
		_, own := apart[pair.heuristic][pair.rule]
		_, general := apart[""][pair.rule]
		switch {
		case covered[pair] && own:
			t.Errorf("%s: %s is declared apart, and is no finding of its own: take it away", pair.heuristic, pair.rule)
		case covered[pair]:
		case own || general:
			used[pair.rule] = true
		default:
			t.Errorf("%s and %s both find something in\n\t%.200s\n\tdeclare the rule under twins of the heuristic if it "+
				"says the same, or under apart why both stay", pair.heuristic, pair.rule, call)
		}
	}
	for i := range rules {
		checkDeclared(t, &rules[i], apart[rules[i].ID], calls)
	}
	for rule, why := range apart[""] {
		if !used[rule] || why == "" {
			t.Errorf("apart: %s: no heuristic needs it, or it has no reason", rule)
		}
	}
}

// checkDeclared reports what a heuristic declares and no example shows.
func checkDeclared(t *testing.T, h *heuristics.Rule, apart map[string]string, calls map[together]string) {
	t.Helper()
	for _, twin := range h.Twins {
		if calls[together{h.ID, twin}] == "" {
			t.Errorf("%s: no example is found by %s and its twin %s", h.Where, h.ID, twin)
		}
	}
	for rule, why := range apart {
		if why == "" || calls[together{h.ID, rule}] == "" {
			t.Errorf("%s: no example is found by %s and %s, or there is no reason why both stay", h.Where, h.ID, rule)
		}
	}
}
