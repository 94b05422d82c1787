//go:build !linux

package chatstest

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
