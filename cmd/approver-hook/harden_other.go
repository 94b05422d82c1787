//go:build !linux && !darwin

package main

// harden does nothing: on this system it is not implemented.
func harden() {}
