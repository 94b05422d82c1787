package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// A variable has one value, or one of several.
type variable struct {
	name string
	data
	alts    []data   // more than one value is possible
	list    []data   // an array
	keys    []string // of its elements, where they are not 0, 1, 2 …; numbers in their order
	array   bool
	assoc   bool // its keys are any text
	unset   bool
	forms   []variable // more than one array is possible
	settled int        // how many alts it had after a loop's first round
	ref     string     // it stands for the variable of this name, or for an element
	refs    []string   // for one of these, ref is the first
	integer bool       // what is assigned is reckoned
	letters byte       // what is assigned becomes lower (l) or upper case (u)
	refers  bool       // what is assigned is the name that it stands for from then on
	passed  bool       // programs inherit it
	place   bool       // its value is where something is, as [interp.asksPlace] says
	shaken  bool       // a file may have set it to something else, see [interp.shake]
	branch  bool       // its value is the name of a branch, as [interp.asksBranch] says
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was  bool // there was one
	gone bool // unset uncovered it: it is restored already
	mark int  // the scope in which it was held
}

// lookup finds a variable, or nil.
func (in *interp) lookup(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := in.find(name)
		if v == nil || v.ref == "" {
			if v != nil && v.forms != nil {
				return &v.forms[in.pick(name, len(v.forms))]
			}
			return v
		}
		if name = v.ref; v.refs != nil {
			name = v.refs[in.pick(in.concat("&", v.name), len(v.refs))]
		}
		if base, index, ok := cutIndex(name); ok {
			return in.referredElement(base, index)
		}
	}
	return nil
}

// referredElement is an element as a variable of its own.
func (in *interp) referredElement(base, index string) *variable {
	v := in.lookup(base)
	if v == nil || !v.array {
		return &variable{name: base, data: unknown}
	}
	if v.assoc {
		return &variable{name: base, data: v.element(data{text: index})}
	}
	n, ok := in.integer(strings.TrimSpace(index), 0)
	if v = in.lookup(base); v == nil {
		return &variable{name: base, data: unknown}
	}
	return &variable{name: base, data: v.at(n, ok)}
}

func (in *interp) find(name string) *variable {
	in.steps += len(in.vars) / 64 // looking through many is work
	for i := len(in.vars) - 1; i >= 0; i-- {
		if in.vars[i].name == name {
			return &in.vars[i]
		}
	}
	return nil
}

// hold remembers a variable until [interp.restore].
func (in *interp) hold(name string) held {
	v := in.find(name)
	if v == nil {
		return held{variable: variable{name: name}, mark: in.mark}
	}
	h := held{variable: *v, was: true, mark: in.mark}
	h.list, h.keys = slices.Clone(v.list), slices.Clone(v.keys)
	return h
}

// restore gives a variable back the value that it had.
func (in *interp) restore(h held) {
	for i := len(in.vars) - 1; i >= in.mark; i-- {
		if in.vars[i].name == h.name {
			in.vars[i] = h.variable
			if !h.was {
				in.vars[i] = variable{}
				if i == len(in.vars)-1 {
					in.vars = in.vars[:i]
				}
			}
			return
		}
	}
	if h.was {
		in.vars = append(in.vars, h.variable)
	}
}

// uncover takes away the variable that a function which called this one has for itself, or
// that was set for this call alone, so that the one that it hid is seen again. It is false
// if there is none.
func (in *interp) uncover(name string) bool {
	for i := len(in.locals) - 1; i >= 0; i-- {
		h := in.locals[i]
		if h.name != name || h.gone {
			continue
		}
		if i >= in.frame { // its own stays, without a value
			return false
		}
		in.restore(h)
		in.locals[i].gone = in.mark == h.mark
		return true
	}
	return false
}

