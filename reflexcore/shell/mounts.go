package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// A mount is a folder of this machine that a container sees under another name.
type mount struct {
	from, to string
}

// deletesInMounts makes deletes in the folders that a container has from this machine deletes on this
// machine: what goes there is gone here.
func (a *applied) deletesInMounts(from int) {
	name, verb := a.line.programAndVerb()
	if !wordset.Has("run create", verb) || !wordset.Has(boxPrograms, name) || !a.onOwnMachine() ||
		strings.HasPrefix(a.line.argv[1], "-") { // another host, or another context
		return
	}
	var mounts []mount
	for u := range a.line.uses(grammar.Write) {
		if u.Word < 0 || u.Word >= len(a.line.argv) {
			continue
		}
		word := strings.TrimPrefix(strings.TrimPrefix(a.line.argv[u.Word], "--volume="), "-v")
		host, inside, ok := strings.Cut(word, ":")
		if inside, _, _ = strings.Cut(inside, ":"); ok && strings.HasPrefix(inside, "/") && effect.IsKnown(word) {
			mounts = append(mounts, mount{path.Clean(a.in.fs.expandHome(host)), path.Clean(inside)})
		}
	}
	if len(mounts) == 0 {
		return
	}
	dir := a.containerDir()
	for i := from; i < len(a.in.rep.res.Effects); i++ {
		e := &a.in.rep.res.Effects[i]
		if e.Kind != effect.Delete || e.Bits&effect.Remote == 0 {
			continue
		}
		target := e.Target
		if rest, ok := strings.CutPrefix(target, a.in.cwd.dir); ok && dir != "" && a.in.cwd.dir != dir {
			target = dir + rest // it was relative
		}
		for _, m := range mounts {
			if within(target, m.to) && len(m.from) > 1 && m.from[0] == '/' { // the whole machine is a question as it is
				e.Target, e.Bits = m.from+target[len(m.to):], e.Bits&^effect.Remote
				break
			}
		}
	}
}

// containerDir returns the working directory in a container; empty if the command does not say it.
func (a *applied) containerDir() string {
	for i, w := range a.line.argv {
		if dir, ok := strings.CutPrefix(w, "--workdir="); ok {
			return dir
		}
		if (w == "-w" || w == "--workdir") && i+1 < len(a.line.argv) {
			return a.line.argv[i+1]
		}
	}
	return ""
}
