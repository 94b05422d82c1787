package shieldcore

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"approver.example"
)

// A Change is the difference between two policies.
type Change struct {
	// Diff is the exact unified diff of the two files, empty if they are equal.
	Diff string
	// Why lists the changes that loosen, or may loosen.
	Why []string
}

// Loosens reports whether a call may get a milder verdict than before. It is
// true if that cannot be excluded.
func (c Change) Loosens() bool { return len(c.Why) > 0 }

// String describes the change in a sentence.
func (c Change) String() string {
	switch {
	case c.Loosens():
		return "loosens: " + strings.Join(c.Why, "; ")
	case c.Diff == "":
		return "no change"
	}
	return "tightens, or changes no verdict"
}

// Compare returns the change from old to next. If one of them is missing, it loosens.
func Compare(old, next *Policy) Change {
	if old == nil || next == nil || old.version == "" || next.version == "" {
		return Change{Why: []string{"there is no policy to compare with"}}
	}
	c := Change{}
	if !bytes.Equal(old.source, next.source) {
		c.Diff = string(diff.Diff("policy in force", old.source, "policy proposed", next.source))
	}
	loosens := func(is bool, format string, args ...any) {
		if is {
			c.Why = append(c.Why, fmt.Sprintf(format, args...))
		}
	}
	for _, t := range next.known {
		loosens(!slices.Contains(old.known, t) && !slices.Contains(old.known, "*"), "the tool %s becomes known", t)
	}
	for name, lists := range map[string][2][]pathGlob{
		"restricted": {old.denylist.restricted, next.denylist.restricted},
		"protected":  {old.denylist.protected, next.denylist.protected},
	} {
		for _, g := range lists[0] {
			there := slices.ContainsFunc(lists[1], func(h pathGlob) bool { return slices.Equal(g.exact, h.exact) })
			loosens(!there, "%s is no longer %s", strings.Join(g.exact, "/"), name)
		}
	}
	loosens(next.fallback.Decision > old.fallback.Decision || floor(next.fallback) < floor(old.fallback),
		"the default becomes milder")
	for name, v := range map[string][2]*approver.Verdict{
		RuleFirstUse: {old.firstUse, next.firstUse}, RuleUnknownVerb: {old.unknownVerb, next.unknownVerb},
	} {
		loosens(milder(v[0], v[1]), "what comes of %s becomes milder", name)
	}
	for _, w := range next.warned {
		loosens(!old.Warns(w.Rule), "questions of the rule %s become warnings", w.Rule)
	}
	loosens(growsTTL(old.ttl, next.ttl), "people have longer to say yes")
	loosens(old.hasPaths && !next.hasPaths,
		"no rule looks at paths any more, so a relative path without a directory is not asked about")
	c.Why = append(c.Why, compareRules(old, next)...)
	return c
}

// milder reports whether less comes of a finding than before. To pass is as mild as to find nothing.
func milder(old, next *approver.Verdict) bool {
	switch {
	case old == nil || old.Decision == approver.Pass:
		return false
	case next == nil:
		return true
	}
	return next.Decision > old.Decision || next.Severity > old.Severity
}

// growsTTL reports whether a deadline may grow. Zero means that it is set elsewhere.
func growsTTL(old, next time.Duration) bool {
	return next != old && (old == 0 || next == 0 || next > old)
}

