package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// tools are variables that name a program where people have set them to another than
// the one that a command gives as its default: ${PYTHON:-python3}.
var tools = wordset.Of(section("tools"))

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
	child := variable{name: v.name, data: v.data, forms: slices.Clone(v.forms)}
	if v.forms == nil {
		for _, d := range v.values() {
			child.forms = append(child.forms, variable{name: v.name, data: d, place: v.place && v.alts == nil})
		}
	}
	child.forms = append(child.forms, gone)
	if len(child.forms) > vs.rep.lim.Alternatives {
		child.data, child.forms = data{effect.Unknown, v.taint}, nil
	}
	vs.list = append(vs.list, child)
}

// clobber notes that a file was read into the shell of which it is not known what it sets:
// each variable may be another one now. Where one of them is run, that is a question; as an
// argument it stays what the text says. What lies outside of the working folder is no file
// of the call, and what activates an environment of python sets its own names.
func (vs *variables) clobber(target string) {
	if path.Base(target) == "activate" ||
		!strings.HasPrefix(target, vs.ctx.Dir+"/") && strings.HasPrefix(target, "/") && effect.IsKnown(target) ||
		strings.HasPrefix(target, effect.Unknown) {
		return
	}
	vs.clobbered = true
	for i := range vs.list {
		vs.list[i].clobbered = true
	}
}

// fixed reports whether a variable is known to hold a place although its value is not
// known: it is inherited, so that no command chose it, or asked from a program that
// prints where something is.
func (vs *variables) fixed(name string) bool {
	if name == unknownName || !syntax.ValidName(name) {
		return false
	}
	v := vs.find(name)
	return v == nil || v.place
}

// isTool reports whether a variable is one of them, and inherited.
func (vs *variables) isTool(name string) bool {
	if !tools[name] || vs.find(name) != nil {
		return false
	}
	_, ok := vs.ctx.Env[name]
	return !ok
}

// prefixed are the names of the variables that ${!prefix*} gives, in their order; none
// where the text set none, as the environment may have some.
func (vs *variables) prefixed(prefix string) (names []data) {
	for i := range vs.list {
		v := &vs.list[i]
		if v.name != "" && strings.HasPrefix(v.name, prefix) && vs.find(v.name) == v && !v.unset {
			names = append(names, data{text: v.name})
		}
	}
	for name := range vs.ctx.Env {
		if strings.HasPrefix(name, prefix) && vs.find(name) == nil {
			names = append(names, data{text: name})
		}
	}
	slices.SortFunc(names, func(a, b data) int { return strings.Compare(a.text, b.text) })
	return names
}

// settingsReaders are the programs that ask before they act because their settings, which
// they find below the home, tell them to.
var settingsReaders = wordset.Of(section("settings readers"))

// homes are the variables that say where those settings are.
var homes = [...]string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA"}

// environs prints what the shell knows, tokens and all.
func (bc builtinCall) environs() {
	bc.sink.add(data{effect.Unknown, effect.Secret | effect.File})
}
