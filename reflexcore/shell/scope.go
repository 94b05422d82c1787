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
	place   bool       // its value is where something is, as [definitions.asksPlace] says
	shaken  bool       // a file may have set it to something else, see [variables.shake]
	branch  bool       // its value is the name of a branch, as [definitions.asksBranch] says
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was  bool // there was one
	gone bool // unset uncovered it: it is restored already
	mark int  // the scope in which it was held
}

// lookup finds a variable, or nil.
func (pm *parameters) lookup(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := pm.in.vars.find(name)
		if v == nil || v.ref == "" {
			if v != nil && v.forms != nil {
				return &v.forms[pm.in.alt.pick(name, len(v.forms))]
			}
			return v
		}
		if name = v.ref; v.refs != nil {
			name = v.refs[pm.in.alt.pick(pm.in.arena.concat("&", v.name), len(v.refs))]
		}
		if base, index, ok := cutIndex(name); ok {
			return pm.referredElement(base, index)
		}
	}
	return nil
}

// referredElement is an element as a variable of its own.
func (pm *parameters) referredElement(base, index string) *variable {
	v := pm.lookup(base)
	if v == nil || !v.array {
		return &variable{name: base, data: unknown}
	}
	if v.assoc {
		return &variable{name: base, data: v.element(data{text: index})}
	}
	n, ok := pm.in.math.integer(strings.TrimSpace(index), 0)
	if v = pm.lookup(base); v == nil {
		return &variable{name: base, data: unknown}
	}
	return &variable{name: base, data: v.at(n, ok)}
}

func (vs *variables) find(name string) *variable {
	vs.rep.steps += len(vs.list) / 64 // looking through many is work
	for i := len(vs.list) - 1; i >= 0; i-- {
		if vs.list[i].name == name {
			return &vs.list[i]
		}
	}
	return nil
}

// hold remembers a variable until [variables.restore].
func (vs *variables) hold(name string) held {
	v := vs.find(name)
	if v == nil {
		return held{variable: variable{name: name}, mark: vs.mark}
	}
	h := held{variable: *v, was: true, mark: vs.mark}
	h.list, h.keys = slices.Clone(v.list), slices.Clone(v.keys)
	return h
}

// restore gives a variable back the value that it had.
func (vs *variables) restore(h held) {
	for i := len(vs.list) - 1; i >= vs.mark; i-- {
		if vs.list[i].name == h.name {
			vs.list[i] = h.variable
			if !h.was {
				vs.list[i] = variable{}
				if i == len(vs.list)-1 {
					vs.list = vs.list[:i]
				}
			}
			return
		}
	}
	if h.was {
		vs.list = append(vs.list, h.variable)
	}
}

// uncover takes away the variable that a function which called this one has for itself, or
// that was set for this call alone, so that the one that it hid is seen again. It is false
// if there is none.
func (vs *variables) uncover(name string) bool {
	for i := len(vs.locals) - 1; i >= 0; i-- {
		h := vs.locals[i]
		if h.name != name || h.gone {
			continue
		}
		if i >= vs.frame { // its own stays, without a value
			return false
		}
		vs.restore(h)
		vs.locals[i].gone = vs.mark == h.mark
		return true
	}
	return false
}

// slot returns the variable to assign to, in the present scope.
func (vs *variables) slot(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := vs.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	for i := len(vs.list) - 1; i >= vs.mark; i-- {
		if vs.list[i].name == name {
			return &vs.list[i]
		}
	}
	if len(vs.list) >= vs.rep.lim.Fields {
		vs.rep.over("variables")
	}
	v := variable{name: name}
	if outer := vs.find(name); outer != nil {
		v = *outer
		v.list, v.keys = append([]data(nil), outer.list...), append([]string(nil), outer.keys...)
	}
	vs.list = append(vs.list, v)
	return &vs.list[len(vs.list)-1]
}

