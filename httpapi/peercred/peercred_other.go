//go:build !linux && !darwin

package peercred

import "syscall"

// Of is an error on this system.
func Of(int) (Cred, error) { return Cred{}, syscall.ENOSYS }
