package main

import "syscall"

// harden keeps debuggers away from this process and disables core files.
func harden() {
	const ptDenyAttach = 31
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PTRACE, ptDenyAttach, 0, 0, 0, 0, 0)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
