package reflexcore

import (
	"cmp"
	"slices"

	"approver.example"
)

// A finding is a rule that matched.
type finding struct {
	rule        *Rule
	specificity int        // how specific the condition is
	effect      int        // index, or -1 for a pattern
	layer       int        // of the pattern's text, or -1: the text itself
	allowed     *Allowance // the exception that drops it
	scratch     bool       // a built-in rule found what is there to be made again
	warns       bool       // the policy wants no question
}

// decision is that of the rule, or what the policy makes of it.
func (f *finding) decision() approver.Decision {
	if f.warns {
		return approver.Warn
	}
	return f.rule.Decision
}

// severity is that of the rule. What is there to be made again is no catastrophe, unless a rule of
// the user or of the project says so.
func (f *finding) severity() approver.Severity {
	if f.scratch && f.rule.Decision == approver.Ask {
		return approver.High
	}
	return f.rule.Severity
}

// enforced reports whether the finding counts for the verdict.
func (f *finding) enforced() bool { return !f.rule.Shadow && f.allowed == nil }

// asksByDefault reports whether a built-in rule asks. What is made again at the next start is no
// question, unless a rule of the user or of the project says so.
func asksByDefault(f finding) bool {
	return f.rule.Layer == BuiltInLayer && f.rule.Decision == approver.Ask
}

// dropFrom drops findings from an index on.
func (j *judgment) dropFrom(from int, drops func(finding) bool) {
	j.findings = append(j.findings[:from], slices.DeleteFunc(j.findings[from:], drops)...)
}

// onlyWarn makes warnings of the questions that the policy wants as such, and of those that they outrank
// about the same effect.
func (e *Engine) onlyWarn(j *judgment) {
	if e.Warns == nil {
		return
	}
	named := map[int]finding{} // the strictest of each effect
	for i := range j.findings {
		f := &j.findings[i]
		if n, found := named[f.effect]; f.mayWarn() && (!found || stricter(f, &n)) && e.Warns(f.rule.ID) {
			named[f.effect] = *f
		}
	}
	for i := range j.findings {
		f := &j.findings[i]
		if n, found := named[f.effect]; found && f.mayWarn() {
			f.warns = e.Warns(f.rule.ID) || f.effect >= 0 && stricter(&n, f)
		}
	}
}

// mayWarn reports whether a policy may make a warning of a finding.
func (f *finding) mayWarn() bool {
	return asksByDefault(*f) && f.severity() == approver.High && !f.rule.Final()
}

// stricter reports whether a finding outranks another: by decision, then by severity, confidence and
// specificity. The id comes last, so that the order of rules does not matter. A denial without
// appeal is stricter than one with.
func stricter(a, b *finding) bool {
	x, y := a.rule, b.rule
	final := func(r *Rule) int {
		if r.Decision == approver.Deny && r.Appealable {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.decision(), b.decision()), cmp.Compare(final(x), final(y)),
		cmp.Compare(a.severity(), b.severity()),
		cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(b.specificity, a.specificity), cmp.Compare(x.ID, y.ID)) < 0
}
