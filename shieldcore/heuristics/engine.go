package heuristics

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/match"
	"approver.example/internal/timing"
)

// By is what verdicts of the engine are signed with.
const By = "heuristics"

// The rules of the engine itself.
const (
	RuleNone    = "none"        // there are no rules
	RuleLong    = "too_long"    // more than MaxBytes
	RuleComplex = "too_complex" // the matcher gave up
)

// MaxBytes bounds the text of a call. A call with more is asked about.
const MaxBytes = 64 << 10

// maxWork bounds the bytes of text that all patterns together are run on; a byte takes
// about 50 ns.
const maxWork = 1 << 20

// windowsText matches texts that may be for PowerShell or cmd. It is wide, because it
// only enables the rules for Windows.
const windowsText = `\b(?:powershell|pwsh|cmd)(?:\.exe)?\b|\b[a-z]+\.exe\b|\b[a-z]:\\|%[a-z_]+%|\$env:|\bhk(?:lm` +
	`|cu|ey_)` +
	`|\b(?:add|clear|disable|enable|export|format|get|import|install|invoke|new|register|remove|restart|set|start|stop` +
	`|write)-[a-z]{3,}` +
	`|\b(?:vssadmin|bcdedit|wbadmin|wevtutil|schtasks|certutil|bitsadmin|mshta|regsvr32|rundll32|wmic|reg|net|netsh` +
	`|del|rd|erase|format|iex|iwr|irm)\s`

// An Engine judges calls by rules. It is a stage of the gate and safe for concurrent
// use. The zero value denies.
type Engine struct {
	rules    []Rule
	compiled []func() *regexp.Regexp // by rule: most are never tried, so they are compiled when they are
	keys     keys
	matcher  *match.Set // of the keys, and of windowsText
	pool     sync.Pool  // of *scratch
}

// scratch holds the buffers for one call, kept for the next one.
type scratch struct {
	texts   []text
	folded  []byte
	ids     []int
	has     []bool   // by key: whether the text has it
	try     []int    // the rules whose keys it has
	foundIn []Fields // by rule: where it was found
	found   []int
}

// New compiles rules. The error names every bad rule. With an error there is no engine,
// so that nothing runs with fewer rules than it was given.
func New(rules []Rule, limits match.Limits) (*Engine, error) {
	if len(rules) == 0 {
		return nil, errors.New("there are no heuristic rules")
	}
	var errs []error
	known := map[string]bool{}
	var keyIndex keys
	compiled := make([]func() *regexp.Regexp, 0, len(rules))
	for i := range rules {
		r := &rules[i]
		for _, f := range r.Faults() {
			errs = append(errs, fmt.Errorf("%s: rule %q: %s: %s", r.Where, r.ID, f.Field, f.Text))
		}
		if known[r.ID] {
			errs = append(errs, fmt.Errorf("%s: rule %q is there twice", r.Where, r.ID))
		}
		known[r.ID] = true
		branches, err := match.Keys(r.Pattern) // parses it, which is all that can fail in compiling it
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: rule %q: pattern: %w", r.Where, r.ID, err))
			continue
		}
		if len(branches) == 0 {
			errs = append(errs,
				fmt.Errorf("%s: rule %q: pattern: it has no word of two letters that every text must have: add one, or it "+
					"would be tried on every text", r.Where, r.ID))
			continue
		}
		compiled = append(compiled, lazyregexp.New(r.Pattern))
		keyIndex.add(i, r.ID, branches)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	matcher, err := match.New(append(keyIndex.patterns, match.Pattern{ID: "windows", Expr: windowsText}), limits)
	if err != nil {
		return nil, err
	}
	keyIndex.index = nil // is of no more use
	e := &Engine{rules: slices.Clone(rules), compiled: compiled, keys: keyIndex, matcher: matcher}
	e.pool.New = func() any {
		return &scratch{foundIn: make([]Fields, len(e.rules)), has: make([]bool, len(e.keys.users))}
	}
	return e, nil
}

// Rules returns the rules.
func (e *Engine) Rules() []Rule {
	if e == nil {
		return nil
	}
	return slices.Clone(e.rules)
}

// Keys returns the branches of each rule by its id. The rule is tried only on a text that
// has all keys of at least one branch.
func (e *Engine) Keys() map[string][][]string {
	out := map[string][][]string{}
	for _, r := range e.Rules() {
		out[r.ID], _ = match.Keys(r.Pattern) // were derived before
	}
	return out
}

// A Fate is what becomes of what a rule found. The zero value is that it counts.
type Fate struct {
	// Gone says that the rule does not count at all; Shadow that it is recorded and not enforced.
	Gone, Shadow bool
	// Allowed names the exception that drops the finding; empty if there is none.
	Allowed string
	// As is the rule of an earlier stage that says the same, and Covered says that this stage is at
	// least as strict as the finding. Both speak with one voice, that of the stricter.
	As      string
	Covered bool
}

