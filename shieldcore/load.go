package shieldcore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/shieldcore/strictyaml"
)

// Bounds of a policy file, beside those of package strictyaml.
const (
	MinTTL = 5 * time.Second // of ttl and default_ttl
	MaxTTL = time.Hour

	maxRules  = 1000
	maxReason = 500 // bytes of reason and agent_reason
)

// policyFile is the file as written.
type policyFile struct {
	Version    int               `yaml:"version"`
	DefaultTTL time.Duration     `yaml:"default_ttl"`
	Tools      toolsFile         `yaml:"tools"`
	Define     map[string]string `yaml:"define"`
	Rules      []ruleFile        `yaml:"rules"`
}

type toolsFile struct {
	Known []string `yaml:"known"`
}

type ruleFile struct {
	Name        string        `yaml:"name"`
	Tools       []string      `yaml:"tools"`
	Command     string        `yaml:"command"`
	Paths       []string      `yaml:"paths"`
	Args        string        `yaml:"args"`
	Decision    string        `yaml:"decision"`
	Severity    string        `yaml:"severity"`
	TTL         time.Duration `yaml:"ttl"`
	Reason      string        `yaml:"reason"`
	AgentReason string        `yaml:"agent_reason"`
}

// Load reads a policy from the bytes of a file; name is used in positions only.
// The error holds every problem of the file, each as file:line:col with the
// line, a caret and what to do; see [strictyaml.FileError]. There is no policy
// with an error.
func Load(name string, data []byte) (*Policy, error) {
	f, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var file policyFile
	f.Decode(&file)
	c := &compiler{File: f, defines: map[string]string{}}
	p := c.policy(file)
	if err := f.Err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p.version = hex.EncodeToString(sum[:])
	return p, nil
}

// A compiler turns the file as written into a policy and notes problems.
type compiler struct {
	*strictyaml.File
	defines map[string]string
	steps   int // of all regular expressions so far
}

func (c *compiler) policy(file policyFile) *Policy {
	if !c.Has("version") {
		c.Report("version", "version is missing: write version: 1 at the top")
	} else if c.Good("version") && file.Version != 1 {
		c.Report("version", "version must be 1: this approver reads no other policy format")
	}
	p := &Policy{}
	if c.Good("default_ttl") {
		p.ttl = c.ttl("default_ttl", file.DefaultTTL)
	}
	p.known = c.toolGlobs("tools.known", file.Tools.Known)
	c.compileDefines(file.Define)
	if len(file.Rules) > maxRules {
		c.ReportKey("rules", fmt.Sprintf("%d rules: the limit is %d", len(file.Rules), maxRules))
		return p
	}
	names := map[string]int{}
	for i, rf := range file.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if !c.Good(at) {
			continue
		}
		r := c.rule(at, rf, p.ttl)
		if first, again := names[rf.Name]; again && c.Good(at+".name") {
			c.Report(at+".name", fmt.Sprintf("rule %q is already defined in line %d: give this one another name",
				rf.Name, c.Position(fmt.Sprintf("rules[%d]", first)).Line))
		} else {
			names[rf.Name] = i
		}
		p.placed = p.placed || len(r.paths) > 0
		p.rules = append(p.rules, r)
	}
	return p
}

func (c *compiler) rule(at string, rf ruleFile, ttl time.Duration) rule {
	r := rule{verdict: approver.Verdict{By: By, Rule: rf.Name, Where: c.Position(at), Confidence: 1}}
	c.name(at, rf, &r.verdict)
	c.decision(at, rf, ttl, &r.verdict)
	c.reasons(at, rf, &r.verdict)
	r.tools = c.toolGlobs(at+".tools", rf.Tools)
	if c.Good(at+".tools") && len(rf.Tools) == 0 {
		c.Report(at+".tools", "tools is empty: remove the line for any tool, or name some")
	}
	for i, text := range rf.Paths {
		g, err := newPathGlob(text)
		if err != nil {
			c.Report(fmt.Sprintf("%s.paths[%d]", at, i), fmt.Sprintf("path %q %s", text, err))
		}
		r.paths = append(r.paths, g)
	}
	if c.Good(at+".paths") && len(rf.Paths) == 0 {
		c.Report(at+".paths", "paths is empty: remove the line, or name some")
	}
	if c.Good(at + ".command") {
		r.command = c.pattern(at+".command", rf.Command, r.allows())
	}
	if c.Good(at + ".args") {
		r.args = c.pattern(at+".args", rf.Args, false)
		if r.allows() {
			c.ReportKey(at+".args", "a rule that allows cannot have args: a text found in them does not say what the rest does")
		}
	}
	if !c.hasCondition(at) {
		c.ReportKey(at, "the rule has no condition, so it would match every call: add command, paths, args or tools, or write tools: [\"*\"] if that is meant")
	}
	return r
}

