package configs

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"approver.example"
	"approver.example/internal/match"
	"approver.example/reflexcore"
	"approver.example/shieldcore/heuristics"
)

// defaultHeuristics are the rules of Tier 1, which the generator has converted from
// heuristics.yaml: parsing YAML would take most of a start. A test checks that both are equal.
//
//go:embed heuristics.gen.json
var defaultHeuristics []byte

// Heuristics returns the engine of the built-in heuristic rules. It is built once.
// An error is a reason not to start.
var Heuristics = sync.OnceValues(func() (*heuristics.Engine, error) {
	rules, err := builtInHeuristics()
	if err != nil {
		return nil, err
	}
	return heuristics.New(rules, match.Limits{})
})

// DefaultHeuristics returns the built-in heuristic rules. They are read once.
func DefaultHeuristics() ([]heuristics.Rule, error) {
	rules, err := builtInHeuristics()
	return slices.Clone(rules), err
}

var builtInHeuristics = sync.OnceValues(func() (rules []heuristics.Rule, err error) {
	return rules, json.Unmarshal(defaultHeuristics, &rules)
})

// heuristicRules returns the built-in heuristics in the form in which layers change rules.
var heuristicRules = sync.OnceValues(func() (out []reflexcore.Rule, err error) {
	list, err := builtInHeuristics()
	for i := range list {
		h := &list[i]
		out = append(out, reflexcore.Rule{
			ID: h.ID, Category: h.Category, Decision: h.Decision(), Severity: h.Severity(), Confidence: h.Level.Confidence(),
			MinTier: h.MinTier(), Reason: h.Reason, Cure: h.Cure, Where: h.Where, Layer: reflexcore.BuiltInLayer,
			Match: calls(h.Match), Pass: calls(h.Pass), Heuristic: true, Twins: h.Twins, Settled: h.Settled,
		})
	}
	return out, err
})

func calls(list []heuristics.Example) []reflexcore.Example {
	out := make([]reflexcore.Example, len(list))
	for i, x := range list {
		out[i] = reflexcore.Example(x)
	}
	return out
}

// MisjudgedByHeuristic says what is wrong with what the heuristics make of an example of one. It is
// empty if nothing is.
func MisjudgedByHeuristic(id string, x reflexcore.Example, match bool) string {
	e, err := Heuristics()
	if err != nil {
		return err.Error()
	}
	rules := e.Rules()
	call := rules[slices.IndexFunc(rules, func(r heuristics.Rule) bool { return r.ID == id })].Call(heuristics.Example(x))
	if match {
		if !slices.Contains(e.Finds(call), id) {
			return "does not find its example"
		}
		return ""
	}
	v, err := e.Judge(context.Background(), call)
	if err != nil || v.Decision != approver.Pass {
		return fmt.Sprintf("has an example that should pass, and %s decides %s", v.Rule, v.Decision)
	}
	return ""
}
