package shieldcore

import (
	"context"

	"approver.example"
)

// An Explanation is a verdict with what it was made of.
type Explanation struct {
	Verdict      approver.Verdict    `json:"verdict"`
	Actions      []string            `json:"actions"`
	Environments []string            `json:"environments,omitempty"`
	Branches     []string            `json:"branches,omitempty"`
	Paths        map[string][]string `json:"paths,omitempty"` // what each path of the call may mean
	// Others are rules behind the deciding one that match too, and would decide
	// without it.
	Others []approver.Verdict `json:"others,omitempty"`
}

// Explain judges a call and says how it came to that.
func (p *Policy) Explain(ctx context.Context, call approver.ToolCall) (Explanation, error) {
	v, err := p.Judge(ctx, call)
	if err != nil || p == nil {
		return Explanation{Verdict: v}, err
	}
	s := &subject{call: call, home: p.Home}
	e := Explanation{Verdict: v, Actions: s.actions(), Environments: s.environments(), Paths: map[string][]string{}}
	e.Branches, _ = s.gitBranches()
	for i, l := range s.places() {
		e.Paths[call.Paths[i]] = l.abs
	}
	for i := range p.rules {
		matched, err := p.rules[i].matches(s)
		if err != nil {
			return e, err
		}
		if matched && p.rules[i].verdict.Rule != v.Rule {
			e.Others = append(e.Others, p.rules[i].verdict)
		}
	}
	return e, nil
}
