//go:build !linux && !darwin

package main

// harden does nothing where it is not known how.
func harden() {}
