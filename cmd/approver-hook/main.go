// Command approver-hook is the courier: the program that a coding agent runs
// before each tool. It carries the agent's payload to approver's daemon and
// brings the answer back; see package courier.
//
// It is a program of its own because an agent waits for its start-up at every
// tool call, and that is the start-up of all that it links in.
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

// tuning are the environment variables by which the Go runtime is tuned. The agent's
// user sets them, and with some the courier needs minutes for what takes it a
// millisecond.
var tuning = [...]string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK"}

// restart puts the same program in the place of this one, without what tunes the
// runtime, if there is any of it. The process, its input and its arguments stay. If it
// cannot, the call is carried all the same: nothing of this makes an answer milder.
//
// What the runtime does with them before main it does once: with some ten thousand in
// GOMAXPROCS that is longer than agents wait.
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
