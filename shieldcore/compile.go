package shieldcore

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/strictyaml"
)

// MaxTier is the highest tier, which is people.
const MaxTier = 3

// maxNames bounds the channels and the approvers of one rule.
const maxNames = 50

// ruleFile is a rule as written. Some keys are aliases from other policy dialects.
type ruleFile struct {
	Name        string        `yaml:"name"`
	Tools       []string      `yaml:"tools"`
	ActionTypes []string      `yaml:"action_types"`
	Command     string        `yaml:"command"`
	Paths       []string      `yaml:"paths"`
	PathsToo    []string      `yaml:"path_patterns"` // alias of paths
	NotPaths    []string      `yaml:"path_deny_patterns"`
	Args        string        `yaml:"args"`
	Content     []string      `yaml:"content_patterns"`
	When        whenFile      `yaml:"when"`
	Decision    string        `yaml:"decision"`
	MinTier     uint8         `yaml:"min_tier"`
	Tier        uint8         `yaml:"tier_override"` // alias of min_tier
	Severity    string        `yaml:"severity"`
	TTL         time.Duration `yaml:"ttl"`
	Channels    []string      `yaml:"channels"`
	Approvers   []string      `yaml:"approvers"`
	Reason      string        `yaml:"reason"`
	AgentReason string        `yaml:"agent_reason"`
}

func (c *compiler) rule(e entry, ttl time.Duration) rule {
	at := e.at
	r := rule{source: e, verdict: approver.Verdict{By: By, Rule: e.Name, Where: c.Position(at), Confidence: 1}}
	c.ruleName(at, e.ruleFile, &r.verdict)
	c.decision(e, ttl, &r.verdict)
	c.people(at, e.ruleFile, &r.verdict)
	c.reasons(at, e.ruleFile, &r.verdict)
	r.tools = c.toolGlobs(at+".tools", e.Tools)
	c.notEmpty(at+".tools", len(e.Tools), " for any tool, or name some")
	r.actions = c.actionTypes(at+".action_types", e.ActionTypes)
	c.rulePaths(&r)
	if c.Good(at + ".command") {
		r.command = c.pattern(at+".command", e.Command, r.allows())
	}
	if c.Good(at + ".args") {
		r.args = c.pattern(at+".args", e.Args, false)
		if r.allows() {
			c.ReportKey(at+".args", "a rule that allows cannot have args: a text found in them does not say what the rest does")
		}
	}
	for i, text := range e.Content {
		r.content = append(r.content, c.pattern(fmt.Sprintf("%s.content_patterns[%d]", at, i), text, false))
	}
	c.notEmpty(at+".content_patterns", len(e.Content), ", or write some")
	if c.Has(at+".content_patterns") && r.allows() {
		c.ReportKey(at+".content_patterns",
			"a rule that allows cannot have content_patterns: a text found in it does not say what the rest does")
	}
	r.when = c.when(at+".when", e.When)
	if !c.hasCondition(at) {
		c.ReportKey(at,
			"the rule has no condition, so it would match every call: add command, paths, args or tools, or write tools: "+
				"[\"*\"] if that is meant")
	}
	return r
}

// rulePaths compiles paths, under either name, and the exceptions from them.
func (c *compiler) rulePaths(r *rule) {
	at := r.source.at
	for key, list := range map[string][]string{"paths": r.source.Paths, "path_patterns": r.source.PathsToo,
		"path_deny_patterns": r.source.NotPaths} {
		c.notEmpty(at+"."+key, len(list), ", or name some")
	}
	c.notBoth(at, "paths", "path_patterns")
	r.paths = append(c.pathGlobs(at+".paths", r.source.Paths), c.pathGlobs(at+".path_patterns", r.source.PathsToo)...)
	r.notPaths = c.pathGlobs(at+".path_deny_patterns", r.source.NotPaths)
	switch {
	case !c.Has(at + ".path_deny_patterns"):
	case !r.allows():
		c.ReportKey(at+".path_deny_patterns",
			"path_deny_patterns are exceptions of a rule that allows; what is to be stopped stands under paths, and an "+
				"exception to it is a rule before this one")
	case len(r.paths) == 0:
		c.ReportKey(at+".path_deny_patterns", "path_deny_patterns are exceptions from paths, which the rule does not have")
	}
}

func (c *compiler) hasCondition(at string) bool {
	return slices.ContainsFunc([]string{"command", "paths", "path_patterns", "args", "tools", "action_types",
		"content_patterns"}, func(key string) bool {
		return c.Has(at + "." + key)
	})
}

