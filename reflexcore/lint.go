package reflexcore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/glob"
	"approver.example/internal/match"
)

// A Remark points out something about a valid rule that is probably a mistake.
type Remark struct {
	ID    string            `json:"rule"`
	Where approver.Position `json:"where,omitzero"`
	Text  string            `json:"text"`
}

// Lint looks for probable mistakes in rules that [Compile] accepts: no examples, no cure, duplicate
// rules, and rules that never decide because a stricter rule finds all of the same.
func Lint(list []Rule) (out []Remark) {
	looks := make([]string, len(list)) // what each looks for, in words
	for i := range list {
		when, _ := json.Marshal(list[i].When) // words always marshal
		looks[i] = list[i].Pattern + "\n" + string(when)
	}
	for i := range list {
		r := &list[i]
		say := func(is bool, format string, args ...any) {
			if is {
				out = append(out, Remark{r.ID, r.Where, fmt.Sprintf(format, args...)})
			}
		}
		if r.Heuristic {
			continue
		}
		say(r.Cure == "", "it has no cure: say what to do instead")
		if r.Pattern != "" {
			for _, w := range match.Lint(r.Pattern) {
				say(true, "its pattern: %s: %s", w.Rule, w.Text)
			}
		}
		say(len(r.Match) == 0, "it has no example that it finds: add examples.match")
		say(len(r.Pass) == 0, "it has no example that it leaves alone: add examples.pass")
		for j := range list {
			q := &list[j]
			same := looks[i] == looks[j]
			switch {
			case q.Heuristic: // looks at text
			case i == j || r.Shadow || q.Shadow:
			case same && i > j:
				say(true, "it looks for the same as %s at %s", q.ID, q.Where)
			case !same && decidesOver(q, r) && q.coversAll(r):
				say(true, "it never decides: %s at %s finds all that it finds, and is stricter or surer", q.ID, q.Where)
			}
		}
	}
	return out
}

// decidesOver reports whether q outranks r, whatever their conditions are.
func decidesOver(q, r *Rule) bool {
	a, b := finding{rule: q}, finding{rule: r, specificity: 1 << 20}
	return q.Expires.IsZero() && len(q.Allow) == 0 && stricter(&a, &b)
}

func (r *Rule) coversAll(other *Rule) bool {
	if other.Pattern != "" && other.Pattern != r.Pattern {
		return false
	}
	return !slices.ContainsFunc(other.When, func(d Condition) bool {
		return !slices.ContainsFunc(r.When, func(c Condition) bool { return c.covers(&d) })
	})
}

// covers reports whether c surely holds wherever d does.
func (c *Condition) covers(d *Condition) bool {
	return (!c.Certain || d.Certain) && len(d.Effects) > 0 && within(d.Effects, c.Effects) &&
		oneOf(c.Together, d.Together) && oneOf(c.Places, d.Places) && oneOf(c.From, d.From) &&
		oneGlob(c.Targets, d.Targets) && oneGlob(c.What, d.What) && oneGlob(c.By, d.By) &&
		within(c.Never, d.Never) && within(c.FromAll, d.FromAll) && within(c.How, d.How) && within(c.Without, d.Without) &&
		within(c.NotBy, d.NotBy) && within(c.Except, d.Except) && len(c.Reads) == 0 && len(c.ReadsAt) == 0 && c.MoreThan == 0
}

// within reports whether all of a is in b.
func within[T comparable](a, b []T) bool {
	return !slices.ContainsFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

// oneOf reports whether every value that matches list d matches list c. An empty list matches
// everything.
func oneOf[T comparable](c, d []T) bool { return len(c) == 0 || len(d) > 0 && within(d, c) }

// oneGlob is oneOf for patterns.
func oneGlob(c, d []string) bool {
	return len(c) == 0 || len(d) > 0 && !slices.ContainsFunc(d, func(g string) bool {
		return !slices.ContainsFunc(c, func(pattern string) bool {
			return glob.Text(strings.ToLower(pattern), strings.ToLower(g))
		})
	})
}
