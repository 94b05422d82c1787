//go:build !linux

package agentstest

import "syscall"

// attributes give a child a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// deskScenarios need a terminal of Linux.
var deskScenarios []scenario
