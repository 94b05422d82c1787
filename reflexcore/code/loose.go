package code

import (
	"slices"
	"strings"
)

// A function that runs commands may be reached in more ways than anybody can follow: it
// is the default of a parameter, lies in a container, is the other side of an "or", has
// taken the place of print. So where such a function is used as a value, and not simply
// given another name or handed to a call that is followed, it is loose: each call of
// something that is not resolved may be a call of it, and is judged as one. Who calls it
// in the end nobody sees, so code with such a function is a question besides.

const (
	maxLoose      = 4  // functions; further ones are as the first
	maxUnresolved = 64 // calls that are kept; over them nothing is known
)

// An unresolved call is kept until the end: the function may get loose behind it.
type unresolved struct {
	name string
	args []arg
}

// A loose function is not followed. Whole is set where only its module is a value.
type loose struct {
	path  string
	whole bool
}

// looseness is what is known of functions that got loose.
type looseness struct {
	d        *dialect
	api      *table
	in       *cursor
	programs *programs

	loose           []loose // the functions that run commands and are not followed
	unresolved      []unresolved
	usedAt, usedLen int  // where the last of them got loose
	judging         bool // their calls are judged
}

// used notes a value that is not called where it stands.
func (l *looseness) used(v value) {
	if v.kind != nameValue || v.of != nil || v.fn != nil || v.s == "" || l.api == nil {
		return
	}
	path, whole := v.s, false
	if !l.api.executes(path) {
		if l.d.commandsAlone && runsVariable(path) {
			l.usedInPerl(path)
			return
		}
		if path, whole = l.api.looseModule(path), true; path == "" {
			return
		}
	}
	l.loosen(loose{path, whole})
}

// runsVariable reports whether a function of Perl runs a program, or what a variable has.
func runsVariable(path string) bool {
	return path == "system" || path == "exec" || path == "readpipe" || path == "eval"
}

// usedInPerl notes a function that starts a program where no arguments follow it: it is
// taken as a value, \&system, or called with what a variable has.
func (l *looseness) usedInPerl(path string) {
	switch {
	case l.in.is("=>"):
	case strings.HasPrefix(l.in.ahead(-1).text, "&"):
		l.loosen(loose{path: path})
	default:
		l.programs.shell(unknown(0), path)
	}
}

// loosen notes that a function got loose.
func (l *looseness) loosen(f loose) {
	l.usedAt = -1
	if !slices.Contains(l.loose, f) && len(l.loose) < maxLoose {
		l.loose = append(l.loose, f)
		l.usedAt, l.usedLen = l.in.i, len(l.loose)
	}
}

// reaches notes that a text is the name of a function that runs something, where the code
// reaches functions by their names.
func (l *looseness) reaches(v value) bool {
	if v.kind != textValue || !l.api.runs(v.s) && !l.api.runs(strings.ToLower(v.s)) {
		return false
	}
	l.loosen(loose{path: v.s})
	return true
}

// kept takes back that the value that was just evaluated got loose: it has another name,
// or is handed to a call that is followed.
func (l *looseness) kept() {
	if l.usedAt == l.in.i && l.usedLen == len(l.loose) && len(l.loose) > 0 {
		l.loose = l.loose[:len(l.loose)-1]
	}
	l.usedAt = -1
}

// quietCalls are functions that call nothing of what they get.
var quietCalls = []string{"dir", "hasattr", "help", "type", "id", "repr", "isinstance", "len"}

// quietModules are further functions to which a module is often handed.
var quietModules = []string{
	"print", "importlib.reload", "reload", "inspect.getsource", "inspect.getfile", "inspect.signature",
	"setattr", "delattr", "console.log", "Object.keys", "callable",
}

// readsModules reports whether a function only looks at a module or puts something else
// into it, as tests do.
func readsModules(path, name string) bool {
	switch {
	case slices.Contains(quietCalls, path), slices.Contains(quietModules, path):
		return true
	case name == "object":
		return strings.Contains(path, "patch")
	default:
		return name == "setattr" || name == "spyOn"
	}
}

// handsOver looks at what a call gets: a module that has functions that run something may
// be searched for them. A function itself is called with what the call has.
func (l *looseness) handsOver(callee value, args []arg) {
	name := callee.s[strings.LastIndexByte(callee.s, '.')+1:]
	if callee.kind == nameValue && readsModules(callee.s, name) {
		return
	}
	for i := range args {
		if args[i].kind != nameValue || args[i].of != nil {
			continue
		}
		if path := l.api.looseModule(args[i].s); path != "" {
			l.loosen(loose{path, true})
		}
	}
	if callee.kind == nameValue && callee.of == nil {
		module, _, dotted := strings.Cut(callee.s, ".")
		if path := l.api.looseModule(module); dotted && path != "" && (name == "items" || name == "values" || name == "copy") {
			l.loosen(loose{path, true})
		}
	}
}

// calls notes a call of which nobody knows what it calls.
func (l *looseness) calls(callee value, args []arg) {
	if l.d == nil || l.judging || len(l.unresolved) > maxUnresolved || slices.Contains(quietCalls, callee.s) {
		return
	}
	if of := callee.of; of != nil && (of.kind == textValue || of.kind == objectValue) {
		return
	}
	if !slices.ContainsFunc(args, func(a arg) bool { return a.kind != numberValue && a.fn == nil }) {
		return
	}
	l.unresolved = append(l.unresolved, unresolved{callee.s, args})
}

// letLoose notes that values get to where they are not followed.
func (l *looseness) letLoose(vs []value) {
	for _, v := range vs {
		l.used(v)
		l.usedAt = -1
	}
}
