package reporting

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
	"approver.example/agents/facts"
	"approver.example/audit"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/daemon/judges"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

const barWidth = 20

// bar returns a bar for n, where most is the longest.
func bar(n, most int) string {
	if n == 0 || most == 0 {
		return strings.Repeat(" ", barWidth)
	}
	full := max(1, (n*barWidth+most/2)/most)
	return strings.Repeat("█", full) + strings.Repeat(" ", barWidth-full)
}

// print writes the report for people. mode is what applies besides the rules.
func (r *report) print(ctx context.Context, to io.Writer, mode string) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "%s to %s\n", words.Minute(r.From), words.Minute(r.To))
	if mode != "" {
		fmt.Fprintln(w, mode)
	}
	if r.about != "" && r.Calls == 0 {
		r.printNone(w)
		return w.Flush()
	}
	fmt.Fprintf(w, "\n%s in %s\n", words.Count(uint64(r.Calls), "call"), words.Count(uint64(len(r.Sessions)), "session"))
	fmt.Fprintf(w, "  people asked  %5d   %.2f an hour: there were calls in %s\n  denied        %5d\n", r.Asks, r.PerHour,
		words.Count(uint64(r.Hours), "hour"), r.Denies)
	if r.Changes > 0 {
		fmt.Fprintf(w, "  changed       %5d\n", r.Changes)
	}
	if r.Allowed > 0 {
		fmt.Fprintf(w, "  allowed       %5d   the agent need not ask its own user\n", r.Allowed)
	}
	fmt.Fprintf(w, "  went on       %5d   no rule asked, denied or changed them\n", r.WentOn)
	switch {
	case r.Observed > 0 && r.Observed == r.found():
		fmt.Fprintln(w, "All of this is what would have been: it was only observed, and every call went on.")
	case r.Observed > 0:
		fmt.Fprintf(w, "Of this %d were only observed: those calls went on.\n", r.Observed)
	}
	r.printRepeats(w)
	r.printRules(w)
	printCounts(w, "In shadow: these rules are tried, so what they find is recorded and not enforced", r.Shadow)
	printCounts(w, "Let go by an exception", r.Excepted)
	r.printSessions(w)
	r.printNext(ctx, w, verbatim(w, to), mode)
	return w.Flush()
}

// printRepeats says what the audit has twice.
func (r *report) printRepeats(w io.Writer) {
	switch {
	case r.Repeats == 1:
		fmt.Fprintln(w, "The audit has 1 record that repeats an earlier one: both count once.")
	case r.Repeats > 1:
		fmt.Fprintf(w, "The audit has %d records that repeat an earlier one: each event counts once.\n", r.Repeats)
	}
	for _, d := range r.Differing.Newest {
		fmt.Fprintf(w, "DIFFERS: %s\n", display.OneLine(d.String()))
	}
}

// printNone says that a narrowed report has no calls, and lists names of rules that would have
// some.
func (r *report) printNone(w io.Writer) {
	fmt.Fprintf(w, "\nNo call here is of %s.\n", r.about)
	if names := slices.Sorted(maps.Keys(r.names)); len(names) > 0 {
		more := ""
		if n := len(names) - maxNamed; n > 0 {
			names, more = names[:maxNamed], fmt.Sprintf(", and %s", words.Count(uint64(n), "other"))
		}
		fmt.Fprintf(w, "Rules that asked or denied something in this time: %s%s\n", strings.Join(names, ", "), more)
	}
}

// maxNamed limits how many names printNone lists.
const maxNamed = 20

// printCounts prints the counts, the highest first.
func printCounts(w io.Writer, title string, by map[string]int) {
	if len(by) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], strings.Compare(a, b)) })
	for _, name := range names {
		fmt.Fprintf(w, "  %4d x  %s\n", by[name], display.OneLine(name))
	}
}

