// Package selfprotect looks for attempts on approver itself, on the settings and hooks
// through which agents ask it, and on other guards.
//
// [Check.Judge] in check.go goes through what a call does. One effect is judged in
// attempt.go; stops.go and lookup.go judge processes and files that a call looks up,
// replace.go whole folders that are brought or taken away, and program.go, programdisk.go
// and processfile.go programs under other names.
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

// Judge looks for attempts on approver, on the settings through which agents ask
// it, and on other guards: by what the call would do, however it is written, and
// under each name that a file has on the disk. It returns the decision (Pass:
// nothing) and what was seen.
func (c *Check) Judge() (worst approver.Decision, what string) {
	worst = approver.Pass
	for i := range c.Effects {
		ef := &c.Effects[i]
		d, text := c.attempt(ef, c.Places[i])
		where := ef.Target
		if where == "agent-start" {
			where = ef.What
		}
		for _, name := range c.Names.Others(ef) {
			if d == approver.Deny {
				break
			}
			other := *ef
			other.Target = name
			if d2, text2 := c.attemptElsewhere(&other); d2 < d {
				d, text, where = d2, text2, name
			}
		}
		if d < worst {
			worst, what = d, text
			if where != "" && ef.Taint&effect.Secret == 0 {
				what += " (" + effect.Short(effect.Show(where)) + ")"
			}
		}
	}
	if worst != approver.Deny && c.stopsByLookup() {
		return approver.Deny, "it looks up approver's process to stop it or to get into it"
	}
	if worst != approver.Deny {
		if d, text := c.programsOnDisk(); d < worst {
			worst, what = d, text
		}
		if d, text := c.renamesProgram(); d < worst {
			worst, what = d, text
		}
		if d, text := c.startsProcess(); d < worst {
			worst, what = d, text
		}
	}
	if p := c.namesOwn(); worst > approver.Ask && p != "" {
		return approver.Ask, "it names a file by which agents ask, and nothing says that it only reads it (" + effect.Short(effect.Show(p)) + ")"
	}
	if p := c.Patches.OwnFile(); worst > approver.Ask && p != "" {
		return approver.Ask, "it applies a difference that changes a file by which agents ask (" + effect.Short(effect.Show(p)) + ")"
	}
	if worst == approver.Pass && c.changesByLookup() {
		return approver.Ask, "it looks up files of approver or of an agent's settings to change them"
	}
	if worst == approver.Pass && c.stopsEveryone() {
		return approver.Ask, "it stops all processes that it finds, and approver may be among them"
	}
	if worst == approver.Pass && c.Names.TooMany {
		return approver.Ask, "it changes more files than are looked up, and some of them may be those by which agents ask"
	}
	return worst, what
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
