package reflexcore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/match"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/places"
)

// compiled is a condition that is ready to be checked.
type compiled struct {
	kinds, together uint32
	places, never   places.Place
	how, without    effect.Bits
	from, fromAll   effect.Taint
	targets, except []textGlob
	what, by, notBy []textGlob
	reads           []textGlob
	readsAt         places.Place
	moreThan        int
	certain         bool
	rule            *Rule
	specificity     int // how specific it is
}

// Rules is a compiled set. It does not change, and is safe for concurrent use.
type Rules struct {
	// Sources are the sources of labels that a project adds, see package flow.
	Sources flow.Sources

	list     []Rule
	byKind   [16]bucket // conditions by the kind of effect
	placed   uint32     // the kinds of effects that have a condition
	patterns *match.Set
	ofMatch  []*Rule // the rule of each pattern

	heuristics map[string]*Rule   // by id
	disabled   map[string]bool    // heuristics, by id
	twins      map[string][]*Rule // by built-in rule: the heuristics that say the same and have exceptions
}

// A bucket indexes conditions so that most are never looked at. A condition on whole program names
// is found by the first word of the effect's By, and one on whole values of What by that. The keys
// are hashes; a collision costs only time.
type bucket struct {
	always   list
	by, what map[uint32]*list
}

func (b *bucket) empty() bool { return len(b.always.all)+len(b.by)+len(b.what) == 0 }

func (b *bucket) add(c compiled) {
	into := func(m *map[uint32]*list, keys []uint32) {
		if *m == nil {
			*m = map[uint32]*list{}
		}
		for _, k := range keys {
			if (*m)[k] == nil {
				(*m)[k] = &list{}
			}
			(*m)[k].all = append((*m)[k].all, c)
		}
	}
	if keys := hashes(c.by, true); keys != nil {
		into(&b.by, keys)
	} else if keys := hashes(c.what, false); keys != nil {
		into(&b.what, keys)
	} else {
		b.always.all = append(b.always.all, c)
	}
}

// index indexes the lists that have many conditions.
func (b *bucket) index() {
	b.always.index()
	for _, l := range b.by {
		l.index()
	}
	for _, l := range b.what {
		l.index()
	}
}

