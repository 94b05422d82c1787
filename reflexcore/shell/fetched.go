package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// ownFiles are tools by the names of files that they read by themselves, in small letters.
var ownFiles = table("own files of tools")

// ownReaders are those tools.
var ownReaders = func() map[string]bool {
	all := map[string]bool{}
	for _, tools := range ownFiles {
		for _, tool := range tools {
			all[tool] = true
		}
	}
	return all
}()

// readsFetched adds that a tool runs files of this text's downloads which it finds by itself: make reads the
// Makefile that curl wrote, although nothing names it.
func (a *applied) readsFetched() {
	fsys := &a.in.fs
	if len(fsys.list) == 0 || a.line.p.Dry {
		return
	}
	for _, word := range a.line.argv {
		tool := word[strings.LastIndexByte(word, '/')+1:]
		if !ownReaders[tool] {
			continue
		}
		a.in.rep.steps += len(fsys.list) / 16
		for i := range fsys.list {
			f := &fsys.list[i]
			taint := f.taint
			for _, v := range f.older {
				taint |= v.taint
			}
			if taint&effect.Network == 0 || f.tree || f.sink != nil || !reads(tool, path.Base(f.path)) || !a.mayFind(f.path) {
				continue
			}
			a.in.add(effect.Effect{Kind: effect.Exec, Target: f.path, Taint: taint & effect.Network, By: a.line.by})
			return
		}
	}
}

// reads reports whether a tool reads files of that name without being told so.
func reads(tool, name string) bool {
	name = strings.ToLower(name)
	for at := 0; at >= 0; {
		key := name
		if at > 0 {
			key = "*" + name[at:]
		}
		for _, t := range ownFiles[key] {
			if t == tool {
				return true
			}
		}
		next := strings.IndexByte(name[at+1:], '.')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// mayFind reports whether a file is in the folder of a command, or in one around it or below it.
func (a *applied) mayFind(p string) bool {
	dir := a.in.cwd.dir
	return !effect.IsKnown(dir) || !effect.IsKnown(p) || within(p, dir) || within(dir, path.Dir(p))
}

// runsFetched notes that a file which something runs came from the network: code names it, and no command. A
// package has other checks.
func (fsys *filesystem) runsFetched(e *effect.Effect) {
	if e.What != "" || e.Taint&effect.Network != 0 || e.Bits&effect.Remote != 0 || !strings.ContainsAny(e.Target, "/.") ||
		!effect.IsPlain(e.Target) || strings.ContainsAny(e.Target, " :") {
		return
	}
	if f := fsys.fileAt(fsys.abs(e.Target)); f != nil && f.sink == nil {
		e.Taint |= f.taint & effect.Network
	}
}