// slot returns the variable to assign to, in the present scope.
func (in *interp) slot(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := in.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	for i := len(in.vars) - 1; i >= in.mark; i-- {
		if in.vars[i].name == name {
			return &in.vars[i]
		}
	}
	if len(in.vars) >= in.lim.Fields {
		in.over("variables")
	}
	v := variable{name: name}
	if outer := in.find(name); outer != nil {
		v = *outer
		v.list, v.keys = append([]data(nil), outer.list...), append([]string(nil), outer.keys...)
	}
	in.vars = append(in.vars, v)
	return &in.vars[len(in.vars)-1]
}

// set assigns to a variable, or to an element of an array.
func (in *interp) set(name string, d data) {
	if v := in.find(name); v != nil && v.refs != nil {
		in.setEach(v.refs, d)
		return
	}
	name = in.referred(name)
	if !effect.IsKnown(name) {
		in.setAny(name, d)
		return
	}
	if base, index, ok := cutIndex(name); ok {
		in.setElement(base, index, d)
		return
	}
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO":
		in.reckoned(d) // which may run something
	case "BASH_ARGV0":
		in.zero = d
	}
	v := in.slot(name)
	if v.refers && d.known() && d.text != "" {
		*v = variable{name: v.name, ref: d.text}
		return
	}
	integer := v.integer
	d.text = cased(v.letters, d.text)
	*v = variable{name: v.name, data: d, integer: integer, letters: v.letters, refers: v.refers, passed: v.passed}
	if integer {
		d = in.reckoned(d)
		v = in.slot(name)
		v.data = d
	}
}

// cased is a text in the letters that a variable has.
func cased(letters byte, text string) string {
	switch letters {
	case 'l':
		return strings.ToLower(text)
	case 'u':
		return strings.ToUpper(text)
	}
	return text
}

// lettersOf is what flags of declare say of them: l, u, or 0 for nothing.
func lettersOf(flags string) byte {
	i := strings.LastIndexAny(flags, "lu")
	if i < 0 {
		return 0
	}
	return flags[i]
}

// reckoned is what a variable holds that takes numbers only.
func (in *interp) reckoned(d data) data {
	if n, ok := in.integer(strings.TrimSpace(d.text), 0); ok && d.known() {
		return data{strconv.FormatInt(n, 10), d.taint}
	}
	return data{"1" + effect.Unknown, d.taint}
}

// unrefer makes a reference a name that is not set.
func (in *interp) unrefer(v variable) {
	for i := len(in.vars) - 1; i >= in.mark; i-- {
		if in.vars[i].name == v.name {
			in.vars[i] = variable{name: v.name, unset: true}
			return
		}
	}
	in.vars = append(in.vars, variable{name: v.name, unset: true})
}

