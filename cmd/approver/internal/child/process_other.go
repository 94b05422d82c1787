//go:build !linux

package child

import "syscall"

// Attributes has nothing to ask for here.
func Attributes() *syscall.SysProcAttr { return nil }
