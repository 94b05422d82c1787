package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"approver.example/display"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
	"approver.example/shieldcore/heuristics"
)

// This file reads the YAML that the built-in rules are generated from: no program does.

type heuristicsFile struct {
	Version int               `yaml:"version"`
	Define  map[string]string `yaml:"define"`
	Apart   map[string]string `yaml:"apart"` // rules that say something else, whichever heuristic is found, and why
	Rules   []heuristicFile   `yaml:"rules"`
}

type heuristicFile struct {
	ID          string              `yaml:"id"`
	Name        string              `yaml:"name"`
	Category    string              `yaml:"category"`
	Severity    heuristics.Level    `yaml:"severity"`
	Platform    heuristics.Platform `yaml:"platform"`
	AlwaysBlock bool                `yaml:"always_block"`
	Escalate    bool                `yaml:"escalate"`
	Fields      []string            `yaml:"fields"`
	Pattern     string              `yaml:"pattern"`
	Description string              `yaml:"description"`
	Reason      string              `yaml:"reason"`
	Cure        string              `yaml:"cure"`
	Twins       []string            `yaml:"twins"`
	Settled     []string            `yaml:"settled"` // twins whose decision stands
	Apart       map[string]string   `yaml:"apart"`   // rules that say something else of the same call, and why
	Examples    examplesFile        `yaml:"examples"`
}

// ReadApart returns which rules say something else than a heuristic of the same call, and why:
// by heuristic, and under "" whichever it is.
func ReadApart(name string, data []byte) (map[string]map[string]string, error) {
	f, err := strictyaml.ParseLong(name, data)
	if err != nil {
		return nil, err
	}
	file := &heuristicsFile{}
	f.Decode(file)
	out := map[string]map[string]string{"": file.Apart}
	for _, r := range file.Rules {
		out[r.ID] = r.Apart
	}
	return out, f.Err()
}

// LoadHeuristics reads a file of heuristic rules; name is used in positions only.
// The error holds every problem, each as file:line:col.
func LoadHeuristics(name string, data []byte) ([]heuristics.Rule, error) {
	f, err := strictyaml.ParseLong(name, data)
	if err != nil {
		return nil, err
	}
	file := &heuristicsFile{}
	f.Decode(file)
	if file.Version != 1 {
		f.Report("version", "version must be 1")
	}
	if len(file.Rules) == 0 {
		f.Report("rules", "rules are missing: without them nothing would be found")
	}
	for at, text := range file.Define {
		if strings.Contains(text, "%{") {
			f.Report("define."+at, "a fragment cannot use another one: write it out")
		}
	}
	rules := make([]heuristics.Rule, len(file.Rules))
	first := map[string]int{}
	for i, r := range file.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		rules[i] = heuristics.Rule{
			ID: r.ID, Name: r.Name, Category: r.Category, Level: r.Severity, Platform: r.Platform, AlwaysBlock: r.AlwaysBlock,
			Escalate: r.Escalate,
			Fields:   heuristicFields(f, at+".fields", r.Fields), Pattern: expanded(f, at+".pattern", r.Pattern, file.Define),
			Description: r.Description, Reason: r.Reason, Cure: r.Cure, Twins: r.Twins, Settled: r.Settled,
			Where: f.Position(at), Match: heuristicExamples(r.Examples.Match), Pass: heuristicExamples(r.Examples.Pass),
		}
		if other, twice := first[r.ID]; twice && r.ID != "" {
			f.Report(at+".id", fmt.Sprintf("rule %q is already defined in line %d", r.ID,
				f.Position(fmt.Sprintf("rules[%d]", other)).Line))
		}
		first[r.ID] = i
		for _, fault := range rules[i].Faults() {
			// What could not be read was told already.
			if in := at + "." + fault.Field; !f.Has(in) || f.Good(in) {
				f.Report(in, fault.Text)
			}
		}
		if _, err := regexp.Compile(rules[i].Pattern); err != nil && f.Good(at+".pattern") {
			f.Report(at+".pattern", err.Error())
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return rules, nil
}

var fragment = regexp.MustCompile(`%\{([^}]*)\}`)

// maxHeuristic is the length of a pattern with its fragments.
const maxHeuristic = 8000

// expanded puts the fragments under define into a pattern, which names them as %{name}.
func expanded(f *strictyaml.File, at, pattern string, define map[string]string) string {
	out := fragment.ReplaceAllStringFunc(pattern, func(use string) string {
		name := fragment.FindStringSubmatch(use)[1]
		text, known := define[name]
		if name == keyFragment {
			text, known = display.KeyPattern(), true
		}
		if !known {
			f.Report(at, use+" is not defined: write it under define, or correct its name")
		}
		return "(?:" + text + ")"
	})
	if len(out) > maxHeuristic {
		f.Report(at, fmt.Sprintf("the pattern has %d bytes with its fragments: the limit is %d", len(out), maxHeuristic))
		return ""
	}
	return out
}

func heuristicFields(f *strictyaml.File, at string, names []string) (fields heuristics.Fields) {
	for i, name := range names {
		field, err := heuristics.FieldOf(name)
		if err != nil {
			f.Report(fmt.Sprintf("%s[%d]", at, i), err.Error())
		}
		fields |= field
	}
	return fields
}

func heuristicExamples(list []string) []heuristics.Example {
	out := make([]heuristics.Example, len(list))
	for i, e := range examples(list) {
		out[i] = heuristics.Example(e)
	}
	return out
}

// ReadDefaultRules returns the same from the files of a folder that holds the folder
// rules. The error holds every problem, each as file:line:col.
func ReadDefaultRules(folder fs.FS) ([]reflexcore.Rule, error) {
	files, err := fs.Glob(folder, "rules/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []reflexcore.Rule
	var errs []error
	for _, name := range files {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		list, err := LoadRules(name, data)
		all, errs = append(all, list...), append(errs, err)
	}
	return all, errors.Join(errs...)
}
