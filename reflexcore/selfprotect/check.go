// Package selfprotect detects attacks on approver itself, on the settings and hooks through which
// agents ask it, and on other guard programs.
//
// [Check.Judge] in judge.go judges what a call does, one effect after the other. stops.go and
// lookup.go judge processes and files that a call searches for, replace.go judges whole folders
// that are copied, moved or deleted, and program.go and programdisk.go judge programs with other
// names.
package selfprotect

import (
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/places"
)

// A Check judges one call.
type Check struct {
	*analysis.Call
	Program string         // the file of the running program
	Places  []places.Place // of the effects

	// Unread are the folders whose names cannot be read, or are too many.
	Unread []string

	lookups int // of files that are copied into agents' folders
}

// listed returns the names in a folder.
func (c *Check) listed(dir string) []string {
	names, err := c.Analyzer.Files.ReadDir(dir, disk.MaxListed)
	if err == nil {
		return names
	}
	if at, err := c.Analyzer.Files.Lstat(dir); err == nil && at.IsDir() {
		c.Unread = append(c.Unread, dir)
	}
	return nil
}