// hashes returns the hashes of globs, or nil if a wildcard makes it impossible. With first, only the
// first words are hashed and must be free of wildcards.
func hashes(globs []textGlob, first bool) (out []uint32) {
	for _, g := range globs {
		word, _, _ := strings.Cut(g.text, " ")
		if !first {
			word = g.text
		}
		if strings.Contains(word, "*") {
			return nil
		}
		if h := hash(word, first); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// hash is FNV-1a over a lower-cased text, or over its first word.
func hash(text string, first bool) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		c := text[i]
		if first && c == ' ' {
			break
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// Compile checks rules and makes a set. It fails if any rule is not usable, and the error names
// every such rule by its position. [match.Lint] finds patterns that are slow, or that miss what
// folding changes. disabled are the rules that layers took away: of these, the set only knows that
// the heuristics among them do not count.
func Compile(list []Rule, disabled ...Rule) (*Rules, error) {
	r := &Rules{list: slices.Clone(list), disabled: map[string]bool{}}
	for i := range disabled {
		r.disabled[disabled[i].ID] = disabled[i].Heuristic
	}
	var errs []error
	seen := map[string]bool{}
	var patterns []match.Pattern
	for i := range r.list {
		rule := &r.list[i]
		fail := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			errs = append(errs, fmt.Errorf("%srule %q: %s", positionPrefix(rule.Where), rule.ID, text))
		}
		for _, f := range rule.Faults() {
			fail("%s", f.Text)
		}
		if seen[rule.ID] {
			fail("the id is used twice")
		}
		seen[rule.ID] = true
		if rule.Heuristic {
			r.addHeuristic(rule)
		}
		for _, when := range rule.When {
			c, err := when.compile()
			if err != nil {
				fail("%v", err)
			}
			c.rule = rule
			for k := range r.byKind {
				if c.kinds&(1<<k) != 0 {
					r.byKind[k].add(c)
					r.placed |= 1 << k
				}
			}
		}
		if rule.Pattern != "" {
			patterns = append(patterns, match.Pattern{ID: rule.ID, Expr: rule.Pattern})
			r.ofMatch = append(r.ofMatch, rule)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for k := range r.byKind {
		r.byKind[k].index()
	}
	if len(patterns) > 0 {
		set, err := match.New(patterns, match.Limits{Instructions: maxInstructions})
		if err != nil {
			return nil, fmt.Errorf("the patterns of rules: %w", err)
		}
		r.patterns = set
	}
	return r, nil
}

// addHeuristic indexes a heuristic.
func (r *Rules) addHeuristic(h *Rule) {
	if r.heuristics == nil {
		r.heuristics, r.twins = map[string]*Rule{}, map[string][]*Rule{}
	}
	r.heuristics[h.ID] = h
	if len(h.Allow) == 0 {
		return
	}
	for _, id := range h.Twins {
		r.twins[id] = append(r.twins[id], h)
	}
}

// Heuristic returns a heuristic as the layers left it, and whether it is disabled. If the set knows
// nothing of it, no layer has changed it.
func (r *Rules) Heuristic(id string) (h *Rule, disabled bool) {
	if r == nil {
		return nil, false
	}
	return r.heuristics[id], r.disabled[id]
}

// maxInstructions bounds the patterns of all rules together: some hundred thousand of usual length.
const maxInstructions = 8_000_000

// List returns the rules of the set, and the heuristics. It must not be changed.
func (r *Rules) List() []Rule { return r.list }

// facts are what conditions ask about the call as a whole. They are computed once, because a call
// may have thousands of effects.
type facts struct {
	effects []effect.Effect
	kinds   uint32
	around  *places.Surroundings
	paths   *places.Cache
	inCall  map[*compiled]bool
	moves   []int             // effects that move something
	parts   []part            // a buffer, see list
	made    map[string]string // files that are written where the call may delete them again, and by what
}

func (f *facts) reset(effects []effect.Effect) {
	clear(f.inCall)
	clear(f.made)
	*f = facts{effects: effects, inCall: f.inCall, moves: f.moves[:0], made: f.made, parts: f.parts[:0]}
	for i := range effects {
		e := &effects[i]
		if !effect.OnlyMakes(e) {
			f.kinds |= 1 << e.Kind
		}
		if (e.Kind == effect.Write || e.Kind == effect.Delete) && effect.Moves(e) {
			f.moves = append(f.moves, i)
		}
	}
}

// noteMade notes a file that is written in a temporary folder or in the project.
func (f *facts) noteMade(e *effect.Effect, at places.Place) {
	if e.Kind != effect.Write || e.Bits != 0 || effect.Moves(e) || at&(places.Temp|places.Project) == 0 ||
		at&(places.Whole|places.Git|places.System) != 0 {
		return
	}
	if f.made == nil {
		f.made = map[string]string{}
	}
	f.made[e.Target] = e.By
}

// find appends what the conditions find about the i-th effect of a call.
func (r *Rules) find(to []finding, i int, call *facts, at places.Place) []finding {
	e := &call.effects[i]
	b := &r.byKind[e.Kind]
	start, has := len(to), effectFacts{lettersOf(e.Target), lettersOf(e.By), lettersOf(e.What), e.Bits | e.Amount()}
	to = b.always.find(to, start, i, call, &has, at)
	if b.by != nil {
		to = b.by[hash(e.By, true)].find(to, start, i, call, &has, at)
	}
	if b.what != nil {
		to = b.what[hash(e.What, false)].find(to, start, i, call, &has, at)
	}
	return to
}

// effectFacts has the letters of an effect's texts, and how it happens.
type effectFacts struct {
	target, by, what letters
	how              effect.Bits
}

// find appends what one condition finds. A rule finds an effect once, by its most specific condition.
func (c *compiled) find(to []finding, start, i int, call *facts, has *effectFacts, at places.Place) []finding {
	if !c.holds(&call.effects[i], has, at, call.kinds) || c.needsCall() && !c.holdsInCall(call) {
		return to
	}
	if k := slices.IndexFunc(to[start:], func(f finding) bool { return f.rule == c.rule }); k >= 0 {
		to[start+k].specificity = max(to[start+k].specificity, c.specificity)
		return to
	}
	return append(to, finding{rule: c.rule, specificity: c.specificity, effect: i, layer: -1})
}

func positionPrefix(p approver.Position) string {
	if p.File == "" {
		return ""
	}
	return p.String() + ": "
}

// Check returns what is wrong with the condition.
func (c Condition) Check() error {
	_, err := c.compile()
	return err
}

func (c Condition) compile() (compiled, error) {
	out := compiled{
		certain: c.Certain, moreThan: c.MoreThan,
		targets: compileGlobs(c.Targets), except: compileGlobs(c.Except), reads: compileGlobs(c.Reads),
		by: compileNames(c.By), what: compileGlobs(c.What), notBy: compileNames(c.NotBy),
	}
	if len(c.Effects) == 0 {
		return out, errors.New("a condition names no effect")
	}
	if c.MoreThan < 0 {
		return out, errors.New("more_than must not be below 0")
	}
	for _, k := range c.Effects {
		out.kinds |= 1 << k
	}
	for _, k := range c.Together {
		out.together |= 1 << k
	}
	var errs []error
	place := func(list []string) places.Place { return bitsOf(&errs, "place", list, places.Named, places.Names) }
	out.places, out.never, out.readsAt = place(c.Places), place(c.Never), place(c.ReadsAt)
	bits := func(list []string) effect.Bits { return bitsOf(&errs, "bit", list, effect.BitOf, effect.BitNames) }
	out.how, out.without = bits(c.How), bits(c.Without)
	taint := func(list []string) effect.Taint {
		return bitsOf(&errs, "taint", list, effect.TaintOf, effect.TaintNames)
	}
	out.from, out.fromAll = taint(c.From), taint(c.FromAll)
	out.specificity = c.specificity()
	return out, errors.Join(errs...)
}

// bitsOf combines the bits of words, and adds an error for each unknown word.
func bitsOf[T ~uint8 | ~uint16 | ~uint32 | ~uint64](errs *[]error, kind string, words []string,
	of func(string) (T, bool), all func() []string) (bits T) {
	for _, word := range words {
		bit, ok := of(word)
		if !ok {
			*errs = append(*errs, fmt.Errorf("there is no %s %q: one of %s", kind, word, strings.Join(all(), ", ")))
		}
		bits |= bit
	}
	return bits
}

// specificity is how specific a condition is, for the choice between otherwise equal findings. A
// named program, thing or target counts more than a property.
func (c *Condition) specificity() (n int) {
	for _, list := range [][]string{c.By, c.What, c.Targets} {
		if len(list) > 0 {
			n += 4
		}
	}
	for _, list := range [][]string{c.Places, c.Never, c.How, c.Without, c.From, c.FromAll, c.NotBy} {
		if len(list) > 0 {
			n++
		}
	}
	if len(c.Together) > 0 {
		n++
	}
	if len(c.Reads) > 0 || len(c.ReadsAt) > 0 || c.MoreThan > 0 {
		n += 4
	}
	if c.Certain {
		n++
	}
	return n
}

// needsCall reports whether the condition is also about the rest of the call.
func (c *compiled) needsCall() bool { return len(c.reads) > 0 || c.readsAt != 0 || c.moreThan > 0 }

// holdsInCall reports whether the rest of a call matches the condition: what it reads, and how many
// such effects it has.
func (c *compiled) holdsInCall(call *facts) bool {
	if holds, known := call.inCall[c]; known {
		return holds
	}
	reads, there, count := len(c.reads) == 0, c.readsAt == 0, 0
	for i := range call.effects {
		e := &call.effects[i]
		reads = reads || e.Kind == effect.Read && anyGlob(c.reads, e.Target, lettersOf(e.Target))
		there = there || e.Kind == effect.Read && call.around.Of(e, call.paths)&c.readsAt != 0
		if c.kinds&(1<<e.Kind) != 0 && (e.Bits|e.Amount())&c.how == c.how && c.isAbout(e, lettersOf(e.What)) {
			count++
		}
	}
	if c.moreThan > 0 && count > c.moreThan {
		count -= c.repeated(call.effects)
	}
	if call.inCall == nil {
		call.inCall = map[*compiled]bool{}
	}
	call.inCall[c] = reads && there && count > c.moreThan
	return call.inCall[c]
}

// repeated counts the effects of a condition's kinds on a target that an earlier one has, too: a loop
// that tries again sends to one host. What the call itself finds out may be another one each time.
func (c *compiled) repeated(effects []effect.Effect) (n int) {
	seen := map[string]bool{}
	for i := range effects {
		e := &effects[i]
		if c.kinds&(1<<e.Kind) == 0 || !effect.IsKnown(e.Target) && e.Bits&effect.Inherited == 0 {
			continue
		}
		if (e.Bits|e.Amount())&c.how == c.how && c.isAbout(e, lettersOf(e.What)) {
			if seen[e.Target] {
				n++
			}
			seen[e.Target] = true
		}
	}
	return n
}

// holds reports whether a condition holds for an effect at a place; all are the kinds of the call's
// effects.
func (c *compiled) holds(e *effect.Effect, has *effectFacts, at places.Place, all uint32) bool {
	return (c.places == 0 || at&c.places != 0) && at&c.never == 0 &&
		has.how&c.how == c.how && e.Bits&c.without == 0 &&
		(c.from == 0 || e.Taint&c.from != 0) && e.Taint&c.fromAll == c.fromAll &&
		(c.together == 0 || all&c.together != 0) &&
		(!c.certain || e.Known()) &&
		(len(c.targets) == 0 || anyGlob(c.targets, e.Target, has.target)) && !anyGlob(c.except, e.Target, has.target) &&
		c.isAbout(e, has.what) &&
		(len(c.by) == 0 || anyGlob(c.by, e.By, has.by)) && !anyGlob(c.notBy, e.By, has.by)
}

// isAbout reports whether a condition is about this kind of an effect. What only makes a folder or an
// empty file is no write, unless the condition asks for it.
func (c *compiled) isAbout(e *effect.Effect, what letters) bool {
	if len(c.what) == 0 {
		return !effect.OnlyMakes(e)
	}
	return anyGlob(c.what, e.What, what)
}
