package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

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
	return &variable{name: base, data: v.elementAt(n, ok)}
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

// reckoned is what a variable holds that takes numbers only.
func (ar *arithmetic) reckoned(d data) data {
	if n, ok := ar.integer(strings.TrimSpace(d.text), 0); ok && d.known() {
		return data{strconv.FormatInt(n, 10), d.taint}
	}
	return data{"1" + effect.Unknown, d.taint}
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