// referred is the name of the variable, or of the element, that a name stands for.
func (in *interp) referred(name string) string {
	for range 8 {
		v := in.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	return name
}

// A scope is what a subshell or a branch has for itself.
type scope struct {
	mark, length   int
	dir, before    string
	beside         string
	may            string
	out            connected
	params         []data
	others         [][]data
	funcs, aliases int
	zero           data
	apart          apart
	readonly       int
	hooks          int
	rewired        int
}

// enter begins a scope for variables, directory and parameters.
func (in *interp) enter() scope {
	s := scope{in.mark, len(in.vars), in.dir, in.before, in.beside, in.may, in.out, in.params, in.others, len(in.funcs), len(in.aliases), in.zero, in.apart, len(in.readonly), len(in.hooks), len(in.rewired)}
	in.mark = s.length
	return s
}

// branch begins a scope that [interp.join] ends.
func (in *interp) branch() scope {
	in.branches++
	return in.enter()
}

// leave ends a scope and forgets what became of it, as a subshell does.
func (in *interp) leave(s scope) {
	in.runLate(s.hooks)
	clear(in.vars[s.length:])
	in.mark, in.vars, in.dir, in.before, in.beside, in.may, in.out, in.params, in.others = s.mark, in.vars[:s.length], s.dir, s.before, s.beside, s.may, s.out, s.params, s.others
	in.funcs, in.aliases = in.funcs[:s.funcs], in.aliases[:min(s.aliases, len(in.aliases))]
	in.zero, in.apart, in.readonly, in.rewired = s.zero, s.apart, in.readonly[:s.readonly], in.rewired[:min(s.rewired, len(in.rewired))]
}

// join ends the scope of a branch: what it assigned is one more possibility.
func (in *interp) join(s scope) {
	in.branches--
	dir, params, others := in.dir, in.params, in.others
	in.mark, in.params, in.others = s.mark, s.params, s.others
	if others != nil || (params == nil) != (s.params == nil) || len(params) != len(s.params) || len(params) > 0 && &params[0] != &s.params[0] {
		in.joinParams(params, others)
	}
	for i := s.funcs; i < len(in.funcs); i++ {
		in.funcs[i].maybe = true
	}
	for i := s.aliases; i < len(in.aliases); i++ {
		in.aliases[i].maybe = true
	}
	if len(in.vars) > s.length {
		changed := append([]variable(nil), in.vars[s.length:]...)
		clear(in.vars[s.length:])
		in.vars = in.vars[:s.length]
		for _, v := range changed {
			if v.name != "" {
				in.merge(v)
			}
		}
	}
	if in.dir = s.dir; dir != s.dir {
		in.dir = effect.Unknown
		if strings.HasPrefix(dir, "/") {
			in.may = dir // or the one from before
		}
	}
	if in.may == "" {
		in.may = s.may
	}
	if in.zero != s.zero {
		in.zero = data{effect.Unknown, in.zero.taint | s.zero.taint}
	}
}

// merge makes what a branch assigned one more possible value.
func (in *interp) merge(v variable) {
	old := in.find(v.name)
	if v.array || v.ref != "" || v.forms != nil || old != nil && (old.array || old.forms != nil) {
		in.mergeArray(old, v)
		return
	}
	var alts []data
	switch {
	case old == nil:
		alts = append(alts, in.environment(v.name))
	case old.alts != nil:
		alts = append(alts, old.alts...)
	default:
		alts = append(alts, old.data)
	}
	more := v.alts
	if more == nil {
		more = []data{v.data}
	}
	for _, d := range more {
		if v.unset && v.name == "IFS" {
			d.text = " \t\n" // not "", which separates nothing
		}
		have := false
		for i := range alts {
			if have = alts[i].text == d.text; have {
				alts[i].taint |= d.taint
				break
			}
		}
		if !have {
			alts = append(alts, d)
		}
	}
	slot := in.slot(v.name)
	*slot = variable{name: slot.name, data: alts[0], settled: slot.settled, letters: max(slot.letters, v.letters), passed: slot.passed && v.passed, shaken: slot.shaken || v.shaken}
	if len(alts) > in.lim.Alternatives {
		slot.data = unknown
		for _, d := range alts {
			slot.taint |= d.taint
		}
		return
	}
	if len(alts) > 1 {
		slot.alts = alts
	}
}

// mergeArray does it for arrays. One that only grew takes the place of the other.
func (in *interp) mergeArray(old *variable, v variable) {
	var forms []variable
	if old != nil {
		grew := old.array && v.array && len(v.list) >= len(old.list) && slices.Equal(old.list, v.list[:len(old.list)]) && sameKeys(old, &v)
		switch {
		case grew && v.forms == nil:
		case old.forms != nil:
			forms = append(forms, old.forms...)
		default:
			forms = append(forms, *old)
		}
	}
	if v.forms != nil {
		forms = append(forms, v.forms...)
	} else if len(forms) > 0 {
		forms = append(forms, v)
	}
	slot := in.slot(v.name)
	*slot = v
	if slot.forms = nil; len(forms) > 1 && len(forms) <= in.lim.Alternatives {
		slot.forms = forms
	}
}