// set assigns to a variable, or to an element of an array.
func (as *assigner) set(name string, d data) {
	if v := as.in.vars.find(name); v != nil && v.refs != nil {
		as.setEach(v.refs, d)
		return
	}
	name = as.in.vars.referred(name)
	if !effect.IsKnown(name) {
		as.setAny(name, d)
		return
	}
	if base, index, ok := cutIndex(name); ok {
		as.setElement(base, index, d)
		return
	}
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO":
		as.in.math.reckoned(d) // which may run something
	case "BASH_ARGV0":
		as.in.par.zero = d
	}
	v := as.in.vars.slot(name)
	if v.refers && d.known() && d.text != "" {
		*v = variable{name: v.name, ref: d.text}
		return
	}
	integer := v.integer
	d.text = cased(v.letters, d.text)
	*v = variable{name: v.name, data: d, integer: integer, letters: v.letters, refers: v.refers, passed: v.passed}
	if integer {
		d = as.in.math.reckoned(d)
		v = as.in.vars.slot(name)
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
func (ar *arithmetic) reckoned(d data) data {
	if n, ok := ar.integer(strings.TrimSpace(d.text), 0); ok && d.known() {
		return data{strconv.FormatInt(n, 10), d.taint}
	}
	return data{"1" + effect.Unknown, d.taint}
}

// unrefer makes a reference a name that is not set.
func (vs *variables) unrefer(v variable) {
	for i := len(vs.list) - 1; i >= vs.mark; i-- {
		if vs.list[i].name == v.name {
			vs.list[i] = variable{name: v.name, unset: true}
			return
		}
	}
	vs.list = append(vs.list, variable{name: v.name, unset: true})
}

// referred is the name of the variable, or of the element, that a name stands for.
func (vs *variables) referred(name string) string {
	for range 8 {
		v := vs.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	return name
}

// A scope is what a subshell or a branch has for itself.
type scope struct {
	workdir
	mark, length   int
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
	s := scope{
		workdir: in.cwd, mark: in.vars.mark, length: len(in.vars.list), out: in.io.out, params: in.par.params, others: in.par.others,
		funcs: len(in.def.funcs), aliases: len(in.def.aliases), zero: in.par.zero, apart: in.def.apart, readonly: len(in.vars.readonly),
		hooks: len(in.traps.hooks), rewired: len(in.io.rewired),
	}
	in.vars.mark = s.length
	return s
}

// branch begins a scope that [interp.join] ends.
func (in *interp) branch() scope {
	in.branches++
	return in.enter()
}

// leave ends a scope and forgets what became of it, as a subshell does.
func (in *interp) leave(s scope) {
	in.traps.runLate(s.hooks)
	clear(in.vars.list[s.length:])
	in.vars.mark, in.vars.list, in.cwd = s.mark, in.vars.list[:s.length], s.workdir
	in.io.out, in.par.params, in.par.others = s.out, s.params, s.others
	in.def.funcs, in.def.aliases = in.def.funcs[:s.funcs], in.def.aliases[:min(s.aliases, len(in.def.aliases))]
	in.par.zero, in.def.apart, in.vars.readonly, in.io.rewired = s.zero, s.apart, in.vars.readonly[:s.readonly], in.io.rewired[:min(s.rewired, len(in.io.rewired))]
}

// join ends the scope of a branch: what it assigned is one more possibility.
func (in *interp) join(s scope) {
	in.branches--
	dir, params, others := in.cwd.dir, in.par.params, in.par.others
	in.vars.mark, in.par.params, in.par.others = s.mark, s.params, s.others
	if others != nil || (params == nil) != (s.params == nil) || len(params) != len(s.params) || len(params) > 0 && &params[0] != &s.params[0] {
		in.par.joinParams(params, others)
	}
	for i := s.funcs; i < len(in.def.funcs); i++ {
		in.def.funcs[i].maybe = true
	}
	for i := s.aliases; i < len(in.def.aliases); i++ {
		in.def.aliases[i].maybe = true
	}
	if len(in.vars.list) > s.length {
		changed := append([]variable(nil), in.vars.list[s.length:]...)
		clear(in.vars.list[s.length:])
		in.vars.list = in.vars.list[:s.length]
		for _, v := range changed {
			if v.name != "" {
				in.vars.merge(v)
			}
		}
	}
	if in.cwd.dir = s.dir; dir != s.dir {
		in.cwd.dir = effect.Unknown
		if strings.HasPrefix(dir, "/") {
			in.cwd.may = dir // or the one from before
		}
	}
	if in.cwd.may == "" {
		in.cwd.may = s.may
	}
	if in.par.zero != s.zero {
		in.par.zero = data{effect.Unknown, in.par.zero.taint | s.zero.taint}
	}
}

// merge makes what a branch assigned one more possible value.
func (vs *variables) merge(v variable) {
	old := vs.find(v.name)
	if v.array || v.ref != "" || v.forms != nil || old != nil && (old.array || old.forms != nil) {
		vs.mergeArray(old, v)
		return
	}
	var alts []data
	switch {
	case old == nil:
		alts = append(alts, vs.environment(v.name))
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
	slot := vs.slot(v.name)
	*slot = variable{name: slot.name, data: alts[0], settled: slot.settled, letters: max(slot.letters, v.letters), passed: slot.passed && v.passed, shaken: slot.shaken || v.shaken}
	if len(alts) > vs.rep.lim.Alternatives {
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
func (vs *variables) mergeArray(old *variable, v variable) {
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
	slot := vs.slot(v.name)
	*slot = v
	if slot.forms = nil; len(forms) > 1 && len(forms) <= vs.rep.lim.Alternatives {
		slot.forms = forms
	}
}
