package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A function that runs commands can be reached in more ways than can be followed: as a default of a
// parameter, in a container, on the right of an "or", in place of print. So if such a function is
// used as a value, it escapes, unless it only gets another name or is passed to a call that is
// followed. Each unresolved call may then be a call of an escaped function, and is judged as one.
// Calls outside of the code cannot be seen, so code with an escaped function is also a question.

const (
	maxEscaped    = 4  // functions; more are treated like the first
	maxUnresolved = 64 // calls that are kept; with more, nothing is known
)

// An unresolved call is kept until the end, because a function may escape after it.
type unresolved struct {
	name string
	args []arg
}

// An escaped function is not followed. whole means that only its module is a value.
type escaped struct {
	path  string
	whole bool
}

// escapes has the functions that run commands and are not followed.
type escapes struct {
	d        *dialect
	api      *table
	in       *cursor
	programs *programs

	functions       []escaped
	unresolved      []unresolved
	lastAt, lastLen int  // the position where the last one escaped
	judging         bool // the unresolved calls are being judged
}

// value records a value that is used without being called.
func (e *escapes) value(v value) {
	if v.kind != nameValue || v.of != nil || v.fn != nil || v.s == "" || e.api == nil {
		return
	}
	path, whole := v.s, false
	if !e.api.executes(path) {
		if e.d.calls.commandsAlone && runsVariable[path] {
			e.usedInPerl(path)
			return
		}
		if path, whole = e.api.runnerOf(path), true; path == "" {
			return
		}
	}
	e.add(escaped{path, whole})
}

// runsVariable are functions of Perl that run a program, or the content of a variable.
var runsVariable = wordset.Of("system exec readpipe eval")

// usedInPerl records a function that starts a program and has no arguments: it is taken as a value,
// \&system, or called with the content of a variable.
func (e *escapes) usedInPerl(path string) {
	switch {
	case e.in.is("=>"):
	case strings.HasPrefix(e.in.ahead(-1).Text, "&"):
		e.add(escaped{path: path})
	default:
		e.programs.shell(unknown(0), path)
	}
}

// add records that a function escaped.
func (e *escapes) add(f escaped) {
	e.lastAt = -1
	if !slices.Contains(e.functions, f) && len(e.functions) < maxEscaped {
		e.functions = append(e.functions, f)
		e.lastAt, e.lastLen = e.in.i, len(e.functions)
	}
}

// named records a text that is the name of a function that runs something, if the code calls
// functions by their names.
func (e *escapes) named(v value) {
	if v.kind == textValue && (e.api.runs(v.s) || e.api.runs(strings.ToLower(v.s))) {
		e.add(escaped{path: v.s})
	}
}

// undo removes the value that was just recorded, because it only gets another name or is passed to a
// call that is followed.
func (e *escapes) undo() {
	if e.lastAt == e.in.i && e.lastLen == len(e.functions) && len(e.functions) > 0 {
		e.functions = e.functions[:len(e.functions)-1]
	}
	e.lastAt = -1
}

// quietCalls are functions that call none of their arguments.
var quietCalls = wordset.Of("dir hasattr help type id repr isinstance len")

// quietModules are further functions that often take a module.
var quietModules = wordset.Of("print importlib.reload reload inspect.getsource inspect.getfile inspect.signature " +
	"setattr delattr console.log Object.keys callable")

// readsModules reports whether a function only reads a module, or replaces something in it, as tests
// do.
func readsModules(path, name string) bool {
	switch {
	case quietCalls[path], quietModules[path]:
		return true
	case name == "object":
		return strings.Contains(path, "patch")
	default:
		return name == "setattr" || name == "spyOn"
	}
}

// handed records the arguments of a call. A module with functions that run something may be searched
// for them. A function among the arguments is called with the others.
func (e *escapes) handed(callee value, args []arg) {
	name := lastName(callee.s)
	if callee.kind == nameValue && readsModules(callee.s, name) {
		return
	}
	for i := range args {
		if args[i].kind != nameValue || args[i].of != nil {
			continue
		}
		if path := e.api.runnerOf(args[i].s); path != "" {
			e.add(escaped{path, true})
		}
	}
	if callee.kind == nameValue && callee.of == nil {
		module, _, dotted := strings.Cut(callee.s, ".")
		if path := e.api.runnerOf(module); dotted && path != "" &&
			(name == "items" || name == "values" || name == "copy") {
			e.add(escaped{path, true})
		}
	}
}

// unresolvedCall records a call of something unknown.
func (e *escapes) unresolvedCall(callee value, args []arg) {
	if e.d == nil || e.judging || len(e.unresolved) > maxUnresolved || quietCalls[callee.s] {
		return
	}
	if of := callee.of; of != nil && (of.kind == textValue || of.kind == objectValue) {
		return
	}
	if !slices.ContainsFunc(args, func(a arg) bool { return a.kind != numberValue && a.fn == nil }) {
		return
	}
	e.unresolved = append(e.unresolved, unresolved{callee.s, args})
}

// addAll records values that get to where they are not followed.
func (e *escapes) addAll(vs []value) {
	for _, v := range vs {
		e.value(v)
		e.lastAt = -1
	}
}
