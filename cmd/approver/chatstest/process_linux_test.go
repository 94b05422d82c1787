package chatstest

import "syscall"

// attributes make the kernel end an emulator with the test.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
