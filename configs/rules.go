package configs

import (
	"embed"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/match"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
)

// defaultRules are the built-in rules, which the generator has converted from the files in the
// folder rules: parsing YAML would take most of a start. A test checks that both are equal.
//
//go:embed rules.gen.json
var defaultRules []byte

// A rulesFile is a file of rules as written. The built-in files have only rules.
type rulesFile struct {
	Version int         `yaml:"version"`
	Rules   []ruleFile  `yaml:"rules"`
	Disable []string    `yaml:"disable"`
	Shadow  []string    `yaml:"shadow"`
	Allow   []allowFile `yaml:"allow"`
	// Sources of confidential data; only a project's file has them.
	Sources []flow.Source `yaml:"sources"`
}

type allowFile struct {
	Rule    string           `yaml:"rule"`
	Scope   reflexcore.Scope `yaml:"scope"`
	Expires string           `yaml:"expires"`
	Reason  string           `yaml:"reason"`
}

type ruleFile struct {
	Replace    bool            `yaml:"replace"`
	Expires    string          `yaml:"expires"`
	ID         string          `yaml:"id"`
	Category   string          `yaml:"category"`
	Decision   string          `yaml:"decision"`
	Severity   string          `yaml:"severity"`
	Confidence float64         `yaml:"confidence"`
	Reason     string          `yaml:"reason"`
	Cure       string          `yaml:"cure"`
	Appealable bool            `yaml:"appealable"`
	MinTier    uint8           `yaml:"min_tier"`
	Pattern    string          `yaml:"pattern"`
	When       []conditionFile `yaml:"when"`
	Examples   examplesFile    `yaml:"examples"`
}

type examplesFile struct {
	Match []string `yaml:"match"`
	Pass  []string `yaml:"pass"`
}

type conditionFile struct {
	Effects  []string `yaml:"effects"`
	Together []string `yaml:"together"`
	Places   []string `yaml:"places"`
	Never    []string `yaml:"never"`
	Targets  []string `yaml:"targets"`
	Except   []string `yaml:"except"`
	How      []string `yaml:"how"`
	Without  []string `yaml:"without"`
	From     []string `yaml:"from"`
	FromAll  []string `yaml:"from_all"`
	What     []string `yaml:"what"`
	By       []string `yaml:"by"`
	NotBy    []string `yaml:"not_by"`
	Certain  bool     `yaml:"certain"`
	Reads    []string `yaml:"reads"`
	ReadsAt  []string `yaml:"reads_at"`
	MoreThan int      `yaml:"more_than"`
}

// keyFragment is the fragment that every pattern can use: the keys of known services.
const keyFragment = "key"

// DefaultRules returns the built-in rules of the reflex engine, those of all files of the
// folder rules. They are read once.
func DefaultRules() ([]reflexcore.Rule, error) {
	rules, err := builtInRules()
	return slices.Clone(rules), err
}

var builtInRules = sync.OnceValues(func() (all []reflexcore.Rule, err error) {
	err = json.Unmarshal(defaultRules, &all)
	for i := range all {
		all[i].When = slices.Clone(all[i].When) // the decoder leaves room for three more, of half a kilobyte each
	}
	return slices.Clone(all), err
})

