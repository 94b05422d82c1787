package shieldcore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/internal/strictyaml"
)

// Bounds of a policy file, beside those of package strictyaml.
const (
	MinTTL = 5 * time.Second // of ttl and default_ttl
	MaxTTL = time.Hour

	maxRules  = 10_000
	maxReason = 500 // bytes of reason and agent_reason
)

// policyFile is the file as written. It has either Rules, of which the first match
// decides, or the three lists.
type policyFile struct {
	Version    int               `yaml:"version"`
	DefaultTTL time.Duration     `yaml:"default_ttl"`
	Default    defaultFile       `yaml:"default"`
	Tools      toolsFile         `yaml:"tools"`
	Warn       []string          `yaml:"warn"`
	Denylist   denylistFile      `yaml:"denylist"`
	Define     map[string]string `yaml:"define"`
	Rules      []ruleFile        `yaml:"rules"`
	Deny       []ruleFile        `yaml:"deny"`
	Verify     []ruleFile        `yaml:"verify"`
	Allow      []ruleFile        `yaml:"allow"`
}

type toolsFile struct {
	Known       []string    `yaml:"known"`
	FirstUse    findingFile `yaml:"first_use"`
	UnknownVerb findingFile `yaml:"unknown_verb"`
}

// defaultFile is the verdict for a call that no rule matches.
type defaultFile struct {
	Decision string `yaml:"decision"`
	MinTier  uint8  `yaml:"min_tier"`
}

// Load reads a policy from the bytes of a file; name is used in positions only.
// The error has every problem of the file, each as file:line:col with the line, a
// caret and the remedy; see [strictyaml.FileError]. [Policy.Warnings] has problems
// that do not prevent loading.
func Load(name string, data []byte) (*Policy, error) { return LoadFor(name, data, nil) }

// LoadFor is Load for an installation with known channels and people. A rule that
// names others, or that nobody could approve, is a problem.
func LoadFor(name string, data []byte, who Audience) (*Policy, error) {
	f, err := strictyaml.ParseLong(name, data)
	if err != nil {
		return nil, err
	}
	var file policyFile
	f.Decode(&file)
	c := &compiler{File: f, defines: map[string]string{}, audience: who}
	p := c.policy(file)
	if err := f.Err(); err != nil {
		return nil, err
	}
	p.index = newIndex(p.rules, c.patterns)
	c.unreachable(p)
	p.warnings = f.Warnings()
	p.name, p.source = name, slices.Clone(data)
	sum := sha256.Sum256(data)
	p.version = hex.EncodeToString(sum[:])
	return p, nil
}

func (c *compiler) policy(file policyFile) *Policy {
	if !c.Has("version") {
		c.Report("version", "version is missing: write version: 1 at the top")
	} else if c.Good("version") && file.Version != 1 {
		c.Report("version", "version must be 1: this approver reads no other policy format")
	}
	p := &Policy{homes: new(homeCache)}
	if c.Good("default_ttl") {
		p.ttl = c.ttl("default_ttl", file.DefaultTTL)
	}
	p.fallback = c.fallback(file.Default)
	p.known = c.toolGlobs("tools.known", file.Tools.Known)
	p.firstUse = c.toolFinding("tools.first_use", RuleFirstUse, file.Tools.FirstUse)
	p.unknownVerb = c.toolFinding("tools.unknown_verb", RuleUnknownVerb, file.Tools.UnknownVerb)
	p.warned = c.warned(file.Warn)
	p.denylist = c.denylist(file.Denylist)
	c.compileDefines(file.Define)
	entries := c.entries(file)
	if len(entries) > maxRules {
		c.ReportKey("rules", fmt.Sprintf("%d rules: the limit is %d", len(entries), maxRules))
		return p
	}
	names := map[string]string{}
	for _, e := range entries {
		if !c.Good(e.at) {
			continue
		}
		r := c.rule(e, p.ttl)
		if first, again := names[e.Name]; again && c.Good(e.at+".name") {
			c.Report(e.at+".name", fmt.Sprintf("rule %q is already defined in line %d: give this one another name", e.Name,
				c.Position(first).Line))
		} else {
			names[e.Name] = e.at
		}
		p.hasPaths = p.hasPaths || len(r.paths) > 0
		p.rules = append(p.rules, r)
	}
	return p
}

// An entry is a rule as written with its place in the file and, if it is in one of the
// three lists, the list's name.
type entry struct {
	ruleFile
	at   string
	list string
}

// entries makes one list of rules from either dialect: deny, verify and allow are tried
// in this order.
func (c *compiler) entries(file policyFile) (out []entry) {
	for _, l := range []struct {
		key   string
		rules []ruleFile
	}{{"deny", file.Deny}, {"verify", file.Verify}, {"allow", file.Allow}} {
		if c.Has(l.key) && c.Has("rules") {
			c.ReportKey(l.key,
				fmt.Sprintf("the file has rules and the list %s: either rules that are tried from top to bottom, or the lists "+
					"deny, verify and allow", l.key))
		}
		for i, rf := range l.rules {
			out = append(out, entry{rf, fmt.Sprintf("%s[%d]", l.key, i), l.key})
		}
	}
	for i, rf := range file.Rules {
		out = append(out, entry{rf, fmt.Sprintf("rules[%d]", i), ""})
	}
	return out
}

// A rule is one compiled rule. All of its conditions must hold; an absent condition
// always holds.
type rule struct {
	source   entry // as written
	tools    []toolGlob
	actions  []string // nil: any
	command  *pattern
	paths    []pathGlob
	notPaths []pathGlob // only in rules that allow
	args     *pattern
	content  []*pattern // any of them
	when     *when
	verdict  approver.Verdict
}

// allows reports whether the rule allows. Such a rule matches only what is certain.
func (r *rule) allows() bool { return r.verdict.Decision == approver.Allow }

// inertKeys are arguments of file tools that name no file: text to write or to search
// for, and options.
var inertKeys = map[string]bool{
	"content": true, "old_string": true, "new_string": true, "new_source": true, "pattern": true, "glob": true,
	"type":        true,
	"output_mode": true, "encoding": true, "cell_id": true, "cell_type": true, "edit_mode": true, "pages": true,
}

// matchesAny reports whether any form of a path matches one of the patterns, without
// regard to case.
func matchesAny(globs []pathGlob, l location) bool {
	return slices.ContainsFunc(globs, func(g pathGlob) bool { return slices.ContainsFunc(l.folded, g.folded.Match) })
}
