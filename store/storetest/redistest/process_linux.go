package redistest

import "syscall"

// processAttributes ties a server's life to ours, should we be killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
