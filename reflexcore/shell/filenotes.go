package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// This file is what uses of a program do to files that others named: those that a
// search found, and copies.

// deletesFound adds what find deletes, if its expression says what that is like.
func (a *applied) deletesFound(u *grammar.Use, taint effect.Taint) bool {
	var list []string
	for i, w := range a.line.argv {
		if w != "-delete" && w != "-rm" {
			continue
		}
		more := a.findTargets(i, a.pathOf(u))
		if more == nil {
			return false
		}
		list = append(list, more...)
	}
	for _, p := range list {
		e := effect.Effect{Kind: effect.Delete, Target: p, Bits: a.bitsOf(u) | effect.Glob, Taint: taint, By: a.line.by}
		if p == empty { // only what has nothing in it
			e.Target = a.pathOf(u) + "/" + effect.Unknown
			e.Bits &^= effect.Recursive
		}
		if !a.line.p.Dry {
			a.in.add(e)
		}
	}
	return list != nil
}

// deleteBefore adds what is deleted if the last cd failed, where that is worse: in
// the root, in a folder of it, or in the home.
func (a *applied) deleteBefore(u *grammar.Use, taint effect.Taint) {
	in := a.in
	if in.cwd.before == "" || in.cwd.before == in.cwd.dir || u.Word < 0 || strings.HasPrefix(u.Text, "/") ||
		strings.HasPrefix(u.Text, "~") {
		return
	}
	if strings.LastIndexByte(in.cwd.before, '/') != 0 && in.cwd.before != in.par.valueOf("HOME").text {
		return
	}
	dir := in.cwd.dir
	in.cwd.dir = in.cwd.before
	a.add(effect.Delete, u, a.pathOf(u), taint)
	in.cwd.dir = dir
}

// takesAway reports whether a use writes the file that mv takes away, and notes that nobody
// knows who made what lies there now. Its text is no new one: it is gone, or what it was.
func (a *applied) takesAway(u *grammar.Use, p string) bool {
	f := a.in.fs.fileAt(p)
	if !a.line.p.Copies || u.Word < 0 || f == nil || f.path != p || f.sink != nil {
		return false
	}
	reads := func(o grammar.Use) bool { return o.Role == grammar.Read && o.Word == u.Word }
	if !slices.ContainsFunc(a.line.p.Uses, reads) {
		return false
	}
	f.built, f.from = false, nil
	if hasFlag(a.line.argv, "", "--ex") {
		for o := range a.line.uses(grammar.Write) { // mv --exchange: it has what the other one had
			if o.Word != u.Word {
				a.in.fs.write(p, a.in.fs.contentOf(a.pathOf(o)), false)
			}
		}
	}
	return true
}

// noteCopy notes that a file is another one now, so that running the copy is
// running the original. Fresh is that nothing was known of it.
func (a *applied) noteCopy(to string, fresh bool) {
	for u := range a.line.uses(grammar.Read) {
		if a.reads == 1 {
			a.another(to, a.pathOf(u), u, fresh)
		}
	}
	a.copiedInto(to)
}

// copiedInto notes what is copied as if the target were a folder.
func (a *applied) copiedInto(folder string) {
	for u := range a.line.uses(grammar.Read) {
		from := a.pathOf(u)
		if to := strings.TrimSuffix(folder, "/") + "/" + path.Base(from); from != folder && from != to {
			fresh := a.in.fs.fileAt(to) == nil
			a.in.fs.write(to, a.in.fs.contentOf(from), false)
			a.another(to, from, u, fresh)
		}
	}
}

// another notes that a file is another one now: a copy, or a link. Fresh is that nothing was
// known of it.
func (a *applied) another(to, from string, u *grammar.Use, fresh bool) {
	if fresh {
		defer a.inherits(to, from)
	}
	f := a.in.fs.fileAt(to)
	switch {
	case f == nil:
	case u.Arg != "link":
		if a.in.fs.fileAt(from) == nil {
			a.in.fs.agesInBranch(f)
			f.alias = from
		}
	default:
		if hasFlag(a.line.argv, "s", "--sym") && !strings.HasPrefix(from, "~") && u.Text != "" && u.Text[0] != '/' {
			// It leads on from its own folder.
			from = a.in.fs.abs(a.in.arena.concat(path.Dir(to), "/", u.Text))
			f = a.in.fs.fileAt(to)
		}
		if from != to && f != nil {
			a.in.fs.agesInBranch(f)
			f.alias, f.link = from, true
			a.in.fs.links++
		}
	}
}

// inside reports whether a copy takes what is in a folder, and not the folder.
func (l *commandLine) inside(word string) bool {
	if !l.p.Copies {
		return false
	}
	if word == "." || strings.HasSuffix(strings.TrimSuffix(word, "/"), "/.") ||
		l.by == "rsync" && strings.HasSuffix(word, "/") {
		return true
	}
	return l.by != "rsync" && hasFlag(l.argv, "T", "--no-target")
}

