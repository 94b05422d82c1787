package shieldcore

import (
	"fmt"
	"slices"

	"approver.example"
	"approver.example/internal/lazyregexp"
)

// Warned is a rule of the reflex engine whose HIGH questions the policy turns into warnings.
type Warned struct {
	Rule  string
	Where approver.Position
}

// heuristicName matches the names of heuristics, of which the caller of [Load] says what is meant.
var heuristicName = lazyregexp.New(`^[A-Z]{2,}-[0-9]+$`)

// warned reads the list of these rules. Which rules there are is for the caller of [Load] to check.
func (c *compiler) warned(names []string) (out []Warned) {
	for i, name := range names {
		at := fmt.Sprintf("warn[%d]", i)
		if !ruleName().MatchString(name) && !heuristicName().MatchString(name) {
			c.Report(at, fmt.Sprintf("%q cannot be the name of a rule: approver rules list shows them", name))
			continue
		}
		out = append(out, Warned{name, c.Position(at)})
	}
	return out
}

// Warned returns the rules of the reflex engine whose HIGH questions are warnings under this policy.
func (p *Policy) Warned() []Warned {
	if p == nil {
		return nil
	}
	return slices.Clone(p.warned)
}

// Warns reports whether a HIGH question by this rule of the reflex engine is a warning. Nil warns of none:
// it asks.
func (p *Policy) Warns(rule string) bool {
	return p != nil && slices.ContainsFunc(p.warned, func(w Warned) bool { return w.Rule == rule })
}

// Warns is that of the policy in force.
func (l *Live) Warns(rule string) bool { return l.policy.Load().Warns(rule) }
