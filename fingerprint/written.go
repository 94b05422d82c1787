package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"

	"approver.example/reflexcore/effect"
)

// This file knows that an earlier command of a call may write what a later one runs: what lies
// there now is then not what runs. Of a folder that is copied the sources are bound. Of a program
// that may write anything from anywhere nobody can tell: the file is named.

// writtenBefore names what a step executes if another one may write it before, and binds the
// sources of what is copied.
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
		p.unbound("what %s will hold: %s runs before it", file, first(&p.Steps[n]))
		return
	}
	p.copiedBefore(l.step, l.file, l.dir)
}

// isAgain reports whether two steps run the same program with the same words in one folder, as
// the turns of a loop do: a program that rewrites itself could as well run the other text.
func (f *flow) isAgain(n, to int) bool {
	a, b := &f.Steps[n], &f.Steps[to]
	return slices.Equal(a.Argv, b.Argv) && slices.Equal(f.workDirs(a), f.workDirs(b))
}

// isAbove reports whether a step is one of those that led to another.
func (f *flow) isAbove(n, to int) bool {
	for to > n && to < len(f.Steps) {
		to = f.Steps[to].Parent
	}
	return to == n
}

// mayWrite reports whether nobody can tell what a step writes into a file. In a script of a
// package or a recipe, which build first and then run what was there before, a program counts
// only if its output goes there.
func (f *flow) mayWrite(n int, file string) bool {
	st := &f.Steps[n]
	if onlyTells(st) {
		return false
	}
	if name := first(st); name == "git" || f.depth > 0 {
		return name == "git" && changesTree(st.Argv[1:]) || (interprets(name) || oneOf(makers, name)) &&
			slices.ContainsFunc(f.Effects, func(e effect.Effect) bool {
				return e.Kind == effect.Write && e.By == "redirection" && filepath.Clean(e.Target) == filepath.Clean(file)
			})
	}
	return f.makes(n) || f.writes.mayWrite(stepUnit(n), file, true)
}

// copiedBefore binds what lies in the folders that earlier steps copy or move to where a file
// is executed. What is not there yet counts when it appears.
func (p *pass) copiedBefore(before int, file, dir string) {
	for n := range p.Effects {
		to := &p.Effects[n]
		if to.Kind != effect.Write || to.Step < 0 || to.Step >= before || !oneOf(copiers, first(&p.Steps[to.Step])) ||
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

// bindSource binds what a folder has of a path, which may start with its own name.
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
