package reflexcore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/match"
)

// A Rule is one thing that the engine looks for. It matches a call if one of its
// conditions holds for one of the call's effects, or its pattern is found in the
// call's text. The zero Rule matches nothing, and would deny.
type Rule struct {
	// ID is the rule's stable name, such as "delete_root"; Category groups rules.
	ID, Category string
	// Decision is Deny, Ask or Warn; Severity says how people must approve.
	Decision approver.Decision
	Severity approver.Severity
	// Confidence is how sure the rule is of what it saw, 0 to 1.
	Confidence float64
	// Reason is one sentence on what it saw; Cure says what to do instead.
	Reason, Cure string
	// When holds conditions over effects: any of them.
	When []Condition
	// Pattern is a regular expression (RE2, lower case: text is folded to lower-case
	// ASCII) over the command, and over every text that was found encoded in it.
	Pattern string
	// Where is the rule's place in its file.
	Where approver.Position
}

// A Condition holds for an effect if all that it names is so. An empty list says
// nothing.
type Condition struct {
	Effects  []effect.Kind // one of these
	Places   []string      // the target is one of these, in the words of [PlaceNames]
	Never    []string      // and none of these
	Targets  []string      // the target matches one of these; * is any text
	How      []string      // all of these bits
	Without  []string      // none of these bits
	From     []string      // data of one of these taints
	What     []string      // the effect's What is one of these; * is any text
	By       []string      // by one of these programs; * is any text
	NotBy    []string      // by none of these
	Certain  bool          // all of the target is known, and none of it partial
	Together []effect.Kind // the call has one of these effects too
}

// PlaceNames returns the words for places, sorted.
func PlaceNames() []string { return slices.Sorted(maps.Keys(placeNames)) }

// compiled is a condition as it is checked.
type compiled struct {
	kinds, together uint32
	places, never   Place
	how, without    effect.Bits
	from            effect.Taint
	targets, by     []string
	what, notBy     []string
	certain         bool
	rule            int
}

// rules is a compiled set.
type rules struct {
	list     []Rule
	byKind   [16][]compiled // conditions by the kind of effect
	patterns *match.Set
	ofMatch  []int // the rule of each pattern
}

// compile checks rules. Every problem is in the error.
func compile(list []Rule) (*rules, error) {
	r := &rules{list: list}
	var errs []error
	seen := map[string]bool{}
	var patterns []match.Pattern
	for i, rule := range list {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%srule %q: %s", at(rule.Where), rule.ID, fmt.Sprintf(format, args...)))
		}
		switch {
		case rule.ID == "":
			fail("it has no id")
		case seen[rule.ID]:
			fail("the id is used twice")
		case rule.Reason == "":
			fail("it has no reason: say in one sentence what it saw")
		case rule.Decision != approver.Deny && rule.Decision != approver.Ask && rule.Decision != approver.Warn:
			fail("its decision is %s: deny, ask or warn", rule.Decision)
		case len(rule.When) == 0 && rule.Pattern == "":
			fail("it has no condition and no pattern")
		}
		seen[rule.ID] = true
		for _, when := range rule.When {
			c, err := when.compile()
			if err != nil {
				fail("%v", err)
			}
			c.rule = i
			for k := range r.byKind {
				if c.kinds&(1<<k) != 0 {
					r.byKind[k] = append(r.byKind[k], c)
				}
			}
		}
		if rule.Pattern != "" {
			for _, w := range match.Lint(rule.Pattern) {
				fail("%s: %s", w.Rule, w.Text)
			}
			patterns = append(patterns, match.Pattern{ID: rule.ID, Expr: rule.Pattern})
			r.ofMatch = append(r.ofMatch, i)
		}
	}
	if len(patterns) > 0 && len(errs) == 0 {
		set, err := match.New(patterns, match.Limits{})
		if err != nil {
			errs = append(errs, err)
		}
		r.patterns = set
	}
	return r, errors.Join(errs...)
}

func at(p approver.Position) string {
	if p.File == "" {
		return ""
	}
	return p.String() + ": "
}

func (c Condition) compile() (compiled, error) {
	out := compiled{certain: c.Certain, targets: lowerAll(c.Targets), by: lowerAll(c.By), what: lowerAll(c.What), notBy: lowerAll(c.NotBy)}
	if len(c.Effects) == 0 {
		return out, errors.New("a condition names no effect")
	}
	for _, k := range c.Effects {
		out.kinds |= 1 << k
	}
	for _, k := range c.Together {
		out.together |= 1 << k
	}
	var errs []error
	places := func(names []string) (p Place) {
		for _, name := range names {
			bit, ok := placeNames[name]
			if !ok {
				errs = append(errs, fmt.Errorf("there is no place %q: one of %s", name, strings.Join(PlaceNames(), ", ")))
			}
			p |= bit
		}
		return p
	}
	out.places, out.never = places(c.Places), places(c.Never)
	bits := func(names []string) (b effect.Bits) {
		for _, name := range names {
			bit, ok := effect.BitOf(name)
			if !ok {
				errs = append(errs, fmt.Errorf("there is no bit %q: one of %s", name, strings.Join(effect.BitNames(), ", ")))
			}
			b |= bit
		}
		return b
	}
	out.how, out.without = bits(c.How), bits(c.Without)
	for _, name := range c.From {
		t, ok := effect.TaintOf(name)
		if !ok {
			errs = append(errs, fmt.Errorf("there is no taint %q: one of %s", name, strings.Join(effect.TaintNames(), ", ")))
		}
		out.from |= t
	}
	return out, errors.Join(errs...)
}

func lowerAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// holds reports whether a condition holds for an effect at a place.
func (c *compiled) holds(e *effect.Effect, at Place, all uint32) bool {
	return (c.places == 0 || at&c.places != 0) && at&c.never == 0 &&
		e.Bits&c.how == c.how && e.Bits&c.without == 0 &&
		(c.from == 0 || e.Taint&c.from != 0) &&
		(c.together == 0 || all&c.together != 0) &&
		(!c.certain || e.Known()) &&
		(len(c.targets) == 0 || anyGlob(c.targets, e.Target)) &&
		(len(c.what) == 0 || anyGlob(c.what, e.What)) &&
		(len(c.by) == 0 || anyGlob(c.by, e.By)) && !anyGlob(c.notBy, e.By)
}

func anyGlob(globs []string, text string) bool {
	for _, g := range globs {
		if glob(g, text) {
			return true
		}
	}
	return false
}

// glob compares a lower-case pattern, in which * is any text, with a text.
func glob(pattern, text string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(text) {
		c := text[j]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && pattern[i] == c:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
