//go:build !linux && !darwin

package peercred

import "syscall"

// Of returns ENOSYS on this system.
func Of(int) (Cred, error) { return Cred{}, syscall.ENOSYS }