func (c *compiler) hasCondition(at string) bool {
	return c.Has(at+".command") || c.Has(at+".paths") || c.Has(at+".args") || c.Has(at+".tools")
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)

func (c *compiler) name(at string, rf ruleFile, v *approver.Verdict) {
	switch {
	case !c.Has(at + ".name"):
		c.ReportKey(at, "the rule has no name: add a line such as name: git.force_push")
	case !c.Good(at + ".name"):
	case len(rf.Name) > 64 || !ruleName.MatchString(rf.Name):
		c.Report(at+".name", "name must be lower-case words joined by dots, at most 64 characters: write it like git.force_push")
	case rf.Name == RuleUnknownTool || rf.Name == RuleUnplacedPath || rf.Name == RuleTooLong:
		c.Report(at+".name", fmt.Sprintf("%q is the name of a built-in finding: choose another", rf.Name))
	}
	v.Category, _, _ = strings.Cut(rf.Name, ".")
}

var decisions = []string{"allow", "ask", "deny"}

func (c *compiler) decision(at string, rf ruleFile, ttl time.Duration, v *approver.Verdict) {
	hasSeverity, hasTTL := c.Good(at+".severity"), c.Good(at+".ttl")
	switch {
	case !c.Has(at + ".decision"):
		c.ReportKey(at, "the rule has no decision: add decision: allow, ask or deny")
		return
	case !c.Good(at + ".decision"):
		return
	}
	switch rf.Decision {
	case "allow", "deny":
		if rf.Decision == "allow" {
			v.Decision = approver.Allow
		}
		if hasSeverity {
			c.ReportKey(at+".severity", "severity is for rules that ask; this one decides "+rf.Decision+": remove the line")
		}
		if hasTTL {
			c.ReportKey(at+".ttl", "ttl is for rules that ask; this one decides "+rf.Decision+": remove the line")
		}
		return
	case "ask":
		v.Decision, v.TTL = approver.Ask, ttl
	default:
		c.Report(at+".decision", unknownWord("decision", rf.Decision, decisions))
	}
	if hasSeverity {
		if err := v.Severity.UnmarshalText([]byte(rf.Severity)); err != nil {
			c.Report(at+".severity", unknownWord("severity", rf.Severity, []string{"high", "catastrophic"}))
		}
	}
	if hasTTL {
		v.TTL = c.ttl(at+".ttl", rf.TTL)
	}
}

func unknownWord(what, word string, words []string) string {
	if near := strictyaml.Nearest(word, words); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q: one of %s", what, word, strings.Join(words, ", "))
}

func (c *compiler) ttl(at string, d time.Duration) time.Duration {
	if d < MinTTL || d > MaxTTL {
		c.Report(at, "the time for people must be 5s to 1h")
	}
	return d
}

func (c *compiler) reasons(at string, rf ruleFile, v *approver.Verdict) {
	for key, text := range map[string]string{".reason": rf.Reason, ".agent_reason": rf.AgentReason} {
		if len(text) > maxReason || strings.ContainsAny(strings.TrimRight(text, "\n"), "\n") {
			c.Report(at+key, fmt.Sprintf("a reason must be one line of at most %d bytes", maxReason))
		}
	}
	v.Detail = strings.TrimSpace(rf.Reason)
	v.Reason = strings.TrimSpace(rf.AgentReason)
	if v.Detail == "" {
		v.Detail = "the policy's rule " + rf.Name + " matches"
	}
	if v.Reason == "" {
		v.Reason = v.Detail
	}
}

func (c *compiler) toolGlobs(at string, names []string) []toolGlob {
	var out []toolGlob
	for i, name := range names {
		if _, err := path.Match(name, ""); err != nil || strings.TrimSpace(name) == "" || strings.Contains(name, "\\") {
			c.Report(fmt.Sprintf("%s[%d]", at, i), fmt.Sprintf("tool %q is not a name: write it as the agent does, with * for any part", name))
		}
		out = append(out, toolGlob(name))
	}
	return out
}

// sortedNames returns the keys of a map in order, so that problems and
// compilation do not depend on chance.
func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