// wordName matches the name of a channel or an agent; personName matches a person's
// id, such as ada or telegram:10042.
var (
	wordName   = lazyregexp.New(`^[a-z][a-z0-9_-]{0,31}$`)
	personName = lazyregexp.New(`^[\w.@:+-]{1,128}$`)
)

// people reads who is asked, on which channels, and the lowest tier that may decide.
func (c *compiler) people(at string, rf ruleFile, v *approver.Verdict) {
	for key, list := range map[string][]string{"channels": rf.Channels, "approvers": rf.Approvers} {
		place, form := at+"."+key, wordName()
		if key == "approvers" {
			form = personName()
		}
		switch {
		case !c.Good(place):
		case len(list) == 0 || len(list) > maxNames:
			c.report(place, "%s must name 1 to %d: remove the line for all", key, maxNames)
		case v.Decision != approver.Ask && c.Good(at+".decision"):
			c.onlyForAsk(place, v.Decision.String())
		}
		for i, name := range list {
			if !form.MatchString(name) || slices.Index(list, name) < i {
				c.badItem(place, i, "%q is not a name for %s, or stands there twice", name, key)
			}
		}
	}
	v.Channels, v.Approvers = rf.Channels, rf.Approvers
	if c.audience != nil {
		c.checkAudience(at, rf)
	}
	key := "min_tier"
	v.MinTier = rf.MinTier
	if c.Has(at + ".tier_override") {
		c.notBoth(at, "min_tier", "tier_override")
		key, v.MinTier = "tier_override", rf.Tier
	}
	if rf.Decision == "escalate" && !c.Has(at+"."+key) {
		v.MinTier = approver.TierEvaluation
	}
	if v.Decision == approver.Ask && v.MinTier == approver.TierEvaluation && !v.Escalates() && c.Good(at) {
		c.Warn(at,
			fmt.Sprintf("rule %q never leaves a call to the evaluation: what is catastrophic, or names approvers, is for "+
				"people; write severity: high and no approvers, or min_tier: 3", rf.Name))
	}
	c.tier(at+"."+key, v.MinTier)
	if c.Good(at+"."+key) && v.Decision == approver.Deny {
		c.ReportKey(at+"."+key, key+" has no meaning for a rule that denies: remove the line")
	}
}

func (c *compiler) tier(at string, n uint8) {
	if c.Good(at) && n > MaxTier {
		c.report(at, "a tier is 0 to %d, where %d is people", MaxTier, MaxTier)
	}
}

// fallback compiles the verdict for a call that no rule matches. It cannot be allow:
// only a rule lets a call through.
func (c *compiler) fallback(d defaultFile) approver.Verdict {
	v := approver.Verdict{Decision: approver.Pass, By: By, Severity: approver.High, MinTier: d.MinTier}
	c.tier("default.min_tier", d.MinTier)
	if c.Has("default") && !c.Has("default.decision") {
		c.ReportKey("default", "default has no decision: add decision: deny, ask or pass")
	}
	if !c.Good("default.decision") {
		return v
	}
	switch word := decisionWord(d.Decision); word {
	case "pass":
	case "deny":
		v = finding(approver.Deny, RuleDefault, "no rule of the policy matches, and it denies by default")
	case "ask":
		v = finding(approver.Ask, RuleDefault, "no rule of the policy matches, and it asks by default")
		v.Severity, v.MinTier = approver.High, d.MinTier
	case "allow":
		c.Report("default.decision",
			"default cannot be allow: write pass, which leaves the call to the agent's own permission flow, and a rule for "+
				"each thing that is allowed")
	default:
		c.Report("default.decision", unknownWord("decision", d.Decision, []string{"deny", "ask", "pass"}))
	}
	v.Where = c.Position("default")
	return v
}

var ruleName = lazyregexp.New(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)

func (c *compiler) ruleName(at string, rf ruleFile, v *approver.Verdict) {
	switch {
	case !c.Has(at + ".name"):
		c.ReportKey(at, "the rule has no name: add a line such as name: git.force_push")
	case !c.Good(at + ".name"):
	case len(rf.Name) > 64 || !ruleName().MatchString(rf.Name):
		c.Report(at+".name",
			"name must be lower-case words joined by dots, at most 64 characters: write it like git.force_push")
	case slices.Contains(builtinFindings, rf.Name):
		c.report(at+".name", "%q is the name of a built-in finding: choose another", rf.Name)
	}
	v.Category, _, _ = strings.Cut(rf.Name, ".")
}

var decisions = []string{"allow", "ask", "deny"}

// decisionWord translates decisions of other dialects to ours.
func decisionWord(word string) string {
	switch word {
	case "block":
		return "deny"
	case "verify", "escalate":
		return "ask"
	}
	return word
}

