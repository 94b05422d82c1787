package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

const barWidth = 20

// bar is a length to compare by.
func bar(n, most int) string {
	if n == 0 || most == 0 {
		return strings.Repeat(" ", barWidth)
	}
	full := max(1, (n*barWidth+most/2)/most)
	return strings.Repeat("█", full) + strings.Repeat(" ", barWidth-full)
}

// name is the rule as the policy names it; of another stage it says which.
func (r *ruleReport) name() string {
	if r.By == "policy" && r.Rule != "" {
		return approver.OneLine(r.Rule)
	}
	return approver.OneLine(strings.Trim(r.By+"/"+r.Rule, "/"))
}

// print writes the report for people. mode is what holds besides the rules.
func (r *report) print(ctx context.Context, to io.Writer, mode string) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "%s to %s\n", minute(r.From), minute(r.To))
	if mode != "" {
		fmt.Fprintln(w, mode)
	}
	fmt.Fprintf(w, "\n%s in %s, in %s with calls\n", counted(uint64(r.Calls), "call"), counted(uint64(len(r.Sessions)), "session"), counted(uint64(r.Hours), "hour"))
	fmt.Fprintf(w, "  people asked  %5d   %.1f an hour\n  denied        %5d\n", r.Asks, r.PerHour, r.Denies)
	if r.Changes > 0 {
		fmt.Fprintf(w, "  changed       %5d\n", r.Changes)
	}
	if r.Allowed > 0 {
		fmt.Fprintf(w, "  allowed       %5d   the agent need not ask its own user\n", r.Allowed)
	}
	switch {
	case r.Observed > 0 && r.Observed == r.found():
		fmt.Fprintln(w, "All of this is what would have been: it was only observed, and every call went on.")
	case r.Observed > 0:
		fmt.Fprintf(w, "Of this %d were only observed: those calls went on.\n", r.Observed)
	}
	r.printRules(w)
	printCounts(w, "In shadow, recorded and not enforced", r.Shadow)
	printCounts(w, "Let go by an exception", r.Excepted)
	r.printSessions(w)
	r.printNext(ctx, w, mode)
	return w.Flush()
}

// printCounts prints what was counted, the most first.
func printCounts(w io.Writer, title string, by map[string]int) {
	if len(by) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], strings.Compare(a, b)) })
	for _, name := range names {
		fmt.Fprintf(w, "  %4d x  %s\n", by[name], approver.OneLine(name))
	}
}

func (r *report) printRules(w io.Writer) {
	if len(r.Rules) == 0 {
		fmt.Fprintln(w, "\nNo rule asked or denied anything.")
		return
	}
	fmt.Fprintln(w, "\nBy rule")
	wide := 0
	for _, rule := range r.Rules {
		wide = max(wide, utf8.RuneCountInString(rule.name()))
	}
	for _, rule := range r.Rules {
		fmt.Fprintf(w, "  %-*s  %s %4d  %s\n", wide, rule.name(), bar(rule.found(), r.Rules[0].found()), rule.found(), rule.effect())
		fmt.Fprintf(w, "    %s to %s\n", rule.First.UTC().Format("01-02 15:04"), rule.Last.UTC().Format("01-02 15:04"))
		for _, c := range rule.Commands {
			fmt.Fprintf(w, "    %4d x  %s\n", c.Times, approver.OneLine(c.Command))
		}
		if rule.Others > 0 {
			fmt.Fprintf(w, "    %4d x  others\n", rule.Others)
		}
	}
}

// effect says what a rule does: ask HIGH, deny, or several.
func (r *ruleReport) effect() string {
	var words []string
	if r.Asks > 0 {
		words = append(words, "ask "+r.Severity)
	}
	if r.Denies > 0 {
		words = append(words, "deny")
	}
	if r.Changes > 0 {
		words = append(words, "change")
	}
	return strings.Join(words, ", ")
}

