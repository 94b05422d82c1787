package configs

import (
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore"
)

// RulesPage returns a Markdown page with a table of rules for each category.
func RulesPage(rules []reflexcore.Rule) string {
	var b strings.Builder
	n := RuleCounts(rules)
	fmt.Fprintf(&b, `<!-- Made from configs/rules by go generate ./configs. -->

# The rules of the reflex engine

%d rules in %d categories: %d deny, %d ask, %d warn. They have %d examples, which a test runs.

A rule says what a call would do, and `+"`approver rules show ID`"+` all of it; configs/rules/README.md `+
		`tells what its words mean. [rule-layers.md](rule-layers.md)
tells how to add rules, disable them, put them in shadow, and make exceptions.

| category | rules |
|---|---|
`, n["rules"], n["categories"], n["deny"], n["ask"], n["warn"], n["examples"])
	for _, category := range reflexcore.Categories() {
		if of := n["rules:"+category]; of > 0 {
			fmt.Fprintf(&b, "| [%s](#%s) | %d |\n", category, category, of)
		}
	}
	for _, category := range reflexcore.Categories() {
		if n["rules:"+category] == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| rule | decision | severity | sure | appeal | what it saw | what to do instead |\n"+
			"|---|---|---|---|---|---|---|\n", category)
		for _, r := range inCategory(rules, category) {
			appeal := "—"
			if r.Decision == approver.Deny {
				appeal = map[bool]string{true: "yes", false: "no"}[r.Appealable]
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %.2f | %s | %s | %s |\n", r.ID, r.Decision, strings.ToLower(r.Severity.String()),
				r.Confidence, appeal, cell(r.Reason), cell(r.Cure))
		}
	}
	return b.String()
}

// inCategory returns the rules of a category, sorted by id.
func inCategory(rules []reflexcore.Rule, category string) []reflexcore.Rule {
	out := slices.DeleteFunc(slices.Clone(rules), func(r reflexcore.Rule) bool { return r.Category != category })
	slices.SortFunc(out, func(a, b reflexcore.Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// cell escapes a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_").Replace(display.OneLine(text))
}

// RuleCounts returns the counts that pages may use: of rules, categories and examples, of
// rules by decision, and of rules by category, under the key "rules:" and its name.
func RuleCounts(rules []reflexcore.Rule) map[string]int {
	n := map[string]int{"rules": len(rules)}
	for _, r := range rules {
		if n["rules:"+r.Category] == 0 {
			n["categories"]++
		}
		n["rules:"+r.Category]++
		n[r.Decision.String()]++
		n["examples"] += len(r.Match) + len(r.Pass)
	}
	return n
}
