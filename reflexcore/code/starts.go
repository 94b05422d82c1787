package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

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
