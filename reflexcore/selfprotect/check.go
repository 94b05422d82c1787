// Package selfprotect looks for attempts on approver itself, on the settings and hooks
// through which agents ask it, and on other guards.
//
// [Check.Judge] in judge.go goes through what a call does, one effect after the other.
// stops.go and lookup.go judge processes and files that a call looks up, replace.go whole
// folders that are brought or taken away, and program.go and programdisk.go programs under
// other names.
package selfprotect

import (
	"approver.example"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/filenames"
	"approver.example/reflexcore/patches"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
)

// A Check looks at one call.
type Check struct {
	Disk     disk.Disk
	Paths    *places.Cache
	Analyzer *shell.Analyzer
	Program  string // the file of the running program

	Call     *approver.ToolCall
	Text     string // of the call: the command, or the arguments of another tool
	Around   *places.Surroundings
	Names    *filenames.Finder
	Links    *disk.Links
	Effects  []effect.Effect
	Places   []places.Place  // of the effects
	Mentions []shell.Mention // files that commands name, of which no effect tells anything
	Programs []shell.Program // those that are started by their path
	Patches  patches.Reader

	// Unread are the folders whose names cannot be read, or are too many.
	Unread []string

	lookups int // of files that are copied into agents' folders
}

// listed are the names in a folder.
func (c *Check) listed(dir string) []string {
	names, err := c.Disk.ReadDir(dir, disk.MaxListed)
	if err == nil {
		return names
	}
	if at, err := c.Disk.Lstat(dir); err == nil && at.IsDir() {
		c.Unread = append(c.Unread, dir)
	}
	return nil
}