func (r *report) printRules(w io.Writer) {
	if len(r.Rules) == 0 {
		fmt.Fprintln(w, "\nNo rule asked or denied anything.")
		return
	}
	fmt.Fprintf(w, "\nBy rule: %s, each under the one rule that decided\n", words.Count(uint64(r.found()), "call"))
	wide := 0
	for _, rule := range r.Rules {
		wide = max(wide, utf8.RuneCountInString(rule.name()))
	}
	for _, rule := range r.Rules {
		fmt.Fprintf(w, "  %-*s  %s %4d  %s\n", wide, rule.name(), bar(rule.found(), r.Rules[0].found()), rule.found(),
			rule.effect())
		fmt.Fprintf(w, "    %s to %s\n", rule.First.UTC().Format("01-02 15:04"), rule.Last.UTC().Format("01-02 15:04"))
		for _, c := range rule.Commands {
			now := ""
			if c.Now != "" {
				now = "   (judged again now, alone: " + c.Now + ")"
			}
			by := ""
			if slices.ContainsFunc(rule.Commands,
				func(o *commandReport) bool { return o.Tool != c.Tool && o.Command == c.Command }) {
				by = "   (" + display.OneLine(c.Tool) + ")"
			}
			fmt.Fprintf(w, "    %4d x  %s%s%s\n", c.Times, audit.Summary(c.Command), by, now)
		}
		if rule.Others > 0 {
			fmt.Fprintf(w, "    %4d x  others\n", rule.Others)
		}
	}
}

