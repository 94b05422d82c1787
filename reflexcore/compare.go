package reflexcore

import (
	"fmt"
	"reflect"
	"slices"

	"approver.example"
)

// Loosens lists what may get a milder verdict under the next rules than under the old ones, one
// sentence each. An empty list means that nothing can. Rules are compared by id.
func Loosens(old, next []Rule) (why []string) {
	becomes := map[string]*Rule{}
	for i := range next {
		becomes[next[i].ID] = &next[i]
	}
	for i := range old {
		was := &old[i]
		now := becomes[was.ID]
		switch {
		case now != nil:
			why = append(why, loosened(was, now)...)
		case !was.Shadow: // one that is new and asks people only tightens: the strictest finding counts
			why = append(why, fmt.Sprintf("the rule %s is gone, which decided %s", was.ID, was.Decision))
		}
	}
	for i := range next { // otherwise people might be asked about what cannot be undone
		if now := &next[i]; now.MinTier != 0 && !now.Shadow &&
			!slices.ContainsFunc(old, func(r Rule) bool { return r.ID == now.ID }) {
			why = append(why, fmt.Sprintf("the rule %s is new, and leaves calls to the evaluation about which people may "+
				"have been asked", now.ID))
		}
	}
	return why
}

// loosened compares two rules with the same id.
func loosened(was, now *Rule) (why []string) {
	loosens := func(is bool, format string, args ...any) {
		if is {
			why = append(why, "the rule "+was.ID+" "+fmt.Sprintf(format, args...))
		}
	}
	final := func(r *Rule) bool { return slices.Contains(finalCategories, r.Category) }
	loosens(final(was) && !final(now), "is of another category, so that there may be exceptions from it")
	if was.Shadow {
		return why // it was not enforced
	}
	loosens(now.Shadow, "is recorded and no longer enforced")
	loosens(now.Decision > was.Decision, "decides %s, where it decides %s now", now.Decision, was.Decision)
	loosens(now.Severity > was.Severity, "is less severe")
	loosens(now.Confidence < was.Confidence, "is less sure")
	loosens(was.Decision == approver.Deny && now.Decision == approver.Deny && now.Appealable && !was.Appealable,
		"can be appealed")
	loosens(now.MinTier != 0 && was.MinTier == 0 && now.Decision == approver.Ask,
		"leaves calls to the evaluation instead of to people")
	loosens(was.Expires.IsZero() && !now.Expires.IsZero() || now.Expires.Before(was.Expires) && !now.Expires.IsZero(),
		"ends sooner")
	loosens(!finds(now, was), "matches other calls")
	for _, a := range now.Allow {
		had := slices.ContainsFunc(was.Allow,
			func(b Allowance) bool { return b.Scope == a.Scope && !a.Expires.After(b.Expires) })
		loosens(!had, "has one more exception, until %s: %s", a.Expires.UTC().Format("2006-01-02 15:04"), a.Reason)
	}
	return why
}

// finds reports whether the rule now surely finds everything that was finds: it has the same pattern
// and each of its conditions.
func finds(now, was *Rule) bool {
	if was.Pattern != "" && was.Pattern != now.Pattern {
		return false
	}
	return !slices.ContainsFunc(was.When, func(c Condition) bool {
		return !slices.ContainsFunc(now.When, func(d Condition) bool { return reflect.DeepEqual(c, d) })
	})
}
