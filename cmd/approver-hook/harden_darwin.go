package main

import "syscall"

// harden shuts debuggers out of this process, and leaves no core file.
func harden() {
	const ptDenyAttach = 31
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PTRACE, ptDenyAttach, 0, 0, 0, 0, 0)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
