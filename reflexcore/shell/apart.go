package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// apart says what of a shell a process that it starts does not have: the functions and
// aliases before these indexes, and the functions that were running.
type apart struct{ funcs, aliases, active int }

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

// hides reports whether an inner scope of the shell has another variable of the name of
// in.vars[i], which counts and not this one.
func (vs *variables) hides(i, end int) bool {
	vs.rep.steps += (end - i) / 16 // looking through many is work
	return slices.ContainsFunc(vs.list[i+1:end], func(v variable) bool { return v.name == vs.list[i].name })
}

// alwaysPassed reports whether every shell finds that variable in its environment, so
// that what is assigned to it is exported, or sets it for itself.
func alwaysPassed(name string) bool {
	switch name {
	case "HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "TERM":
		return true
	}
	return isTable(name)
}

// inherit makes a variable what a new process may have of it: its value or nothing.
// From is where the variables of the process begin.
func (vs *variables) inherit(v *variable, from int) {
	vs.rep.steps += (len(vs.list) - from) / 16 // looking through many is work
	if slices.ContainsFunc(vs.list[from:], func(have variable) bool { return have.name == v.name }) {
		return // an inner one of that name hides it
	}
	if v.name == "IFS" { // no shell inherits it
		vs.list = append(vs.list, variable{name: v.name, data: data{text: " \t\n"}})
		return
	}
	gone := variable{name: v.name, unset: true}
	if _, known := vs.ctx.Env[v.name]; v.array || v.unset || v.ref != "" ||
		vs.ctx.Unset && !known && !v.passed && !vs.exportsAll {
		vs.list = append(vs.list, gone)
		return
	}
	child := gone
	child.unset = false
	switch {
	case v.forms != nil:
		child.forms = append(slices.Clone(v.forms), gone)
	case v.alts != nil:
		for _, d := range v.alts {
			child.forms = append(child.forms, variable{name: v.name, data: d})
		}
		child.forms = append(child.forms, gone)
	default:
		child.forms = []variable{{name: v.name, data: v.data, place: v.place}, gone}
	}
	child.data = v.data
	if len(child.forms) > vs.rep.lim.Alternatives {
		child.data, child.forms = data{effect.Unknown, v.taint}, nil
	}
	vs.list = append(vs.list, child)
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

// fix makes a variable readonly: a name, perhaps with a value.
func (vs *variables) fix(word string) {
	name, _, _ := strings.Cut(word, "=")
	if name = strings.TrimSuffix(name, "+"); !slices.Contains(vs.readonly, name) {
		vs.readonly = append(vs.readonly, name)
	}
}

// heldReadonly are the readonly variables as they are before a command.
func (vs *variables) heldReadonly() []held {
	out := make([]held, 0, len(vs.readonly))
	for _, name := range vs.readonly {
		vs.rep.steps++
		if h := vs.hold(name); h.was {
			out = append(out, h)
		}
	}
	return out
}

// keepReadonly makes what they held one more possibility where a command changed them.
func (vs *variables) keepReadonly(before []held) {
	for _, h := range before {
		now := vs.find(h.name)
		if now == nil || now.text != h.text || now.unset != h.unset || now.array != h.array ||
			!slices.Equal(now.alts, h.alts) || !slices.Equal(now.list, h.list) {
			vs.merge(h.variable)
		}
	}
}
