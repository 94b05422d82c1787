package shieldcore

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"approver.example"
)

// unreachable warns of rules that can never decide. It does so only if that is certain:
// each condition of an earlier rule is absent, the same, or a list that includes the
// later rule's.
func (c *compiler) unreachable(p *Policy) {
	for j := range p.rules {
		later := &p.rules[j]
		if why := whyImpossible(later); why != "" {
			c.Warn(later.source.at, fmt.Sprintf("rule %q can never match: %s", later.source.Name, why))
			continue
		}
		for i := range j {
			if earlier := &p.rules[i]; earlier.covers(later) {
				c.Warn(later.source.at,
					fmt.Sprintf("rule %q never decides: %q in line %d matches all that it matches, and comes first",
						later.source.Name, earlier.source.Name, earlier.verdict.Where.Line))
				break
			}
		}
	}
}

// whyImpossible says why no call can meet all conditions of a rule; empty if one may.
func whyImpossible(r *rule) string {
	beyondWords := func(group []string) bool {
		return !slices.ContainsFunc(group, func(s string) bool { return !strings.ContainsFunc(s, notPlain) })
	}
	if r.command != nil && r.allows() && slices.ContainsFunc(r.command.required, beyondWords) {
		return "it allows plain words only, and its command needs a character that means something to the shell"
	}
	if len(r.tools) == 0 || r.actions == nil {
		return ""
	}
	for _, t := range r.tools {
		action, known := toolActions[string(t)]
		if !known || slices.Contains(r.actions, action) {
			return ""
		}
		// A shell command or an address makes more of any tool.
		if action == "exec" || action == "http" || r.command != nil || slices.Contains(r.actions, "exec") ||
			slices.Contains(r.actions, "http") {
			return ""
		}
	}
	return "none of its tools is of its action_types"
}

// covers reports whether r matches every call that later matches. False means
// that it is not certain.
func (r *rule) covers(later *rule) bool {
	if r.allows() && !later.allows() && !r.onlyTools() {
		return false // a rule that allows matches fewer calls with the same conditions
	}
	return coversTools(r.tools, later.tools) &&
		coversList(r.actions, later.actions) &&
		coversPattern(r.command, later.command) &&
		coversPaths(r, later) &&
		coversPattern(r.args, later.args) &&
		coversContent(r.content, later.content) &&
		(r.when == nil || later.when != nil && reflect.DeepEqual(r.source.When, later.source.When))
}

func (r *rule) onlyTools() bool {
	return r.actions == nil && r.command == nil && r.paths == nil && r.args == nil && r.content == nil && r.when == nil
}

func coversTools(r, later []toolGlob) bool {
	if len(r) == 0 {
		return true
	}
	if len(later) == 0 {
		return slices.Contains(r, "*")
	}
	return slices.Contains(r, "*") || every(later, func(t toolGlob) bool {
		return slices.Contains(r, t) || literal(string(t)) && anyTool(r, string(t))
	})
}

func literal(glob string) bool { return !strings.ContainsAny(glob, `*?[\`) }

func coversList(r, later []string) bool {
	return r == nil || later != nil && every(later, func(x string) bool { return slices.Contains(r, x) })
}

func coversPattern(r, later *pattern) bool {
	return r == nil || later != nil && r.text == later.text
}

func coversContent(r, later []*pattern) bool {
	return r == nil || later != nil && every(later, func(p *pattern) bool {
		return slices.ContainsFunc(r, func(q *pattern) bool { return q.text == p.text })
	})
}

// coversPaths reports whether r's paths include all of later's: the same patterns, or
// plain paths that one of r's patterns matches.
func coversPaths(r, later *rule) bool {
	switch {
	case len(r.paths) == 0:
		// A rule that allows without paths does not look at what they are.
		return true
	case len(later.paths) == 0 || len(r.notPaths) > 0 && !reflect.DeepEqual(r.notPaths, later.notPaths):
		return false
	}
	return every(later.paths, func(p pathGlob) bool {
		return slices.ContainsFunc(r.paths, func(q pathGlob) bool { return coversGlob(q, p, r.allows()) })
	})
}

func coversGlob(q, p pathGlob, exact bool) bool {
	if slices.Equal(q.exact, p.exact) || !exact && slices.Equal(q.folded, p.folded) {
		return true
	}
	name := path.Join(p.exact...)
	if exact || !literal(name) || len(p.folded) == 0 || p.folded[0] != q.folded[0] {
		return false
	}
	return q.folded.Match(strings.Join(p.folded, "/"))
}

// An Explanation is a verdict with the facts that it is based on.
type Explanation struct {
	Verdict      approver.Verdict    `json:"verdict"`
	Actions      []string            `json:"actions"`
	Environments []string            `json:"environments,omitempty"`
	Branches     []string            `json:"branches,omitempty"`
	Paths        map[string][]string `json:"paths,omitempty"` // the files that each path may mean
	// Others are the verdicts of other rules that match too.
	Others []approver.Verdict `json:"others,omitempty"`
}

// Explain judges a call and explains the verdict.
func (p *Policy) Explain(ctx context.Context, call approver.ToolCall) (Explanation, error) {
	v, err := p.Judge(ctx, call)
	if err != nil || p == nil {
		return Explanation{Verdict: v}, err
	}
	s := &subject{call: call, home: p.Home, sieve: p.index.sieve}
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
