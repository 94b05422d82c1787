package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

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

// enterBranch begins a scope that [interp.join] ends.
func (in *interp) enterBranch() scope {
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

// separately walks what a process of its own does.
func (in *interp) separately(bare bool, walk func()) {
	s := in.def.newProcess(bare)
	walk()
	in.leave(s)
}

// newProcess begins the scope of a new process, which [interp.leave] ends. It has no
// aliases, and only the functions and variables that are exported. Where that is not
// certain, because a variable may have come with the environment, both possibilities count.
// bare says that even what is exported may not reach it.
func (df *definitions) newProcess(bare bool) scope {
	s := df.in.enter()
	df.apart = apart{len(df.funcs), len(df.aliases), len(df.active)}
	df.in.par.params, df.in.par.others = []data{}, nil
	for i := s.length - 1; i >= 0; i-- {
		if v := df.in.vars.list[i]; v.name != "" && (!v.passed || bare) && !alwaysPassed(v.name) && !df.in.vars.hides(i, s.length) {
			df.in.vars.inherit(&v, s.length)
		}
	}
	return s
}
