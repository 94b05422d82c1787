//go:build !linux && !darwin

package courier

// hungUp is always false: on this system it is not implemented.
func hungUp(uintptr) bool { return false }
