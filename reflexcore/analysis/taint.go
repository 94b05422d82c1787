package analysis

import (
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/shell"
)

// labelled labels what a tool that is no shell reads, and with it what it sends and
// writes.
func (a *Call) labelled(effects []effect.Effect) {
	if a.label == nil {
		return
	}
	var carried effect.Taint
	for i := range effects {
		if e := &effects[i]; e.Kind == effect.Read {
			e.Taint |= a.label(e.Target, e.Taint&effect.Secret != 0)
			carried |= e.Taint & effect.Labels
		}
	}
	for i := range effects {
		if e := &effects[i]; carried != 0 && (e.Kind == effect.Write || e.Kind == effect.NetOut || e.Kind == effect.Publish) {
			e.Taint |= carried
			if e.Kind == effect.Write {
				a.Left = append(a.Left, leftBy(e.Target, carried))
			}
		}
	}
}

// tainted brings in what earlier calls left in the files of a tool that is no
// shell, and notes what such a tool leaves: one that fetches and writes saves
// what it fetched, one that reads and writes copies.
func (a *Call) tainted(effects []effect.Effect) {
	if a.Past == nil {
		return
	}
	var carried effect.Taint
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case effect.Read:
			e.Taint |= a.Past.Taint(e.Target)
			carried |= e.Taint
		case effect.Exec:
			e.Taint |= a.Past.Taint(e.Target)
		case effect.NetIn:
			carried |= effect.Network
		default: // nothing for the others
		}
	}
	for i := range effects {
		switch e := &effects[i]; {
		case carried == 0:
		case e.Kind == effect.Write:
			a.Left = append(a.Left, leftBy(e.Target, carried))
		case e.Kind == effect.NetOut || e.Kind == effect.Publish:
			e.Taint |= carried &^ effect.Network
		}
	}
}

func leftBy(target string, taint effect.Taint) shell.File {
	return shell.File{Path: target, Taint: taint}
}

// Leaves is what the call leaves in files. A working directory, and a folder above
// it, is never as a whole what came from somewhere.
func (a *Call) Leaves() []memory.File {
	var out []memory.File
	for _, f := range a.Left {
		if !disk.Below(a.Around.Dir, f.Path) && f.Path != "/tmp" && f.Path != "/var/tmp" && f.Path != "/dev" && !strings.HasPrefix(f.Path, "/dev/fd/") {
			out = append(out, memory.File{Path: f.Path, Taint: f.Taint, Tree: f.Tree})
		}
	}
	return out
}