// A Hit is what a rule found in a call.
type Hit struct {
	Rule string
	// Decision and Severity are what the rule makes of it.
	Decision approver.Decision
	Severity approver.Severity
	// Paths has the arguments in which it was found, if all of them are paths; else it is nil.
	Paths []string
}

// Judge implements [approver.Stage]. It denies if a rule with AlwaysBlock matches, asks
// the next tier if one with Escalate does, and else passes. The findings of the other
// rules are in the verdict's chain.
func (e *Engine) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return e.JudgeBy(call, func(Hit) Fate { return Fate{} })
}

// JudgeBy is Judge where fate says what becomes of each finding.
func (e *Engine) JudgeBy(call approver.ToolCall, fate func(Hit) Fate) (approver.Verdict, error) {
	if e == nil || e.matcher == nil {
		return approver.Verdict{By: By, Tier: approver.TierScreen, Rule: RuleNone, Reason: "approver has no heuristic rules",
			Detail: "the heuristic engine was not built"}, nil
	}
	s := e.pool.Get().(*scratch)
	defer e.release(s)
	trouble, err := e.scan(s, call)
	if err != nil {
		return approver.Verdict{}, err
	}
	v := approver.Verdict{Decision: approver.Pass, By: By, Tier: approver.TierScreen, Severity: approver.High}
	if trouble.Rule != "" {
		v = trouble
	}
	said := e.fates(s, &v, fate)
	first := -1
	for _, id := range s.found {
		if r := &e.rules[id]; r.Interrupts() && (first < 0 || stricter(r, &e.rules[first])) {
			first = id
		}
	}
	if first >= 0 && (e.rules[first].AlwaysBlock || trouble.Rule == "") {
		chain := v.Chain
		v = e.verdict(first, s.foundIn[first])
		v.Chain = chain
	}
	v.Shadow, v.Allowed, v.Same = said.shadow, said.allowed, said.same
	for _, id := range s.found {
		if r := &e.rules[id]; r.ID != v.Rule {
			v.Chain = append(v.Chain, r.finding(r.Reason))
		}
	}
	if trouble.Rule != "" && v.Rule != trouble.Rule {
		v.Chain = append(v.Chain, approver.Finding{By: By, Tier: approver.TierScreen, Rule: trouble.Rule,
			Decision: trouble.Decision, Severity: trouble.Severity, Note: trouble.Reason})
	}
	return v, nil
}

// Finds returns the ids of the rules that find something in a call. If not all of its text could be
// searched, there are none.
func (e *Engine) Finds(call approver.ToolCall) (ids []string) {
	if e == nil || e.matcher == nil {
		return nil
	}
	s := e.pool.Get().(*scratch)
	defer e.release(s)
	if trouble, err := e.scan(s, call); err != nil || trouble.Rule != "" {
		return nil
	}
	for _, id := range s.found {
		ids = append(ids, e.rules[id].ID)
	}
	return ids
}

// fated is what became of findings that do not count by themselves.
type fated struct {
	shadow, allowed []string
	same            []approver.Same
}

// fates takes from what was found what does not count, and puts it into the chain of v if it is worth
// a line there.
func (e *Engine) fates(s *scratch, v *approver.Verdict, fate func(Hit) Fate) (out fated) {
	counts := s.found[:0]
	for _, id := range s.found {
		r := &e.rules[id]
		f := fate(Hit{Rule: r.ID, Decision: r.Decision(), Severity: r.Severity(), Paths: s.paths(e, id)})
		switch {
		case f.Gone:
		case f.Shadow:
			out.shadow = append(out.shadow, r.ID)
			v.Chain = append(v.Chain, r.dropped("in shadow"))
		case f.Allowed != "":
			out.allowed = append(out.allowed, r.ID+" by "+f.Allowed)
			v.Chain = append(v.Chain, r.dropped("an exception drops it"))
		case f.As != "" && f.Covered:
			out.same = append(out.same, approver.Same{Rule: r.ID, As: f.As})
		default:
			if f.As != "" {
				out.same = append(out.same, approver.Same{Rule: r.ID, As: f.As, Decides: true})
			}
			counts = append(counts, id)
			continue
		}
		s.foundIn[id] = 0
	}
	s.found = counts
	return out
}

// paths returns the texts in which a rule was found, or nil if one of them is no path.
func (s *scratch) paths(e *Engine, id int) (out []string) {
	if s.foundIn[id] != Path {
		return nil
	}
	for _, t := range s.texts {
		if t.field == Path && e.compiled[id]().Match(match.Fold(nil, t.raw)) {
			out = append(out, t.raw)
		}
	}
	return out
}

// finding is the rule in a chain.
func (r *Rule) finding(note string) approver.Finding {
	return approver.Finding{By: By, Tier: approver.TierScreen, Rule: r.ID, Decision: r.Decision(),
		Severity: r.Severity(), Confidence: r.Level.Confidence(), Note: note}
}

