package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
)

type rulesCmd struct {
	List rulesListCmd `cmd:"" help:"List the rules of the reflex engine and the heuristics, with those of the configured layers."`
	Show rulesShowCmd `cmd:"" help:"Show all of a rule or a heuristic, and which layer did what to it."`
	Test rulesTestCmd `cmd:"" help:"Run the examples of rules."`
	Lint rulesLintCmd `cmd:"" help:"Say what in rules is wrong, or rarely meant."`
}

type rulesFlags struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
}

// library returns the rules as the daemon would load them. Without a home directory there is no
// configuration, and the built-in rules apply.
func (f rulesFlags) library() (*configs.Library, error) {
	cfg, err := judging.Flags{Config: f.Config}.Load()
	if err != nil {
		return nil, err
	}
	return cfg.LoadLibrary(time.Now())
}

type rulesListCmd struct {
	rulesFlags
	Category string `help:"Only this category." placeholder:"NAME"`
	Layer    string `help:"Only rules of this layer: built-in, hub or user." enum:"built-in,hub,user," default:"" placeholder:"LAYER"`
	JSON     bool   `help:"Print one JSON object for each rule."`
	Markdown bool   `help:"Print a page with a table for each category, as docs/rules.md."`
}

// A ruleDoc describes a rule in JSON.
type ruleDoc struct {
	ID         string                 `json:"id"`
	Category   string                 `json:"category"`
	Decision   approver.Decision      `json:"decision"`
	Severity   approver.Severity      `json:"severity"`
	Confidence float64                `json:"confidence"`
	Appealable bool                   `json:"appealable"`
	Reason     string                 `json:"reason"`
	Cure       string                 `json:"cure,omitempty"`
	Layer      reflexcore.Layer       `json:"layer"`
	Where      approver.Position      `json:"where"`
	Shadow     bool                   `json:"shadow,omitempty"`
	Disabled   bool                   `json:"disabled,omitempty"`
	Expires    time.Time              `json:"expires,omitzero"`
	Allow      []reflexcore.Allowance `json:"allow,omitempty"`
	When       []reflexcore.Condition `json:"when,omitempty"`
	Pattern    string                 `json:"pattern,omitempty"`
	Match      []string               `json:"match,omitempty"`
	Pass       []string               `json:"pass,omitempty"`
	Steps      []configs.Step         `json:"layers,omitempty"`
	Heuristic  bool                   `json:"heuristic,omitempty"`
	Twins      []string               `json:"twins,omitempty"` // say the same: rules of a heuristic, heuristics of a rule
}

func docOf(lib *configs.Library, r *reflexcore.Rule, disabled bool) ruleDoc {
	return ruleDoc{
		ID: r.ID, Category: r.Category, Decision: r.Decision, Severity: r.Severity, Confidence: r.Confidence,
		Appealable: r.Appealable, Reason: r.Reason, Cure: r.Cure,
		Layer: r.Layer, Where: r.Where, Shadow: r.Shadow, Disabled: disabled, Expires: r.Expires, Allow: r.Allow,
		When: r.When, Pattern: r.Pattern,
		Match: examplesOf(r.Match), Pass: examplesOf(r.Pass), Steps: lib.Steps(r.ID),
		Heuristic: r.Heuristic, Twins: lib.Twins(r),
	}
}

func examplesOf(list []reflexcore.Example) (out []string) {
	for _, x := range list {
		out = append(out, strings.TrimSpace(x.Command+x.Tool+" "+x.Args))
	}
	return out
}

// docs returns all rules, with the disabled ones last.
func docs(lib *configs.Library) (out []ruleDoc) {
	list := lib.Rules().List()
	for i := range list {
		out = append(out, docOf(lib, &list[i], false))
	}
	for i := range lib.Disabled {
		out = append(out, docOf(lib, &lib.Disabled[i], true))
	}
	return out
}

