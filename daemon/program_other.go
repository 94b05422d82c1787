//go:build !linux

package daemon

// dropProgram does nothing: on this system it is not implemented.
func dropProgram() {}
