package main

import "syscall"

// harden shuts other processes of the agent's user out of this one: none can trace
// it, write its memory, change its limits or read what it holds, and what is left
// of it after a crash is no file. It returns no error: a kernel without this is
// one where the agent's user could do as much before.
//
// There is an instant before it, in which the runtime starts. A program that its
// user may run but not read (mode 0751, of the daemon's group) has no such instant.
func harden() {
	const prSetDumpable = 4
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