// compareRules compares the lists of rules. A rule is identified by its name. Rules in
// both lists must keep their order.
func compareRules(old, next *Policy) (why []string) {
	names := func(p *Policy) (out []string) {
		for _, r := range p.rules {
			out = append(out, r.verdict.Rule)
		}
		return out
	}
	was, becomes := names(old), names(next)
	for i, name := range was {
		switch r := &old.rules[i]; {
		case slices.Contains(becomes, name):
		case !r.allows():
			why = append(why, fmt.Sprintf("the rule %s is gone, which decided %s", name, r.verdict.Decision))
		case r.verdict.MinTier > 0:
			why = append(why, fmt.Sprintf("the rule %s is gone, which let through only after tier %d", name, r.verdict.MinTier))
		}
	}
	gone := func(other []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(other, name) }
	}
	if !slices.Equal(slices.DeleteFunc(slices.Clone(was), gone(becomes)),
		slices.DeleteFunc(slices.Clone(becomes), gone(was))) {
		why = append(why, "the rules stand in another order")
	}
	for i := range next.rules {
		r := &next.rules[i]
		at := slices.Index(was, r.verdict.Rule)
		switch {
		case at >= 0:
			why = append(why, compareRule(&old.rules[at], r)...)
		case r.verdict.Decision == approver.Deny:
		case r.allows():
			why = append(why, fmt.Sprintf("the rule %s is new and allows", r.verdict.Rule))
		case !asksOnlyLoosened(next, i):
			why = append(why,
				fmt.Sprintf("the rule %s is new, and what it asks about may have been stopped by a later one, or by the default",
					r.verdict.Rule))
		}
	}
	return why
}

// asksOnlyLoosened reports whether a new rule that asks is certain to tighten: each call
// that it matches was allowed, passed by default, or asked about as an unknown tool, which
// is HIGH and goes to everybody. A rule that leaves calls to the evaluation is never
// certain, because people may have been asked about them.
func asksOnlyLoosened(p *Policy, i int) bool {
	v := p.rules[i].verdict
	if p.fallback.Decision == approver.Deny || growsTTL(p.ttl, v.TTL) || floor(v) < approver.TierPeople {
		return false
	}
	return every(p.rules[i+1:], func(later rule) bool { return later.allows() })
}

// compareRule compares two rules of the same name. It is no loosening only if the
// conditions are the same and the verdict is at least as strict.
func compareRule(old, next *rule) (why []string) {
	name := next.verdict.Rule
	a, b := old.conditions(), next.conditions()
	if !reflect.DeepEqual(a, b) {
		return []string{fmt.Sprintf("the rule %s matches other calls", name)}
	}
	x, y := old.verdict, next.verdict
	loosens := func(is bool, text string) {
		if is {
			why = append(why, "the rule "+name+" "+text)
		}
	}
	loosens(y.Decision > x.Decision, "decides "+y.Decision.String()+", where it decides "+x.Decision.String()+" now")
	// A rule that asks matches more calls than one that allows, also ones that a later rule denied.
	loosens(y.Decision == approver.Ask && x.Decision == approver.Allow,
		"asks instead of allowing, and so matches more calls")
	loosens(floor(y) < floor(x) && y.Decision != approver.Deny, "needs a lower tier")
	if y.Decision == approver.Ask && x.Decision == approver.Ask {
		loosens(y.Severity > x.Severity, "is less severe")
		loosens(growsTTL(x.TTL, y.TTL), "gives people longer to say yes")
		loosens(!isSubset(y.Approvers, x.Approvers), "can be approved by more people")
		loosens(!isSubset(y.Channels, x.Channels), "can be approved on more channels")
	}
	return why
}

// floor is the lowest tier that may let a call run: people for a rule that asks, unless
// it leaves the call to the evaluation.
func floor(v approver.Verdict) uint8 {
	if v.Decision == approver.Ask && !v.Escalates() {
		return approver.TierPeople
	}
	return v.MinTier
}

// isSubset reports whether every name in a is in b. An empty list means everybody.
func isSubset(a, b []string) bool {
	if len(b) == 0 {
		return true
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// conditions returns all parts of a rule that decide what it matches.
func (r *rule) conditions() []any {
	var texts []string
	for _, p := range append([]*pattern{r.command, r.args}, r.content...) {
		if p == nil {
			texts = append(texts, "")
		} else {
			texts = append(texts, "="+p.text)
		}
	}
	s := r.source
	return []any{r.tools, r.actions, r.paths, r.notPaths, texts, len(r.content), s.When, r.when == nil}
}
