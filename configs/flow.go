package configs

import (
	"fmt"

	"approver.example/reflexcore/flow"
	"approver.example/shieldcore"
	"github.com/rogpeppe/go-internal/diff"
)

// Flow returns the policy of information flow.
func (c Config) Flow() (*flow.Policy, error) {
	p, err := flow.Compile(c.Reflex.Flow)
	if err != nil {
		return nil, fmt.Errorf("reflex: %w", err)
	}
	return p, nil
}

// CompareFlow says what lies between two policies of information flow.
func CompareFlow(old, next *flow.Policy) shieldcore.Change {
	return shieldcore.Change{Diff: string(diff.Diff("reflex.flow in force", old.Text(), "reflex.flow proposed", next.Text())), Why: old.Loosens(next.Config)}
}