// listDecisions are the decisions of rules in the three lists.
var listDecisions = map[string]string{"deny": "deny", "verify": "ask", "allow": "allow"}

func (c *compiler) decision(e entry, ttl time.Duration, v *approver.Verdict) {
	at, word := e.at, decisionWord(e.Decision)
	switch {
	case e.list != "" && c.Has(at+".decision"):
		c.ReportKey(at+".decision", "the rule stands in the list "+e.list+", which says what it decides: remove the line")
		return
	case e.list != "":
		word = listDecisions[e.list]
	case !c.Has(at + ".decision"):
		c.ReportKey(at, "the rule has no decision: add decision: allow, ask or deny")
		return
	case !c.Good(at + ".decision"):
		return
	}
	switch word {
	case "allow", "deny":
		if word == "allow" {
			v.Decision = approver.Allow
		}
		for _, key := range []string{"severity", "ttl"} {
			if c.Good(at + "." + key) {
				c.onlyForAsk(at+"."+key, word)
			}
		}
		return
	case "ask":
		v.Decision, v.TTL = approver.Ask, ttl
	default:
		c.Report(at+".decision", unknownWord("decision", e.Decision, decisions))
	}
	if c.Good(at + ".severity") {
		if err := v.Severity.UnmarshalText([]byte(e.Severity)); err != nil {
			c.Report(at+".severity", unknownWord("severity", e.Severity, []string{"high", "catastrophic"}))
		}
	}
	if c.Good(at + ".ttl") {
		v.TTL = c.ttl(at+".ttl", e.TTL)
	}
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
			c.report(at+key, "a reason must be one line of at most %d bytes", maxReason)
		}
	}
	v.Detail = cmp.Or(strings.TrimSpace(rf.Reason), "the policy's rule "+rf.Name+" matches")
	v.Reason = cmp.Or(strings.TrimSpace(rf.AgentReason), v.Detail)
	if v.Decision > approver.Ask {
		return // nobody reads why
	}
	if v.Says.Why = display.Sentence(strings.TrimSpace(rf.Reason)); v.Says.Why.IsZero() {
		v.Says.Why = display.Phrase{Text: "the rule %s of the policy asks or denies",
			Args: []string{display.OneLine(rf.Name)}}
	}
}

// A compiler makes a policy from the file as written, and collects problems.
type compiler struct {
	*strictyaml.File
	defines map[string]string

	patterns []*pattern // the good ones so far
	steps    int        // of all regular expressions so far

	audience Audience // nil: not known
}

// report reports a problem at a place of the file.
func (c *compiler) report(at, format string, args ...any) { c.Report(at, fmt.Sprintf(format, args...)) }

// badItem reports a problem of an item of a list.
func (c *compiler) badItem(at string, i int, format string, args ...any) {
	c.report(fmt.Sprintf("%s[%d]", at, i), format, args...)
}

// notEmpty reports a list without items. or is what can be done besides removing it.
func (c *compiler) notEmpty(at string, items int, or string) {
	if c.Good(at) && items == 0 {
		c.Report(at, keyOf(at)+" is empty: remove the line"+or)
	}
}

// notBoth reports two names of one key in a rule.
func (c *compiler) notBoth(at, key, alias string) {
	if c.Has(at+"."+key) && c.Has(at+"."+alias) {
		c.ReportKey(at+"."+alias, alias+" is another name of "+key+", which the rule has too: keep one")
	}
}

// onlyForAsk reports a key of a rule that does not ask.
func (c *compiler) onlyForAsk(at, decision string) {
	c.ReportKey(at, keyOf(at)+" is for rules that ask; this one decides "+decision+": remove the line")
}

// keyOf is the last key of a place.
func keyOf(at string) string { return at[strings.LastIndexByte(at, '.')+1:] }

func (c *compiler) toolGlobs(at string, names []string) []toolGlob {
	var out []toolGlob
	for i, name := range names {
		if _, err := path.Match(name, ""); err != nil || strings.TrimSpace(name) == "" || strings.Contains(name, "\\") {
			c.badItem(at, i, "tool %q is not a name: write it as the agent does, with * for any part", name)
		}
		out = append(out, toolGlob(name))
	}
	return out
}

func (c *compiler) pathGlobs(at string, patterns []string) (out []pathGlob) {
	for i, text := range patterns {
		g, err := newPathGlob(text)
		if err != nil {
			c.badItem(at, i, "path %q %s", text, err)
		}
		out = append(out, g)
	}
	return out
}

func unknownWord(what, word string, words []string) string {
	if near := strictyaml.Nearest(word, words); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q: one of %s", what, word, strings.Join(words, ", "))
}