func (r *report) printSessions(w io.Writer) {
	if len(r.Sessions) == 0 {
		return
	}
	fmt.Fprintln(w, "\nBy session")
	most := slices.MaxFunc(r.Sessions, func(a, b *sessionReport) int { return a.Asks - b.Asks }).Asks
	for _, s := range r.Sessions[:min(shownSessions, len(r.Sessions))] {
		id := approver.OneLine(cmp.Or(s.Session, "none"))
		if len(id) == 36 {
			id = id[:8] // a UUID
		}
		fmt.Fprintf(w, "  %-8s  %s %4d asked  %3d denied  of %5d  %5.1f an hour  %s %s\n", id, bar(s.Asks, most), s.Asks, s.Denies, s.Calls, s.PerHour,
			approver.OneLine(s.Agent), approver.OneLine(s.Dir))
	}
	if more := len(r.Sessions) - shownSessions; more > 0 {
		fmt.Fprintf(w, "  and %s with less: approver report --json\n", counted(uint64(more), "session"))
	}
	if r.Unnamed > 0 {
		fmt.Fprintf(w, "  %d findings or calls are counted and not named: there were too many\n", r.Unnamed)
	}
}

// loudest is the first command of a rule that people can change, and that can be
// typed again.
func (r *report) loudest() (*ruleReport, *commandReport) {
	for _, rule := range r.Rules {
		for _, c := range rule.Commands {
			if (rule.By == "policy" || rule.By == reflexcore.By) && rule.Asks > 0 && c.Explain != "" {
				return rule, c
			}
		}
	}
	return nil, nil
}

func (r *report) printNext(ctx context.Context, w io.Writer, mode string) {
	fmt.Fprintln(w, "\nNext")
	if rule, c := r.loudest(); rule != nil {
		fmt.Fprintf(w, "  %s interrupts most. See why:\n    %s\n", rule.name(), c.Explain)
		if text := r.relax(ctx, rule, c); text != "" {
			where := "put a rule above that one"
			if rule.By == reflexcore.By {
				where = "put an exception into rules.yaml in the data folder"
			}
			fmt.Fprintf(w, "  If this call needs nobody, %s; people are asked to approve the change:\n%s", where, text)
		}
	}
	switch {
	case strings.HasPrefix(mode, "OBSERVING"):
		fmt.Fprintln(w, "  When this is what you want, enforce it:\n    approver enforce")
	case mode == "" && r.Observed > 0:
		fmt.Fprintln(w, "  When this is what you want, and it is still observed, enforce it:\n    approver enforce")
	}
}

// relax is a rule for the policy, or an exception from one of the reflex engine,
// that lets the very same command run. It is tried here: of what cannot be allowed,
// nothing is suggested, nor of what is CATASTROPHIC.
func (r *report) relax(ctx context.Context, rule *ruleReport, c *commandReport) string {
	if c.Tool != "Bash" || rule.Severity != approver.High.String() || rule.Denies > 0 {
		return ""
	}
	if rule.By == reflexcore.By {
		return except(ctx, rule, c, r.To)
	}
	pattern := strings.ReplaceAll("^"+regexp.QuoteMeta(c.Command)+"$", "'", "''")
	text := fmt.Sprintf("    - name: ours.%s\n      tools: [Bash]\n      command: '%s'\n      decision: allow\n      reason: looked at in the first week\n",
		strings.ReplaceAll(rule.Rule, ".", "_"), pattern)
	policy, err := shieldcore.Load("suggested", []byte("version: 1\ntools: {known: [Bash]}\nrules:\n"+text))
	if err != nil {
		return ""
	}
	v, err := policy.Judge(ctx, approver.ToolCall{Agent: "claude", Tool: "Bash", Command: c.Command, Dir: "/"})
	if err != nil || v.Decision != approver.Allow {
		return ""
	}
	return text
}

// exceptFor is how long an exception that is suggested holds.
const exceptFor = 90 * 24 * time.Hour

// except is relax for the rules of the reflex engine.
func except(ctx context.Context, rule *ruleReport, c *commandReport, now time.Time) string {
	text := fmt.Sprintf("allow:\n  - rule: %s\n    scope: {command: '%s'}\n    expires: %s\n    reason: looked at in the first week\n",
		rule.Rule, strings.ReplaceAll(c.Command, "'", "''"), now.Add(exceptFor).UTC().Format(time.DateOnly))
	lib, err := configs.NewLibrary([]configs.RuleSource{{Layer: reflexcore.UserLayer, File: "suggested", Text: []byte("version: 1\n" + text)}}, now)
	if err != nil {
		return ""
	}
	engine, err := reflexcore.NewWith(lib.Rules(), reflexcore.Limits{})
	if err != nil {
		return ""
	}
	v, err := engine.Judge(ctx, approver.ToolCall{Agent: "claude", Tool: "Bash", Command: c.Command, Dir: "/", At: now})
	if err != nil || v.Decision <= approver.Ask {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}
