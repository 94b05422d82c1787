// Command approver-hook is the courier: the program that a coding agent runs
// before each tool. It carries the agent's payload to approver's daemon and
// brings the answer back; see package courier.
//
// It is a program of its own because an agent waits for it to start at every tool call, and the
// start takes longer with every package that is linked in.
package main

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"approver.example/cmd/approver-hook/courier"
)

func main() {
	restart()
	harden()
	os.Exit(courier.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// tuning are the environment variables that tune the Go runtime. The agent's user sets them,
// and with some values the courier needs minutes instead of a millisecond.
var tuning = [...]string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK"}

// restart executes the same program again without the variables that tune the runtime, if there
// are any. The process, its input and its arguments stay the same. If that fails, the call is
// carried all the same: these variables cannot make an answer milder.
//
// The runtime still uses them once, before main: with a GOMAXPROCS of some ten thousand, that
// takes longer than agents wait.
func restart() {
	env := os.Environ()
	clean := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return slices.Contains(tuning[:], key)
	})
	if len(clean) == len(env) {
		return
	}
	self := "/proc/self/exe"
	if _, err := os.Lstat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return
		}
	}
	_ = syscall.Exec(self, os.Args, clean)
}
