package code

import (
	"slices"

	"approver.example/reflexcore/effect"
)

// An arg is one argument of a call; name is set for f(name=…).
type arg struct {
	name string
	value
}

func values(args []arg) []value {
	out := make([]value, 0, len(args))
	for _, a := range args {
		if a.name == "" {
			out = append(out, a.value)
		}
	}
	return out
}

func argTaint(args []arg) (t effect.Taint) {
	for i := range args {
		t |= args[i].taint
	}
	return t
}

// argument returns positional argument n, or else the first named argument whose name has that
// meaning.
func argument(args []arg, n int) (value, bool) {
	for i := range args {
		if args[i].name != "" {
			continue
		}
		if n == 0 {
			return args[i].value, true
		}
		n--
	}
	if n == 0 {
		return named(args, "args", "cmd", "command", "path", "file", "filename", "url", "name", "uri", "source", "src",
			"address", "host", "s", "string", "data")
	}
	return value{}, false
}

func named(args []arg, names ...string) (value, bool) {
	for i := range args {
		if args[i].name != "" && slices.Contains(names, args[i].name) {
			return args[i].value, true
		}
	}
	// Options in a map: JavaScript's last argument, Ruby's and PHP's.
	for i := len(args) - 1; i >= 0; i-- {
		if args[i].keys != nil {
			return args[i].key(names...)
		}
	}
	return value{}, false
}

func asArgs(vs []value) []arg {
	return mapAll(vs, func(v value) arg { return arg{value: v} })
}

// perlProgram is the name of the argument that is a block before the arguments of system and exec.
const perlProgram = "program {}"
