package configs

import (
	_ "embed"
	"fmt"

	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/shieldcore/strictyaml"
)

//go:embed rules.default.yaml
var defaultRules []byte

// RulesFile is the name of the built-in rules in positions.
const RulesFile = "rules.default.yaml"

// DefaultRulesYAML returns the text of the built-in rules.
func DefaultRulesYAML() []byte { return defaultRules }

// rulesFile is a file of rules as written.
type rulesFile struct {
	Version int        `yaml:"version"`
	Rules   []ruleFile `yaml:"rules"`
}

type ruleFile struct {
	ID         string          `yaml:"id"`
	Category   string          `yaml:"category"`
	Decision   string          `yaml:"decision"`
	Severity   string          `yaml:"severity"`
	Confidence float64         `yaml:"confidence"`
	Reason     string          `yaml:"reason"`
	Cure       string          `yaml:"cure"`
	Pattern    string          `yaml:"pattern"`
	When       []conditionFile `yaml:"when"`
}

type conditionFile struct {
	Effects  []string `yaml:"effects"`
	Together []string `yaml:"together"`
	Places   []string `yaml:"places"`
	Never    []string `yaml:"never"`
	Targets  []string `yaml:"targets"`
	How      []string `yaml:"how"`
	Without  []string `yaml:"without"`
	From     []string `yaml:"from"`
	What     []string `yaml:"what"`
	By       []string `yaml:"by"`
	NotBy    []string `yaml:"not_by"`
	Certain  bool     `yaml:"certain"`
}

// DefaultRules returns the built-in rules of the reflex engine.
func DefaultRules() ([]reflexcore.Rule, error) { return LoadRules(RulesFile, defaultRules) }

// LoadRules reads a file of rules; name is used in positions only. The error
// holds every problem, each as file:line:col.
func LoadRules(name string, data []byte) ([]reflexcore.Rule, error) {
	f, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var file rulesFile
	f.Decode(&file)
	if file.Version != 1 {
		f.Report("version", "version must be 1")
	}
	out := make([]reflexcore.Rule, len(file.Rules))
	for i, r := range file.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		rule := reflexcore.Rule{
			ID: r.ID, Category: r.Category, Confidence: r.Confidence, Reason: r.Reason, Cure: r.Cure, Pattern: r.Pattern,
			Where: f.Position(at),
		}
		if err := rule.Decision.UnmarshalText([]byte(r.Decision)); err != nil {
			f.Report(at+".decision", err.Error())
		}
		if err := rule.Severity.UnmarshalText([]byte(r.Severity)); err != nil {
			f.Report(at+".severity", err.Error())
		}
		for j, c := range r.When {
			in := fmt.Sprintf("%s.when[%d]", at, j)
			rule.When = append(rule.When, reflexcore.Condition{
				Effects: kinds(f, in+".effects", c.Effects), Together: kinds(f, in+".together", c.Together), Places: c.Places, Never: c.Never, Targets: c.Targets, How: c.How, Without: c.Without,
				From: c.From, What: c.What, By: c.By, NotBy: c.NotBy, Certain: c.Certain,
			})
		}
		out[i] = rule
	}
	return out, f.Err()
}

func kinds(f *strictyaml.File, at string, names []string) []effect.Kind {
	out := make([]effect.Kind, len(names))
	for i, name := range names {
		if err := out[i].UnmarshalText([]byte(name)); err != nil {
			f.Report(fmt.Sprintf("%s[%d]", at, i), err.Error())
		}
	}
	return out
}
