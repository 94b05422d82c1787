//go:build !linux

package audit

import "os"

// syncFile makes what was written durable.
func syncFile(f *os.File) error { return f.Sync() }