// Run lists.
func (c rulesListCmd) Run() error {
	lib, err := c.library()
	if err != nil {
		return err
	}
	all := docs(lib)
	if names := categoriesOf(all); c.Category != "" && !slices.Contains(names, c.Category) {
		return fmt.Errorf("there is no category %q: one of %s", c.Category, strings.Join(names, ", "))
	}
	if c.Markdown {
		rules := slices.DeleteFunc(slices.Clone(lib.Rules().List()), func(r reflexcore.Rule) bool { return r.Heuristic })
		_, err := io.WriteString(os.Stdout, configs.RulesPage(rules))
		return err
	}
	all = slices.DeleteFunc(all, func(d ruleDoc) bool {
		return c.Category != "" && d.Category != c.Category || c.Layer != "" && string(d.Layer) != c.Layer
	})
	if c.JSON {
		for _, d := range all {
			if err := term.PrintJSON(d); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, d := range all {
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%.2f\t%s%s\n", d.Category, d.ID, d.Decision, strings.ToLower(d.Severity.String()),
			d.Confidence, d.Layer, d.state())
	}
	fmt.Fprintf(w, "%s\n", counted(all))
	return w.Flush()
}

// categoriesOf returns the categories of rules and heuristics, sorted.
func categoriesOf(all []ruleDoc) []string {
	names := reflexcore.Categories()
	for _, d := range all {
		names = append(names, d.Category)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// counted counts rules and, if there are any, heuristics.
func counted(all []ruleDoc) string {
	heuristics := 0
	for _, d := range all {
		if d.Heuristic {
			heuristics++
		}
	}
	return words.Rules(len(all)-heuristics, heuristics)
}

// state says how layers changed the rule.
func (d ruleDoc) state() (text string) {
	if d.Disabled {
		text += ", disabled"
	}
	if d.Shadow {
		text += ", in shadow"
	}
	if len(d.Allow) > 0 {
		text += ", " + words.Count(uint64(len(d.Allow)), "exception")
	}
	if !d.Expires.IsZero() {
		text += ", until " + d.Expires.Add(-time.Nanosecond).UTC().Format(time.DateOnly)
	}
	return text
}

type rulesShowCmd struct {
	rulesFlags
	JSON bool   `help:"Print one JSON object."`
	ID   string `arg:"" help:"The rule's id." placeholder:"ID"`
}

// Run shows.
func (c rulesShowCmd) Run() error {
	lib, err := c.library()
	if err != nil {
		return err
	}
	all := docs(lib)
	i := slices.IndexFunc(all, func(d ruleDoc) bool { return d.ID == c.ID })
	if i < 0 {
		var ids []string
		for _, d := range all {
			ids = append(ids, d.ID)
		}
		if near := strictyaml.Nearest(c.ID, ids); near != "" {
			return fmt.Errorf("there is no rule %q: did you mean %q?", c.ID, near)
		}
		return fmt.Errorf("there is no rule %q: approver rules list has them all", c.ID)
	}
	if c.JSON {
		return term.PrintJSON(all[i])
	}
	all[i].print(os.Stdout)
	return nil
}

func (d ruleDoc) print(w io.Writer) {
	show := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-11s %s\n", name, display.OneLine(text))
		}
	}
	show(map[bool]string{false: "rule", true: "heuristic"}[d.Heuristic], d.ID+d.state())
	show("category", d.Category)
	show("decision", d.Decision.String()+" "+strings.ToLower(d.Severity.String()))
	show("confidence", fmt.Sprintf("%.2f", d.Confidence))
	if d.Decision == approver.Deny {
		show("appealable", map[bool]string{true: "yes: people may be asked", false: "no"}[d.Appealable])
	}
	show("reason", d.Reason)
	show("cure", d.Cure)
	show("twins", strings.Join(d.Twins, ", "))
	show("pattern", d.Pattern)
	for _, c := range d.When {
		show("when", condition(c))
	}
	for _, x := range d.Match {
		show("finds", x)
	}
	for _, x := range d.Pass {
		show("leaves", x)
	}
	for _, a := range d.Allow {
		show("exception", scope(a.Scope)+"until "+a.Expires.UTC().Format(time.DateTime)+" UTC: "+a.Reason)
	}
	for _, s := range d.Steps {
		show("layer", fmt.Sprintf("%s %s it at %s", s.Layer, s.Does, s.Where))
	}
}

func scope(s reflexcore.Scope) (out string) {
	for _, p := range [][2]string{{"command", s.Command}, {"path", s.Path}, {"agent", s.Agent}, {"project", s.Project}} {
		if p[1] != "" {
			out += p[0] + " " + p[1] + ", "
		}
	}
	return out
}

// condition formats a condition in the terms of the rules file.
func condition(c reflexcore.Condition) string {
	var parts []string
	add := func(name string, list []string) {
		if len(list) > 0 {
			parts = append(parts, name+": "+strings.Join(list, ", "))
		}
	}
	var effects, together []string
	for _, k := range c.Effects {
		effects = append(effects, k.String())
	}
	for _, k := range c.Together {
		together = append(together, k.String())
	}
	add("effects", effects)
	add("together", together)
	add("places", c.Places)
	add("never", c.Never)
	add("targets", c.Targets)
	add("how", c.How)
	add("without", c.Without)
	add("from", c.From)
	add("what", c.What)
	add("by", c.By)
	add("not_by", c.NotBy)
	if c.Certain {
		parts = append(parts, "certain")
	}
	return strings.Join(parts, "; ")
}

type rulesTestCmd struct {
	rulesFlags
	JSON  bool     `help:"Print one JSON object for each example that fails, and one at the end."`
	Files []string `arg:"" optional:"" help:"Files of rules; left out, every rule that is configured." placeholder:"FILE"`
}

// Run runs the examples.
func (c rulesTestCmd) Run(ctx context.Context) error {
	all, own, err := c.rules(c.Files)
	if err != nil {
		return err
	}
	e, err := reflexcore.New(all, reflexcore.DefaultConfig().Limits())
	if err != nil {
		return err
	}
	examples, failed := 0, 0
	for _, r := range own {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, x := range slices.Concat(r.Match, r.Pass) {
			examples++
			wrong := misjudged(e, &r, x, i < len(r.Match))
			if wrong == "" {
				continue
			}
			failed++
			if c.JSON {
				if err := term.PrintJSON(map[string]string{"at": r.Where.String(), "rule": r.ID,
					"example": examplesOf([]reflexcore.Example{x})[0], "text": wrong}); err != nil {
					return err
				}
				continue
			}
			fmt.Printf("%s: %s %s: %s\n", r.Where, r.ID, wrong, display.OneLine(examplesOf([]reflexcore.Example{x})[0]))
		}
	}
	if c.JSON {
		err = term.PrintJSON(map[string]int{"rules": len(own), "examples": examples, "failed": failed})
	} else {
		_, err = fmt.Printf("%s, %s, %d failed\n", words.Count(uint64(len(own)), "rule"),
			words.Count(uint64(examples), "example"), failed)
	}
	if failed > 0 {
		return term.ErrSaid
	}
	return err
}

// misjudged says what is wrong with the verdict on an example. It is empty if the verdict is
// right.
func misjudged(e *reflexcore.Engine, r *reflexcore.Rule, x reflexcore.Example, match bool) string {
	if r.Heuristic {
		return configs.MisjudgedByHeuristic(r.ID, x, match)
	}
	how := e.Explain(x.Call())
	found := slices.ContainsFunc(how.Findings, func(f reflexcore.Found) bool { return f.Rule == r.ID })
	switch {
	case match && !found:
		return "does not find its example"
	case !match && how.Verdict.Decision != approver.Pass:
		return fmt.Sprintf("has an example that should pass, and %s decides %s", how.Verdict.Rule, how.Verdict.Decision)
	}
	return ""
}

// rules returns all rules, with those of the files replacing rules of the same id, and the
// rules that the command is about: those of the files, or all if there are no files.
func (f rulesFlags) rules(files []string) (all, own []reflexcore.Rule, err error) {
	if len(files) == 0 {
		lib, err := f.library()
		if err != nil {
			return nil, nil, err
		}
		all = lib.Rules().List()
		return all, all, nil
	}
	if all, err = configs.DefaultRules(); err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, name := range files {
		data, err := readRules(name)
		if err != nil {
			return nil, nil, err
		}
		list, err := configs.ReadLayer(name, data)
		own, errs = append(own, list...), append(errs, err)
	}
	all = slices.DeleteFunc(all, func(r reflexcore.Rule) bool {
		return slices.ContainsFunc(own, func(o reflexcore.Rule) bool { return o.ID == r.ID })
	})
	return append(all, own...), own, errors.Join(errs...)
}

// readRules reads a file of rules, and no more of it than one may have and a byte.
func readRules(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strictyaml.MaxLibraryBytes+1))
}
