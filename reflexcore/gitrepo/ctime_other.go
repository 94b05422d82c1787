//go:build !linux && !darwin

package gitrepo

import "io/fs"

// changedAt is not available here, so contents are compared instead.
func changedAt(fs.FileInfo) (seconds, nanos uint32, ok bool) { return 0, 0, false }
