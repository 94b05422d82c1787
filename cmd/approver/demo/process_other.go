//go:build !linux

package demo

import "syscall"

// processAttributes has nothing to ask for here.
func processAttributes() *syscall.SysProcAttr { return nil }
