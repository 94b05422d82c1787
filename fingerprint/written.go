package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// This file handles files that an earlier command of a call may write before a later one runs them:
// the present content is then not what runs. If the file is copied, its source is bound. If a
// program may write it, the file is reported.

// writtenBefore reports a file that a step executes if another step may write it before, and binds
// the sources of copies.
func (p *pass) writtenBefore(l executedFile) {
	if l.step < 0 || l.step >= len(p.Steps) || disk.InSystemFolder(l.file) {
		return
	}
	end := l.step
	if p.unordered {
		end = len(p.Steps)
	}
	for n := range end {
		if n == l.step || p.isAbove(n, l.step) || p.isAbove(l.step, n) || p.Steps[n].Remote ||
			!p.mayWrite(n, l.file) || p.isAgain(n, l.step) && !p.writes.mayWrite(stepUnit(n), l.file, false) {
			continue
		}
		file := l.file
		if rest, ok := strings.CutPrefix(file, filepath.Clean(p.call.Dir)+"/"); ok {
			file = rest
		}
		p.reportUnbound("what %s will hold: %s runs before it", file, first(&p.Steps[n]))
		return
	}
	p.copiedBefore(l.step, l.file, l.dir)
}

// isAgain reports whether two steps run the same program with the same words in one folder, as in a
// loop. A program that rewrites itself for the next turn could as well do its work in the first.
func (f *flow) isAgain(n, to int) bool {
	a, b := &f.Steps[n], &f.Steps[to]
	return slices.Equal(a.Argv, b.Argv) && slices.Equal(f.workDirs(a), f.workDirs(b))
}

// isAbove reports whether a step is an ancestor of another.
func (f *flow) isAbove(n, to int) bool {
	for to > n && to < len(f.Steps) {
		to = f.Steps[to].Parent
	}
	return to == n
}

// mayWrite reports whether a step may write unknown content into a file. Package scripts and recipes
// usually build first and then run existing files; there a program counts only if its output goes
// into the file.
func (f *flow) mayWrite(n int, file string) bool {
	st := &f.Steps[n]
	if onlyTells(st) {
		return false
	}
	if name := first(st); name == "git" || f.depth > 0 {
		return name == "git" && changesTree(st.Argv[1:]) || (interprets(name) || makers[name]) &&
			slices.ContainsFunc(f.Effects, func(e effect.Effect) bool {
				return e.Kind == effect.Write && e.By == "redirection" && filepath.Clean(e.Target) == filepath.Clean(file)
			})
	}
	return f.makes(n) || f.writes.mayWrite(stepUnit(n), file, true)
}

// copiedBefore binds the sources if earlier steps copy or move folders over an executed file. A
// source that appears later changes the fingerprint.
func (p *pass) copiedBefore(before int, file, dir string) {
	for n := range p.Effects {
		to := &p.Effects[n]
		if to.Kind != effect.Write || to.Step < 0 || to.Step >= before || !copiers[first(&p.Steps[to.Step])] ||
			!effect.IsKnown(to.Target) {
			continue
		}
		rest, below := strings.CutPrefix(file, filepath.Clean(to.Target)+"/")
		if !below {
			continue
		}
		for m := range p.Effects {
			from := &p.Effects[m]
			if from.Kind != effect.Read || from.Step != to.Step || !filepath.IsAbs(from.Target) {
				continue
			}
			if !effect.IsKnown(from.Target) {
				p.unboundCommand(&p.Steps[to.Step])
				continue
			}
			for _, source := range p.matchesAndSelf(from.Target) {
				p.bindSource(filepath.Clean(source), rest, dir)
			}
		}
	}
}

// bindSource binds a path below a folder. The path may start with the folder's own name.
func (p *pass) bindSource(folder, rest, dir string) {
	places := []string{filepath.Join(folder, rest)}
	if base, deep, ok := strings.Cut(rest, "/"); ok && base == filepath.Base(folder) {
		places = append(places, filepath.Join(folder, deep))
	} else if rest == filepath.Base(folder) { // a file
		places = append(places, folder)
	}
	for _, at := range places {
		p.executes(at, dir)
	}
}
