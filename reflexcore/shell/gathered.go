package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// This file finds out what is much at once: folders, archives of them, dumps of databases. What
// builds make is meant to leave, and does not count.

// archives are the endings of files that hold many others, or all of a database.
var archives = wordset.Of(".zip .tar .tgz .tbz2 .txz .tzst .7z .rar .cpio .bundle .dump .sql .sqlite .sqlite3 .db .bak")

// tellsAbout are programs that tell something about a file, and print none of it.
var tellsAbout = wordset.Of("sha1sum sha224sum sha256sum sha384sum sha512sum shasum md5sum md5 b2sum b3sum cksum sum " +
	"wc ls du stat file")

// archiveTaint is the taint of a file that by its name is an archive or a dump. Of a file that the
// text made itself more is known than its name.
func (fsys *filesystem) archiveTaint(p string) effect.Taint {
	name := path.Base(p)
	for _, end := range [...]string{".gz", ".bz2", ".xz", ".zst", ".gpg", ".age", ".enc"} {
		name = strings.TrimSuffix(name, end)
	}
	if !archives[strings.ToLower(path.Ext(name))] || fsys.isOutput(p) ||
		isTemporary(p) && !within(p, fsys.in.ctx.Dir) || !effect.IsKnown(p) {
		return 0
	}
	return effect.Gathered
}

// isTemporary reports whether a path is in one of the folders for temporary files.
func isTemporary(p string) bool {
	return within(p, "/tmp") || within(p, "/var/tmp") || within(p, "/private/tmp") || within(p, "/var/folders")
}

// isWorkInTemporary reports whether a path lies in the project, and that was put below a folder for
// temporary files, as in containers: not everybody writes there.
func (fsys *filesystem) isWorkInTemporary(p string) bool {
	dir := fsys.in.ctx.Dir
	return within(p, dir) && isTemporary(path.Dir(dir)) && effect.IsKnown(p)
}

// isOutput reports whether a path, by the names in it, is what a build makes.
func (fsys *filesystem) isOutput(p string) bool {
	if !within(p, fsys.in.ctx.Dir) {
		return false
	}
	sure, _ := buildnames.First(strings.TrimPrefix(p[len(fsys.in.ctx.Dir):], "/"))
	return sure != buildnames.ByHand
}

// readsTree notes that a command reads a folder, and not only what a build made. To copy or to send
// one is to do so with all that is in it.
func (a *applied) readsTree(u *grammar.Use, p, what string) {
	put := a.in.fs.putInto(p)
	a.taint |= put
	if a.in.fs.isOutput(p) && put&effect.Gathered == 0 {
		return
	}
	a.byHand = true
	bits := a.bitsOf(u)
	if what == "inside" || bits&effect.Recursive != 0 || strings.Contains(path.Base(p), "*") ||
		within(a.in.cwd.dir, p) {
		if a.line.p.Copies || hasRole(a.line.p.Uses, grammar.Host) {
			a.taint |= effect.Gathered
		}
	}
}

// servesFolder notes that a server gives a folder to others: the one that is named, or the working
// directory.
func (a *applied) servesFolder(u *grammar.Use) {
	p, taint := a.in.cwd.dir, effect.Taint(0)
	if u.Word >= 0 {
		p, taint = a.pathOf(u), a.field(u).taint
	}
	if !a.line.p.Dry {
		a.in.add(effect.Effect{Kind: effect.Publish, Target: p, What: effect.Folder, Bits: a.bitsOf(u), Taint: taint,
			By: a.line.by})
	}
}

// putInto returns the taint of what the text itself put into a folder: a copy of the project there, or
// a file of secrets, leaves with it, also if the folder is one that a build makes.
func (fsys *filesystem) putInto(p string) effect.Taint {
	taint := effect.Taint(0)
	for i := range fsys.list {
		if f := &fsys.list[i]; f.path != p && within(f.path, p) {
			taint |= (f.taint | fsys.secretTaint(f.path)) & (effect.Secret | effect.Gathered)
		}
	}
	return taint
}

// gathers notes that what the command puts out is much at once. What is unpacked is single files again.
func (a *applied) gathers() {
	program, _, _ := strings.Cut(a.line.by, " ")
	switch {
	case hasRole(a.line.p.Uses, grammar.Gather):
		if a.byHand || a.reads == 0 {
			a.taint |= effect.Gathered
		}
	case slices.Contains(unpackers, program) || tellsAbout[program] || hasRole(a.line.p.Stdout, grammar.Filter):
		a.taint &^= effect.Gathered
	}
}
