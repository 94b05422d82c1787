package main

import "syscall"

// harden protects this process from other processes of the agent's user: they cannot trace it,
// write its memory, change its limits or read its data, and it leaves no core file. It returns
// no error: if the kernel does not support this, the process is only as exposed as without it.
//
// While the runtime starts, the process is not protected yet. This gap does not exist if its
// user may execute the program file but not read it (mode 0751, group of the daemon).
func harden() {
	const prSetDumpable = 4
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
