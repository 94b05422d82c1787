package agentstest

import "syscall"

// attributes give a child a group of its own, and end it with the test.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
