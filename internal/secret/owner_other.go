//go:build !unix

package secret

import "io/fs"

// ownedByUs knows no owners here.
func ownedByUs(fs.FileInfo) bool { return true }