// RuleIDs returns the ids of the built-in rules and heuristics, sorted.
func RuleIDs() (ids []string, err error) {
	rules, err := DefaultRules()
	if err != nil {
		return nil, err
	}
	heuristics, err := heuristicRules()
	for _, r := range slices.Concat(rules, heuristics) {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids, err
}

// LoadRules reads a file of rules; name is used in positions only. The error
// holds every problem, each as file:line:col.
func LoadRules(name string, data []byte) ([]reflexcore.Rule, error) {
	f, file, err := parseRules(name, data)
	if err != nil {
		return nil, err
	}
	noSources(f, file)
	for _, key := range []string{"disable", "shadow", "allow"} {
		if f.Has(key) {
			f.ReportKey(key, key+" is for layers over the built-in rules")
		}
	}
	rules := readRules(f, file, reflexcore.BuiltInLayer)
	return rules, f.Err()
}

// ReadLayer reads only the rules of a layer's file, whichever layer it is.
func ReadLayer(name string, data []byte) ([]reflexcore.Rule, error) {
	f, file, err := parseRules(name, data)
	if err != nil {
		return nil, err
	}
	noSources(f, file)
	rules := readRules(f, file, reflexcore.UserLayer)
	return rules, f.Err()
}

func parseRules(name string, data []byte) (*strictyaml.File, *rulesFile, error) {
	f, err := strictyaml.ParseLibrary(name, data)
	if err != nil {
		return nil, nil, err
	}
	file := &rulesFile{}
	f.Decode(file)
	if file.Version != 1 {
		f.Report("version", "version must be 1")
	}
	if len(file.Rules) > maxLayerRules {
		f.Report(fmt.Sprintf("rules[%d]", maxLayerRules),
			fmt.Sprintf("a file may have %d rules: take out what no call needs", maxLayerRules))
		return nil, nil, f.Err()
	}
	return f, file, nil
}

// maxLayerRules is more than anybody writes, and what is read in some ten seconds.
const maxLayerRules = 100_000

// noSources reports sources in a file that does not belong to a project.
func noSources(f *strictyaml.File, file *rulesFile) {
	if len(file.Sources) > 0 {
		f.ReportKey("sources",
			"sources belong under reflex.flow of the configuration; only a project's file has them beside its rules")
	}
}

// readRules returns the rules of a file, and reports what is wrong with each.
func readRules(f *strictyaml.File, file *rulesFile, layer reflexcore.Layer) []reflexcore.Rule {
	out := make([]reflexcore.Rule, len(file.Rules))
	for i, r := range file.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		rule := reflexcore.Rule{
			ID: r.ID, Category: r.Category, Confidence: r.Confidence, Reason: r.Reason, Cure: r.Cure, Appealable: r.Appealable,
			MinTier: r.MinTier,
			Pattern: withKeys(r.Pattern),
			Where:   f.Position(at), Layer: layer, Match: examples(r.Examples.Match), Pass: examples(r.Examples.Pass),
		}
		if err := rule.Decision.UnmarshalText([]byte(r.Decision)); err != nil {
			f.Report(at+".decision", err.Error())
		}
		if err := rule.Severity.UnmarshalText([]byte(r.Severity)); err != nil {
			f.Report(at+".severity", err.Error())
		}
		if f.Good(at+".min_tier") && r.MinTier != 0 &&
			(r.MinTier != approver.TierEvaluation || rule.Decision != approver.Ask || rule.Severity != approver.High) {
			f.Report(at+".min_tier",
				"min_tier can only be 2, in a rule that asks with severity high: it leaves the call to the evaluation, and to "+
					"people where there is none; remove the line to mean people")
		}
		if r.Expires != "" {
			rule.Expires = expiry(f, at+".expires", r.Expires)
			if r.Replace {
				f.Report(at+".expires", "a rule that replaces another cannot expire: nothing would stand in its place")
			}
		}
		for j, c := range r.When {
			in := fmt.Sprintf("%s.when[%d]", at, j)
			rule.When = append(rule.When, reflexcore.Condition{
				Effects: kinds(f, in+".effects", c.Effects), Together: kinds(f, in+".together", c.Together), Places: c.Places,
				Never: c.Never, Targets: c.Targets, Except: c.Except, Reads: c.Reads, ReadsAt: c.ReadsAt, MoreThan: c.MoreThan,
				How: c.How, Without: c.Without,
				From: c.From, FromAll: c.FromAll, What: c.What, By: c.By, NotBy: c.NotBy, Certain: c.Certain,
			})
			if err := rule.When[j].Check(); err != nil && f.Good(in) {
				f.Report(in, err.Error())
			}
		}
		// A test lints the built-in patterns: it takes a millisecond each.
		if r.Pattern != "" && layer != reflexcore.BuiltInLayer && f.Good(at+".pattern") {
			for _, w := range match.Lint(r.Pattern) {
				f.Report(at+".pattern", w.Rule+": "+w.Text)
			}
		} else if _, err := syntax.Parse(r.Pattern, syntax.Perl); err != nil {
			f.Report(at+".pattern", err.Error())
		}
		if f.Good(at) {
			for _, fault := range rule.Faults() {
				// A value that could not be read is reported already.
				if in := at + "." + fault.Field; !f.Has(in) || f.Good(in) {
					f.Report(in, fault.Text)
				}
			}
		}
		out[i] = rule
	}
	return out
}

// withKeys puts the keys of known services into a pattern that asks for them.
func withKeys(pattern string) string {
	const fragment = "%{" + keyFragment + "}"
	if !strings.Contains(pattern, fragment) {
		return pattern
	}
	return strings.ReplaceAll(pattern, fragment, display.KeyPattern())
}

// expiry reads a time, or a date, which means the end of that day in UTC.
func expiry(f *strictyaml.File, path, text string) time.Time {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.Report(path, "not a date: write one like 2027-01-31, which ends with that day in UTC, or a time like "+
			"2027-01-31T18:00:00Z")
	}
	return t
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

// examples reads example calls: a shell command, or the name of another tool and its arguments
// as JSON, such as `Write {"file_path": "/etc/hosts"}`.
func examples(list []string) []reflexcore.Example {
	out := make([]reflexcore.Example, len(list))
	for i, text := range list {
		out[i].Command = text
		if tool, args, ok := strings.Cut(text, " "); ok && strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
			out[i] = reflexcore.Example{Tool: tool, Args: args}
		}
	}
	return out
}

//go:embed policy.default.yaml policy.strict.yaml policy.permissive.yaml
var policies embed.FS

// PresetPrefix stands before the name of a built-in policy in Config.Policy.
const PresetPrefix = "preset:"

// Presets returns the names of the built-in policies.
func Presets() []string { return []string{"default", "strict", "permissive"} }

// Preset returns the text of a built-in policy.
func Preset(name string) (data []byte, ok bool) {
	if !slices.Contains(Presets(), name) {
		return nil, false
	}
	data, err := policies.ReadFile("policy." + name + ".yaml")
	return data, err == nil
}

// DefaultPolicyYAML returns the text of the policy that is used when none is configured.
func DefaultPolicyYAML() []byte {
	data, _ := Preset("default") // it is embedded
	return data
}