// dropped is a finding of the rule that is not enforced.
func (r *Rule) dropped(why string) approver.Finding {
	f := r.finding(why)
	f.Shadow = true
	return f
}

// stricter reports whether a comes before b: the stricter decision, then the worse level.
func stricter(a, b *Rule) bool {
	if a.AlwaysBlock != b.AlwaysBlock {
		return a.AlwaysBlock
	}
	return a.Level < b.Level
}

// Decision returns what the rule makes of a call: Deny, Ask, or Pass if it only adds a reason.
func (r *Rule) Decision() approver.Decision {
	switch {
	case r.AlwaysBlock:
		return approver.Deny
	case r.Escalate:
		return approver.Ask
	}
	return approver.Pass
}

// Severity returns how people must approve a call that the rule asks about.
func (r *Rule) Severity() approver.Severity {
	if r.Level == Critical {
		return approver.Catastrophic
	}
	return approver.High
}

// MinTier returns the tier that a question is left to.
func (r *Rule) MinTier() uint8 {
	if r.Decision() == approver.Ask {
		return approver.TierEvaluation
	}
	return 0
}

func (e *Engine) verdict(id int, where Fields) approver.Verdict {
	r := &e.rules[id]
	v := approver.Verdict{
		Decision: r.Decision(), By: By, Tier: approver.TierScreen, Rule: r.ID, Where: r.Where,
		Reason:   r.Reason + "; " + r.Cure,
		Detail:   fmt.Sprintf("%s: %s (in the call's %s)", r.ID, r.Name, where),
		Category: r.Category, Severity: r.Severity(), Confidence: r.Level.Confidence(), MinTier: r.MinTier(),
		Says: display.Summary{Why: display.Sentence(r.Reason)},
	}
	return v
}

// scan notes the rules that match texts of a call. trouble is a verdict if not all text
// could be searched.
func (e *Engine) scan(s *scratch, call approver.ToolCall) (trouble approver.Verdict, err error) {
	for _, id := range s.found { // of the call before
		s.foundIn[id] = 0
	}
	s.found = s.found[:0]
	if s.texts, err = texts(s.texts[:0], call); err != nil {
		return trouble, err
	}
	shell := shellOf(call.Tool)
	bytes, work := 0, 0
	for _, t := range s.texts {
		raw := t.raw
		if t.field == Command && shell != Windows {
			raw = stripData(raw)
		}
		if bytes += len(raw); bytes > MaxBytes {
			return asked(RuleLong, "the call has more text than approver looks at",
				fmt.Sprintf("more than %d bytes of commands, paths, addresses and prompts", MaxBytes)), nil
		}
		s.folded = match.Fold(s.folded[:0], raw)
		ids, complete := e.matcher.MatchBytes(s.ids[:0], s.folded)
		s.ids = ids
		windows := shell == Windows || len(ids) > 0 && ids[len(ids)-1] == len(e.keys.patterns)
		s.try = e.keys.rules(s.try[:0], s.has, ids)
		for _, id := range s.try {
			if !e.rules[id].isFor(t.field, shell, windows) {
				continue
			}
			if work += len(s.folded); work > maxWork {
				complete = false
				break
			}
			if e.compiled[id]().Match(s.folded) {
				s.note(id, t.field)
			}
		}
		if !complete {
			return asked(RuleComplex, "the call's text is too complex to be looked at",
				"the matcher gave up in the call's "+t.field.String()), nil
		}
	}
	return trouble, nil
}

// isFor reports whether a rule applies to a text. windows says that the text may be for
// a shell of Windows, even if another shell gets it.
func (r *Rule) isFor(field Fields, shell Platform, windows bool) bool {
	return r.Fields&field != 0 && (r.Platform != Windows || windows) && (r.Platform != Unix || shell != Windows)
}

// release keeps the buffers for the next call, and nothing of this one.
func (e *Engine) release(s *scratch) {
	clear(s.texts)
	e.pool.Put(s)
}

// note notes where a rule was found.
func (s *scratch) note(id int, field Fields) {
	if s.foundIn[id] == 0 {
		s.found = append(s.found, id)
	}
	s.foundIn[id] |= field
}

func asked(rule, reason, detail string) approver.Verdict {
	return approver.Verdict{Decision: approver.Ask, By: By, Tier: approver.TierScreen, Rule: rule, Reason: reason,
		Detail: detail, MinTier: approver.TierEvaluation, Says: display.Summary{Why: display.Sentence(reason)}}
}

// shellOf returns Windows for tools that are a Windows shell, and else Any.
func shellOf(tool string) Platform {
	if strings.EqualFold(tool, "cmd") || containsFold(tool, "powershell") || containsFold(tool, "pwsh") {
		return Windows
	}
	return Any
}

// containsFold reports whether a text has an ASCII word in any case.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// Part is [timing.Reflex]: the engine needs nothing but the call.
func (e *Engine) Part() timing.Part { return timing.Reflex }
