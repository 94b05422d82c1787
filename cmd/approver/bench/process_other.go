//go:build !linux

package bench

import "syscall"

// processAttributes has nothing to ask for here.
func processAttributes() *syscall.SysProcAttr { return nil }
