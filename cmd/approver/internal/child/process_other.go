//go:build !linux

package child

import "syscall"

// Attributes returns nil: this system offers nothing of the kind.
func Attributes() *syscall.SysProcAttr { return nil }