// noteBuilt notes that a compiler made a file. To run it is to run the project's code, as
// ./a.out and go run are; that its text is not known says nothing of it. What a
// preprocessor prints, and what comes from a network or was decoded, is any text.
func (a *applied) noteBuilt(p string, d data) {
	if compilers[a.line.by] == nil || d.taint&^effect.File != 0 || !effect.IsKnown(p) ||
		slices.ContainsFunc(a.line.argv, isTextFlag) {
		return
	}
	if f := a.in.fs.fileAt(p); f != nil && f.path == p && f.sink == nil && strings.Trim(f.text, effect.Unknown) == "" {
		f.built = true
		if a.line.by == "go build" && slices.ContainsFunc(a.line.argv[1:], a.in.fs.isOwnPackage) {
			f.alias = "/usr/bin/" + ownName
		}
	}
}

// isTextFlag reports whether a word may make a compiler write a text instead of a
// program, or take its words from a file.
func isTextFlag(w string) bool {
	return w == "" || !effect.IsKnown(w) || w[0] == '@' || wordset.HasAnyPrefix(w, textFlags...)
}

// textFlags are how flags of compilers begin that may do so.
var textFlags = strings.Fields(`-E -S -M -fsyntax-only --preprocess --emit --print --format --oformat -x -wrapper
	-specs -B -toolexec --banner --footer`)

// compilers make programs of the sources of a project.
var compilers = table("compilers")

// downloaders save what they fetch under its own name, also from an address
// without a scheme.
var downloaders = wordset.Of("wget curl aria2c axel scp rsync sftp")

// saved notes the file that a download is saved as where no flag names one.
func (a *applied) saved(url string) {
	if a.line.p.Dry || a.line.by == "curl" && !hasFlag(a.line.argv, "O", "--remote-n") {
		return
	}
	if !strings.Contains(url, "://") && !downloaders[a.line.p.Program.Name] {
		return // the name of a package
	}
	url, _, _ = strings.Cut(url, "?")
	if name := savedAs(url); name != "" && a.in.cwd.dir != effect.Unknown {
		a.in.fs.write(a.in.fs.abs(name), data{effect.Unknown, effect.Network}, false)
	}
}

// fetchedInto notes what a download is called in the folder that it is put into.
func (a *applied) fetchedInto(folder string) {
	if !downloaders[a.line.p.Program.Name] {
		return
	}
	for u := range a.line.uses(grammar.Fetch) {
		if name := savedAs(u.Text); name != "" {
			a.in.fs.write(strings.TrimSuffix(folder, "/")+"/"+name, data{effect.Unknown, effect.Network}, false)
		}
	}
}

// savedAs is the name of the file that an address names; empty: it names none.
func savedAs(url string) string {
	name := path.Base(url[strings.LastIndexByte(url, ':')+1:])
	if name == "." || name == "/" {
		return ""
	}
	return name
}

// unpackers are the programs that fill a folder with what is in one file.
var unpackers = []string{"tar", "bsdtar", "unzip", "7z", "7za", "7zz", "cpio", "pax", "git"}

// filled notes that a folder is full of what came from somewhere, for the texts
// that follow. If that is the working directory, or a folder above it, not all in
// it came from there: then it is the folder in it that has the archive's name.
func (a *applied) filled(folder string, d data) {
	if program, _, _ := strings.Cut(a.line.by, " "); d.taint == 0 || !slices.Contains(unpackers, program) {
		return
	}
	if folder != a.in.cwd.dir && !strings.HasPrefix(a.in.cwd.dir, folder+"/") && folder != "/" {
		a.fillTree(folder, d.taint)
		return
	}
	for u := range a.line.uses(grammar.Read) {
		a.fillTree(a.in.fs.abs(fileStem(path.Base(a.pathOf(u)))), d.taint)
	}
}

// cloned notes the folder that a clone makes where no word names one.
func (a *applied) cloned(url string) {
	if a.line.by != "git clone" {
		return
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	a.fillTree(a.in.fs.abs(url[strings.LastIndexAny(url, "/:")+1:]), effect.Network)
}

func (a *applied) fillTree(folder string, taint effect.Taint) {
	if a.line.p.Dry || len(folder) < 2 || folder[0] != '/' || folder == a.in.cwd.dir || !effect.IsKnown(folder) {
		return
	}
	if a.in.fs.write(folder, data{effect.Unknown, taint}, true); a.in.rep.stopped() {
		return
	}
	if f := a.in.fs.fileAt(folder); f != nil {
		f.tree = true
	}
}

// fileStem is an archive's name without what says that it is one.
func fileStem(name string) string {
	for _, end := range []string{".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".tbz2", ".txz", ".zip", ".7z", ".cpio"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
