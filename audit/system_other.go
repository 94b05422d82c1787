//go:build !linux

package audit

import (
	"io/fs"
	"os"
	"time"
)

// changedAt is when a file was changed, as far as this system shows it: the
// owner can set this time.
func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }

// syncFile makes what was written durable.
func syncFile(f *os.File) error { return f.Sync() }
