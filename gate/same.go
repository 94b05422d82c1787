package gate

import (
	"slices"

	"approver.example"
)

// united makes one finding of each two that say the same: one line of the chain, with the names
// of both. The line is that of the stricter.
func united(chain []approver.Finding, same []approver.Same) []approver.Finding {
	for _, s := range same {
		named := func(rule string) int {
			return slices.IndexFunc(chain, func(f approver.Finding) bool { return f.Rule == rule })
		}
		of, as := named(s.Rule), named(s.As)
		switch {
		case !s.Decides && as >= 0:
			chain[as].Same = append(slices.Clone(chain[as].Same), s.Rule)
		case s.Decides && of >= 0 && as >= 0:
			chain[of].Same = append(slices.Clone(chain[of].Same), s.As)
			if chain[as].Note == "" { // the stage's own line, which also says how long it took
				chain[as].Rule, chain[as].Note = "", "as "+s.Rule
			} else {
				chain = slices.Delete(chain, as, as+1)
			}
		}
	}
	return chain
}

// onceCounted returns the verdicts with which one finding that two stages have counts once, so
// that it is not surer than it is.
func onceCounted(found []approver.Verdict) []approver.Verdict {
	for i := range found {
		for _, s := range found[i].Same {
			if !s.Decides || s.Rule != found[i].Rule {
				continue
			}
			k := slices.IndexFunc(found[:i], func(v approver.Verdict) bool {
				return v.Rule == s.As && v.Decision == approver.Ask
			})
			if k >= 0 {
				found = slices.Clone(found)
				found[k].Confidence = 0
			}
		}
	}
	return found
}
