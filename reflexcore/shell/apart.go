package shell

import (
	"slices"
)

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

// separately walks what a process of its own does.
func (in *interp) separately(bare bool, walk func()) {
	s := in.def.newProcess(bare)
	walk()
	in.leave(s)
}

// pass notes that a variable is exported from now on, or no longer for certain.
func (as *assigner) pass(name string, exported bool) {
	if name = as.in.vars.referred(name); as.in.vars.find(name) != nil {
		as.in.vars.slot(name).passed = exported && as.in.branches == 0
	}
}

// passFunction notes that a function is exported.
func (df *definitions) passFunction(name string) {
	for i := range df.funcs {
		if df.funcs[i].name == name {
			df.funcs[i].passed = true
		}
	}
}

// clears reports whether a program does not give all of its environment to what it
// starts, or may not.
func (l *commandLine) clears() bool {
	switch l.p.Program.Name {
	case "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "machinectl", "systemd-run":
		return true
	case "env":
		return slices.ContainsFunc(l.argv[1:], func(w string) bool { return w != "" && w[0] == '-' })
	}
	return false
}
