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
			m.reaches(*callee.of)
		}
		for _, a := range values(args) {
			m.reaches(a)
		}
		return unknown(taint), true
	case "pipeline": // Open3.pipeline("a", ["b", "c"])
		m.pipeline(args, by)
		return unknown(taint | effect.File), true
	case "program": // sh.git("status")
		m.argv(append([]string{by[strings.LastIndexByte(by, '.')+1:]}, list(values(args), 0).words()...), taint, by)
		return unknown(taint | effect.File), true
	case "define": // define("F", "system"); (F)("ls")
		if first.known() {
			m.bind(first.str(), second)
		}
		return unknown(0), true
	case "forked":
		m.forked(args, by)
		return unknown(taint), true
	case "globbed": // some shells expand what is matched
		if strings.ContainsAny(first.str(), "`|;$") {
			m.found(Found{Text: by, Taint: taint, By: by})
		}
		return unknown(effect.File), true
	case "magic": // run_cell_magic("bash", "", "ls")
		m.magic(first.str(), second, args, by)
		return unknown(taint), true
	}
	return value{}, false
}

// pipeline is Open3.pipeline: each argument is a command line or the words of a command,
// and what one prints is the input of the next.
func (m *machine) pipeline(args []arg, by string) {
	var parts []string
	for _, v := range values(args) {
		switch {
		case v.keys != nil: // the environment, the options
		case v.kind == listValue:
			var words []string
			for _, w := range v.list {
				if w.keys == nil {
					words = append(words, singleQuoted(w.str()))
				}
			}
			parts = append(parts, strings.Join(words, " "))
		default:
			parts = append(parts, v.str())
		}
	}
	if len(parts) == 0 {
		return
	}
	m.startsProgram(parts[0], by) // its input is not known
	m.shell(text(strings.Join(parts, " | "), argTaint(args)), by)
}

func singleQuoted(word string) string {
	if !effect.IsKnown(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// forked is child_process.fork(script, args): another node runs the script, unless an
// option names a program.
func (m *machine) forked(args []arg, by string) {
	words := []string{"node"}
	if program, ok := named(args, "execPath"); ok {
		words[0] = program.str()
	}
	if given, ok := named(args, "execArgv"); ok {
		words = append(words, given.words()...)
	}
	for _, v := range values(args) {
		if v.keys == nil && v.fn == nil {
			words = append(words, v.words()...)
		}
	}
	m.argv(words, argTaint(args), by)
}

// runsStdin runs what the code is given as its input, where a path is that of the input.
func (m *machine) runsStdin(v value, by string) bool {
	if !isStdinPath(v) {
		return false
	}
	m.code(row{}, m.input(), by)
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

// ownShell is the option of Node that names the shell, which may be any program.
func (m *machine) ownShell(line value, args []arg, by string) {
	shell, ok := named(args, "shell")
	if !ok || m.d.name != "node" || shell.kind != textValue || isShellLine(shell.str()) {
		return
	}
	m.argv([]string{shell.str(), "-c", line.str()}, shell.taint|line.taint, by)
}
