package configs

import (
	"fmt"
	"strings"

	"approver.example/shieldcore/heuristics"
)

// HeuristicCounts are the numbers of rules: of all, of each group by its letters, of
// what several groups are counted under, of what comes of them, and examples.
func HeuristicCounts(rules []heuristics.Rule) map[string]int {
	n := map[string]int{"all": len(rules)}
	for i := range rules {
		r := &rules[i]
		n[r.Group()]++
		for _, g := range heuristics.Groups() {
			if g.Letters == r.Group() {
				n[g.Name]++
			}
		}
		switch {
		case r.AlwaysBlock:
			n["block"]++
		case r.Escalate:
			n["escalate"]++
		default:
			n["reasons"]++
		}
		n["examples"] += len(r.Match) + len(r.Pass)
	}
	return n
}

// HeuristicsPage is a page in Markdown with a table of rules for each group.
func HeuristicsPage(rules []heuristics.Rule) string {
	var b strings.Builder
	n := HeuristicCounts(rules)
	fmt.Fprintf(&b, `<!-- Made from configs/heuristics.yaml by go generate ./configs. -->

# The heuristic rules of Tier 1

%d rules: %d cross-platform, %d Unix, %d Windows shell, %d detection. %d block always, %d escalate to the `+
		`next tier, %d only add to the chain of reasons. They have %d examples, which a test runs.

They look at what a call tells somebody to do (its command, paths, sources, destinations, addresses, search `+
		`patterns and prompts), never at the content of what is written or sent,
and not at what a command only carries: comments, commit messages, what echo prints, documents for cat. A `+
		`rule never allows anything. If the rules cannot be built, approver does not start.

`+"`approver rules list`, `show` and `test`"+` know them beside the [rules of the reflex engine](rules.md), and `+
		`the layers of rules disable them, put them in shadow and make exceptions
from them in the same way: [rule-layers.md](rule-layers.md). The last column has the rules that say the same of `+
		`the same call. With them a heuristic is one finding:
one line in the chain, with the name of the stricter and the other's in brackets. An exception from either holds `+
		`for both where both find something.

| severity | sure | what comes of it |
|---|---|---|
| critical | 0.95 | denied if the rule blocks always, else escalated |
| high | 0.85 | escalated: the next tier decides, people where there is none |
| medium | 0.70 | a reason in the chain |
| low | 0.50 | a reason in the chain |

| group | counted as | rules |
|---|---|---|
`, n["all"], n["cross-platform"], n["unix"], n["windows"], n["detection"],
		n["block"], n["escalate"], n["reasons"], n["examples"])
	for _, g := range heuristics.Groups() {
		fmt.Fprintf(&b, "| %s: %s | %s | %d |\n", g.Letters, g.Title, g.Name, n[g.Letters])
	}
	for _, g := range heuristics.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | comes to | looks at | finds | what to do instead | twins |\n"+
			"|---|---|---|---|---|---|---|\n", g.Title)
		for i := range rules {
			if r := &rules[i]; r.Group() == g.Letters {
				fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s | %s | %s |\n", r.ID, cell(r.Name), r.Level, comesTo(r), r.Fields,
					cell(r.Description), cell(r.Cure), cell(strings.Join(r.Twins, ", ")))
			}
		}
	}
	return b.String()
}

func comesTo(r *heuristics.Rule) string {
	switch {
	case r.AlwaysBlock:
		return "block"
	case r.Escalate:
		return "escalate"
	}
	return "reason"
}
