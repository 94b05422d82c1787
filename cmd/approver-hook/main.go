// Command approver-hook is the courier: the program that a coding agent runs
// before each tool. It carries the agent's payload to approver's daemon and
// brings the answer back; see package courier.
//
// It is a program of its own because an agent waits for its start-up at every
// tool call, and that is the start-up of all that it links in.
package main

import (
	"os"

	"approver.example/cmd/approver-hook/courier"
)

func main() {
	restart()
	harden()
	os.Exit(courier.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
