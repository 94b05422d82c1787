package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A table says what the functions of one language do.
type table struct {
	d       *dialect
	rows    map[string][]entry
	methods map[string][]entry // *.name
	dangers map[string]bool    // first parts of the paths of dangerous functions
	roots   []string           // prefixes without a meaning
}

func (t *table) find(path string) []entry { return t.rows[path] }

// moduleRows returns the rows for the rest of a module.
func (t *table) moduleRows(path string) []entry {
	if first, _, dotted := strings.Cut(path, "."); dotted {
		return t.rows[first+".**"]
	}
	return nil
}

// method returns the rows of a method by its name alone.
func (t *table) method(path string) []entry {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return nil
	}
	before := strings.LastIndexByte(path[:dot], '.')
	if rows, ok := t.methods[path[before+1:]]; ok { // *.objects.all
		return rows
	}
	return t.methods[path[dot+1:]]
}

// executes reports whether a name is that of a function that runs something, in a language where a
// bare name is the function as a value.
func (t *table) executes(path string) bool {
	last := lastName(path)
	if !t.d.expressions.functionValues || strings.EqualFold(last, "argv") || last == "args" || last == "arg" {
		return false
	}
	return t.runs(path) || t.deletes(path)
}

// deletes reports whether the table says that a function deletes files.
func (t *table) deletes(path string) bool {
	return slices.ContainsFunc(t.find(path), func(r entry) bool { return r.action == "delete" })
}

// runs reports whether the table says that a function runs a command or code.
func (t *table) runs(path string) bool {
	return slices.ContainsFunc(t.find(path), func(e entry) bool { return e.runs })
}

// runningActions are the actions of functions that run a command or code. So does argv, unless it
// means the operands of the script.
var runningActions = wordset.Of("shell process list execv execl code")

// runnerOf returns one function of a module that runs something.
func (t *table) runnerOf(module string) string {
	path := t.d.library.runners[module]
	if path == "" || !t.executes(path) {
		return ""
	}
	return path
}

// isRunner reports whether a value is a function that runs something or deletes files.
func (t *table) isRunner(v value) bool {
	switch {
	case v.kind == nameValue && v.of == nil && v.fn == nil:
		return t.executes(v.s)
	case v.kind == textValue && t.d.calls.callableTexts:
		return t.runs(strings.ToLower(v.s))
	}
	return false
}

// canonical removes prefixes that only say where a name is looked up.
func (t *table) canonical(s string) string {
	for strings.HasSuffix(s, ".__call__") {
		s = strings.TrimSuffix(s, ".__call__")
	}
	for _, prefix := range t.roots {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
			return t.canonical(rest)
		}
	}
	return s
}

// rowsOf returns the rows for the function that a call calls.
func (t *table) rowsOf(callee value) []entry {
	rows := t.find(callee.s)
	if rows == nil && callee.s != "" {
		rows = t.method(callee.s)
	}
	if rows == nil && callee.of == nil {
		rows = t.moduleRows(callee.s)
	}
	if rows == nil && callee.of != nil && callee.of.kind == objectValue {
		rows = t.find(callee.of.s + ".*")
	}
	return rows
}

// takesCallable reports whether a function of PHP calls the function that one of its text arguments
// names.
func (t *table) takesCallable(callee value) bool {
	rows := t.rowsOf(callee)
	return len(rows) > 0 && rows[0].action == "callback"
}

// callsItself reports whether a method is called even without brackets and arguments, as in Ruby and
// Perl.
func (t *table) callsItself(v value) bool {
	if !t.d.calls.self || v.kind != nameValue || v.fn != nil {
		return false
	}
	rows := t.find(v.s)
	if !strings.Contains(v.s, ".") {
		return len(rows) > 0 && rows[0].action == "fork"
	}
	if rows == nil {
		rows = t.method(v.s)
	}
	if len(rows) == 0 {
		return false
	}
	switch r := rows[0]; r.action {
	case "fold", "object", "unknown", "stdin", "prompt":
		return true
	case "environment":
		return r.arg == argNone
	case "reflected", "opaque", "read", "delete", "write", "kill", "remotedelete":
		return r.arg == argReceiver
	}
	return false
}

// isDanger reports whether a name is that of a function that runs, deletes or
// kills something.
func (t *table) isDanger(path string) bool {
	return slices.ContainsFunc(t.find(path), func(e entry) bool { return e.dangerous })
}

// dangerousActions are the actions of functions that must not be reached through an unknown name.
var dangerousActions = wordset.Of("shell process argv list execv execl code delete kill opaque run")
