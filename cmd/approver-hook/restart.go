package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

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
