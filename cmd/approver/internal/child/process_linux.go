package child

import "syscall"

// Attributes makes the kernel kill a child if this process is killed. The child gets its own
// process group, so it does not receive signals from the terminal: this process shuts it down
// instead.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
