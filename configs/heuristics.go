package configs

import (
	_ "embed"
	"encoding/json"
	"sync"

	"approver.example/internal/match"
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
	rules, err := DefaultHeuristics()
	if err != nil {
		return nil, err
	}
	return heuristics.New(rules, match.Limits{})
})

// DefaultHeuristics returns the built-in heuristic rules.
func DefaultHeuristics() (rules []heuristics.Rule, err error) {
	err = json.Unmarshal(defaultHeuristics, &rules)
	return rules, err
}