// effect says what a rule does: ask HIGH, deny, or several things.
func (r *ruleReport) effect() string {
	var words []string
	if r.Asks > 0 {
		word := "ask " + r.Severity
		if r.milder {
			word = "ask up to " + r.Severity
		}
		words = append(words, word)
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
	fmt.Fprintf(w, "\nBy session: %d asked, %d denied of %s\n", r.Asks, r.Denies, words.Count(uint64(r.Calls), "call"))
	most := slices.MaxFunc(r.Sessions, func(a, b *sessionReport) int { return a.Asks - b.Asks }).Asks
	for _, s := range r.Sessions[:min(shownSessions, len(r.Sessions))] {
		id := display.OneLine(cmp.Or(s.Session, "none"))
		if len(id) == 36 {
			id = id[:8] // a UUID
		}
		fmt.Fprintf(w, "  %-8s  %s %4d asked  %3d denied  of %5d  in %3d h  %s %s\n", id, bar(s.Asks, most), s.Asks, s.Denies,
			s.Calls, s.Hours,
			display.OneLine(s.Agent), display.OneLine(s.Dir))
	}
	if more := len(r.Sessions) - shownSessions; more > 0 {
		fmt.Fprintf(w, "  and %s with less: approver report --json\n", words.Count(uint64(more), "session"))
	}
	if r.Unnamed > 0 {
		fmt.Fprintf(w, "  counted and not named, because there were too many: %d\n", r.Unnamed)
	}
}

// loudest returns the first command, of a rule that people can change, that can be explained by
// a suggested command.
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

// verbatim returns a function that writes text to be copied: it is not folded, even if to folds
// lines.
func verbatim(w *bufio.Writer, to io.Writer) func(text string) {
	folder, is := to.(*terminal.Folder)
	if !is {
		return func(text string) { _, _ = w.WriteString(text) } // an error shows at the last flush
	}
	return func(text string) {
		if w.Flush() == nil {
			_ = folder.Verbatim(text) // the next write returns the error, too
		}
	}
}

func (r *report) printNext(ctx context.Context, w io.Writer, whole func(text string), mode string) {
	rule, c := r.loudest()
	observed := strings.HasPrefix(mode, "OBSERVING")
	maybeObserved := mode == "" && r.Observed > 0
	if rule == nil && r.NotInForce == "" && r.Unjudged == "" && r.about == "" && !observed && !maybeObserved {
		return
	}
	fmt.Fprintln(w, "\nNext")
	if r.NotInForce != "" {
		fmt.Fprintf(w, "  The commands below are %s\n", display.OneLine(r.NotInForce))
	}
	if r.Unjudged != "" {
		fmt.Fprintf(w, "  What becomes of these calls now cannot be said: %s\n", r.Unjudged)
	}
	if rule != nil {
		fmt.Fprintf(w, "  %s interrupts most. See why:\n", rule.name())
		whole("    " + c.Explain + "\n")
		if text := r.relax(ctx, rule, c); text != "" {
			where := "put a rule above that one"
			if rule.By == reflexcore.By {
				where = "put an exception into rules.yaml in the data folder, or beside those that it has"
			}
			fmt.Fprintf(w, "  If this call needs nobody, %s; people are asked to approve the change:\n", where)
			whole(text)
		}
	}
	switch {
	case r.about != "":
		fmt.Fprintf(w, "  This is about %s alone. All of it: approver report\n", r.about)
	case observed:
		fmt.Fprintln(w, "  When this is what you want, enforce it:\n    approver enforce")
	case maybeObserved:
		fmt.Fprintln(w, "  When this is what you want, and it is still observed, enforce it:\n    approver enforce")
	}
}

// relax suggests a rule for the policy, or an exception from a rule of the reflex engine, that
// lets exactly this command run. The suggestion is tried first. There is none for what cannot
// be allowed or is CATASTROPHIC.
func (r *report) relax(ctx context.Context, rule *ruleReport, c *commandReport) string {
	if c.Tool != "Bash" || rule.Severity != approver.High.String() || rule.Denies > 0 {
		return ""
	}
	if rule.By == reflexcore.By {
		return r.except(ctx, rule, c)
	}
	pattern := strings.ReplaceAll("^"+regexp.QuoteMeta(c.Command)+"$", "'", "''")
	text := fmt.Sprintf("    - name: ours.%s\n      tools: [Bash]\n      command: '%s'\n      decision: allow\n      "+
		"reason: looked at in the first week\n",
		strings.ReplaceAll(rule.Rule, ".", "_"), pattern)
	policy, err := shieldcore.Load("suggested", []byte("version: 1\ntools: {known: [Bash]}\nrules:\n"+text))
	if err != nil {
		return ""
	}
	agent := facts.Example()
	v, err := policy.Judge(ctx, approver.ToolCall{Agent: agent, Tool: "Bash", Command: c.Command, Dir: "/"})
	if err != nil || v.Decision != approver.Allow || r.judge == nil || !r.goesOn(ctx, c, r.judge.Policy, policy) {
		return ""
	}
	return text
}

// exceptFor is how long a suggested exception is valid.
const exceptFor = 90 * 24 * time.Hour

// except is relax for rules of the reflex engine. The exception is a complete rules.yaml that
// can be pasted into a new file.
func (r *report) except(ctx context.Context, rule *ruleReport, c *commandReport) string {
	if r.judge == nil || r.judge.Reflex == nil {
		return ""
	}
	text := fmt.Sprintf("version: 1\nallow:\n  - rule: %s\n    scope: {command: '%s'}\n    expires: %s\n    reason: "+
		"looked at in the first week\n",
		rule.Rule, strings.ReplaceAll(c.Command, "'", "''"), r.To.Add(exceptFor).UTC().Format(time.DateOnly))
	sources, err := r.cfg.RuleSources()
	if err != nil {
		return ""
	}
	lib,
		err := configs.NewLibrary(append(sources,
		configs.RuleSource{Layer: reflexcore.UserLayer, File: "suggested", Text: []byte(text)}), r.To)
	if err != nil {
		return ""
	}
	engine, err := judges.NewReflex(r.cfg, lib)
	if err != nil {
		return ""
	}
	engine.Project, engine.Warns = r.judge.Reflex.Project, r.judge.Reflex.Warns
	if !r.goesOn(ctx, c, r.judge.Reflex, engine) {
		return "" // for instance, a heuristic asks that says something else
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}
