package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// reached does the actions that reach functions by their names, and those that start
// programs in a way of their own.
func (m *machine) reached(r row, callee value, args []arg, taint effect.Taint) (value, bool) {
	by := callee.s
	first, _ := argument(args, 0)
	second, _ := argument(args, 1)
	switch r.action {
	case "reflected": // :system.to_proc, alias_method(:z, :system)
		if callee.of != nil {
			m.loose.reaches(*callee.of)
		}
		for _, a := range values(args) {
			m.loose.reaches(a)
		}
		return unknown(taint), true
	case "pipeline": // Open3.pipeline("a", ["b", "c"])
		m.programs.pipeline(args, by)
		return unknown(taint | effect.File), true
	case "program": // sh.git("status")
		m.programs.argv(append([]string{by[strings.LastIndexByte(by, '.')+1:]}, list(values(args), 0).words()...), taint, by)
		return unknown(taint | effect.File), true
	case "define": // define("F", "system"); (F)("ls")
		if first.known() {
			m.scope.bind(first.str(), second)
		}
		return unknown(0), true
	case "forked":
		m.programs.forked(args, by)
		return unknown(taint), true
	case "globbed": // some shells expand what is matched
		if strings.ContainsAny(first.str(), "`|;$") {
			m.out.found(Found{Text: by, Taint: taint, By: by})
		}
		return unknown(effect.File), true
	case "magic": // run_cell_magic("bash", "", "ls")
		c := cells{out: &m.out, programs: &m.programs}
		c.magic(first.str(), second, args, by)
		return unknown(taint), true
	}
	return value{}, false
}

// runsStdin runs what the code is given as its input, where a path is that of the input.
func (m *machine) runsStdin(v value, by string) bool {
	if !isStdinPath(v) {
		return false
	}
	m.code(row{}, m.given.input(), by)
	return true
}

// isStdinPath reports whether a path or number stands for the standard input.
func isStdinPath(v value) bool {
	if v.kind == numberValue {
		return v.n == 0
	}
	switch v.str() {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "php://stdin":
		return true
	}
	return false
}
