package child

import "syscall"

// Attributes ties a child's life to ours, should we be killed. In a
// process group of its own it does not get what a terminal sends to us: we end
// it in order.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
