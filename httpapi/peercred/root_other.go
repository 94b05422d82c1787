//go:build !linux

package peercred

// Root is empty: only Linux names what a process sees.
func Root() string { return "" }
