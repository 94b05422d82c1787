//go:build !linux

package redistest

import "syscall"

// processAttributes has nothing to ask for here.
func processAttributes() *syscall.SysProcAttr { return nil }
