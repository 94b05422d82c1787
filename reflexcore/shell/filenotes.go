package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// This file notes what a command does to files that it does not name itself: copies, downloads,
// unpacked archives and the like.

// deleteBefore adds what is deleted if the last cd failed, where that is worse: in the root, in a
// folder directly below it, or in the home.
func (fn *fileNotes) deleteBefore(u *grammar.Use, taint effect.Taint) {
	in := fn.in
	if in.cwd.before == "" || in.cwd.before == in.cwd.dir || u.Word < 0 || strings.HasPrefix(u.Text, "/") ||
		strings.HasPrefix(u.Text, "~") {
		return
	}
	if strings.LastIndexByte(in.cwd.before, '/') != 0 && in.cwd.before != in.par.valueOf("HOME").text {
		return
	}
	dir := in.cwd.dir
	in.cwd.dir = in.cwd.before
	fn.add(effect.Delete, u, fn.pathOf(u), taint)
	in.cwd.dir = dir
}

// takesAway reports whether a use writes the file that mv moves away, and clears the origin of
// that file. The file gets no new text: it is gone, or unchanged.
func (fn *fileNotes) takesAway(u *grammar.Use, p string) bool {
	f := fn.in.fs.fileAt(p)
	if !fn.line.p.Copies || u.Word < 0 || f == nil || f.path != p || f.sink != nil {
		return false
	}
	reads := func(o grammar.Use) bool { return o.Role == grammar.Read && o.Word == u.Word }
	if !slices.ContainsFunc(fn.line.p.Uses, reads) {
		return false
	}
	f.built, f.from = false, nil
	if hasFlag(fn.line.argv, "", "--ex") {
		for o := range fn.line.uses(grammar.Write) { // mv --exchange: it has what the other one had
			if o.Word != u.Word {
				fn.in.fs.write(p, fn.in.fs.contentOf(fn.pathOf(o)), false)
			}
		}
	}
	return true
}

// noteCopy notes that a file is now a copy of another one, so that running the copy is running the
// original. Fresh says that nothing was known about the file before.
func (fn *fileNotes) noteCopy(to string, fresh bool) {
	for u := range fn.line.uses(grammar.Read) {
		if fn.reads == 1 {
			fn.another(to, fn.pathOf(u), u, fresh)
		}
	}
	fn.copiedInto(to)
}

// copiedInto notes the copies that are made if the target is a folder.
func (fn *fileNotes) copiedInto(folder string) {
	for u := range fn.line.uses(grammar.Read) {
		from := fn.pathOf(u)
		if to := strings.TrimSuffix(folder, "/") + "/" + path.Base(from); from != folder && from != to {
			fresh := fn.in.fs.fileAt(to) == nil
			fn.in.fs.write(to, fn.in.fs.contentOf(from), false)
			fn.another(to, from, u, fresh)
		}
	}
}

// another notes that a file now stands for another one: it is a copy of it, or a link to it. Fresh
// says that nothing was known about the file before.
func (fn *fileNotes) another(to, from string, u *grammar.Use, fresh bool) {
	if fresh {
		defer fn.inherits(to, from)
	}
	f := fn.in.fs.fileAt(to)
	switch {
	case f == nil:
	case u.Arg != "link":
		if fn.in.fs.fileAt(from) == nil {
			fn.in.fs.agesInBranch(f)
			f.alias = from
		}
	default:
		if hasFlag(fn.line.argv, "s", "--sym") && !strings.HasPrefix(from, "~") && u.Text != "" && u.Text[0] != '/' {
			// A relative symbolic link starts from its own folder.
			from = fn.in.fs.abs(fn.in.arena.concat(path.Dir(to), "/", u.Text))
			f = fn.in.fs.fileAt(to)
		}
		if from != to && f != nil {
			fn.in.fs.agesInBranch(f)
			f.alias, f.link = from, true
			fn.in.fs.links++
		}
	}
}

// takesInside reports whether a copy takes the contents of a folder, and not the folder itself.
func (l *commandLine) takesInside(word string) bool {
	if !l.p.Copies {
		return false
	}
	if word == "." || strings.HasSuffix(strings.TrimSuffix(word, "/"), "/.") ||
		l.by == "rsync" && strings.HasSuffix(word, "/") {
		return true
	}
	return l.by != "rsync" && hasFlag(l.argv, "T", "--no-target")
}

// noteBuilt notes that a compiler made a file. Running it is running the project's code, as with
// ./a.out and go run, so its unknown text does not count against it. That does not hold for the
// output of a preprocessor, or for data that was downloaded or decoded.
func (fn *fileNotes) noteBuilt(p string, d data) {
	if compilers[fn.line.by] == nil || d.taint&^effect.File != 0 || !effect.IsKnown(p) ||
		slices.ContainsFunc(fn.line.argv, isTextFlag) {
		return
	}
	if f := fn.in.fs.fileAt(p); f != nil && f.path == p && f.sink == nil && strings.Trim(f.text, effect.Unknown) == "" {
		f.built = true
		if fn.line.by == "go build" && slices.ContainsFunc(fn.line.argv[1:], fn.in.fs.isOwnPackage) {
			f.alias = "/usr/bin/" + ownName
		}
	}
}

// isTextFlag reports whether a word may make a compiler write a text instead of a
// program, or take its words from a file.
func isTextFlag(w string) bool {
	return w == "" || !effect.IsKnown(w) || w[0] == '@' || wordset.HasAnyPrefix(w, textFlags...)
}

// textFlags are the prefixes of compiler flags that may do so.
var textFlags = strings.Fields(`-E -S -M -fsyntax-only --preprocess --emit --print --format --oformat -x -wrapper
	-specs -B -toolexec --banner --footer`)

// compilers make programs from the sources of a project.
var compilers = table("compilers")

// downloaders save a download under its own name, even if the address has no scheme.
var downloaders = wordset.Of("wget curl aria2c axel scp rsync sftp")

// saved notes the file that a download is saved as where no flag names one.
func (fn *fileNotes) saved(url string) {
	if fn.line.p.Dry || fn.line.by == "curl" && !hasFlag(fn.line.argv, "O", "--remote-n") {
		return
	}
	if !strings.Contains(url, "://") && !downloaders[fn.line.p.Program.Name] {
		return // the name of a package
	}
	url, _, _ = strings.Cut(url, "?")
	if name := savedAs(url); name != "" && fn.in.cwd.dir != effect.Unknown {
		fn.in.fs.write(fn.in.fs.abs(name), data{effect.Unknown, effect.Network}, false)
	}
}

// fetchedInto notes the file that a download makes in its target folder.
func (fn *fileNotes) fetchedInto(folder string) {
	if !downloaders[fn.line.p.Program.Name] {
		return
	}
	for u := range fn.line.uses(grammar.Fetch) {
		if name := savedAs(u.Text); name != "" {
			fn.in.fs.write(strings.TrimSuffix(folder, "/")+"/"+name, data{effect.Unknown, effect.Network}, false)
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

// unpackers are the programs that fill a folder with the contents of one file.
var unpackers = []string{"tar", "bsdtar", "unzip", "7z", "7za", "7zz", "cpio", "pax", "git"}

// filled notes, for later texts, that a folder was filled with the contents of an archive. If it
// is the working directory, or a folder above it, not everything in it comes from the archive:
// then the folder in it that has the archive's name is noted.
func (fn *fileNotes) filled(folder string, d data) {
	if program, _, _ := strings.Cut(fn.line.by, " "); d.taint == 0 || !slices.Contains(unpackers, program) {
		return
	}
	if folder != fn.in.cwd.dir && !strings.HasPrefix(fn.in.cwd.dir, folder+"/") && folder != "/" {
		fn.fillTree(folder, d.taint)
		return
	}
	for u := range fn.line.uses(grammar.Read) {
		fn.fillTree(fn.in.fs.abs(fileStem(path.Base(fn.pathOf(u)))), d.taint)
	}
}

// cloned notes the folder that a clone makes where no word names one.
func (fn *fileNotes) cloned(url string) {
	if fn.line.by != "git clone" {
		return
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	fn.fillTree(fn.in.fs.abs(url[strings.LastIndexAny(url, "/:")+1:]), effect.Network)
}

func (fn *fileNotes) fillTree(folder string, taint effect.Taint) {
	if fn.line.p.Dry || len(folder) < 2 || folder[0] != '/' || folder == fn.in.cwd.dir || !effect.IsKnown(folder) {
		return
	}
	if fn.in.fs.write(folder, data{effect.Unknown, taint}, true); fn.in.rep.stopped() {
		return
	}
	if f := fn.in.fs.fileAt(folder); f != nil {
		f.tree, f.cloned = true, fn.clonesForge()
	}
}

// forges are hosts of repositories whose owners are known to people, and that give what is asked for.
var forges = wordset.Of(section("forges"))

// clonesForge reports whether the command clones one repository from a forge, with nothing that may lead
// elsewhere: a user in the address, or settings.
func (fn *fileNotes) clonesForge() bool {
	if fn.line.by != "git clone" || fn.in.dirs.configured ||
		slices.ContainsFunc(fn.line.argv[1:], func(w string) bool { return strings.HasPrefix(w, "-") && !plainlyClones(w) }) {
		return false
	}
	from := 0
	for u := range fn.line.uses(grammar.Fetch) {
		rest, ok := strings.CutPrefix(u.Text, "https://")
		host, repo, _ := strings.Cut(rest, "/")
		if !ok || !forges[host] || repo == "" || strings.Contains(repo, "..") {
			return false
		}
		from++
	}
	return from == 1
}

// plainlyClones reports whether an option of git clone only says how much comes, and what is told of it.
func plainlyClones(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return wordset.Has("-q --quiet -v --verbose --progress --depth -b --branch --single-branch --no-single-branch "+
		"--no-tags --recursive --recurse-submodules --shallow-submodules -j --jobs --filter -C "+
		"--shallow-since --sparse --", name)
}

// changesClones notes that a command of git may put into the clones of this text what is not of their forge.
func (fn *fileNotes) changesClones() {
	verb, ok := strings.CutPrefix(fn.line.by, "git ")
	verb, _, _ = strings.Cut(verb, " ")
	switch {
	case fn.line.by == "patch" && fn.std.taint&effect.Network != 0, fn.line.by == "hub",
		strings.HasPrefix(fn.line.by, "gh") && slices.Contains(fn.line.argv, "checkout"):
		verb = "apply"
	case !ok || wordset.Has(keepsClones, verb):
		return
	}
	if wordset.Has("fetch pull", verb) && !slices.ContainsFunc(fn.line.argv[1:], func(w string) bool {
		return !effect.IsKnown(w) || strings.ContainsAny(w, ":/")
	}) {
		return
	}
	for i := range fn.in.fs.list {
		fn.in.fs.list[i].cloned = false
	}
}

// keepsClones are the commands of git after which a clone has what its forge has.
const keepsClones = "clone checkout switch reset restore status log show diff describe rev-parse tag branch " +
	"submodule clean ls-files rev-list"

// mountsImage notes that a folder has what is in the image that is mounted there.
func (fn *fileNotes) mountsImage() {
	if fn.line.by != "mount" {
		return
	}
	taint := effect.Taint(0)
	for u := range fn.line.uses(grammar.Read) {
		if f := fn.in.fs.fileAt(fn.in.fs.abs(fn.pathOf(u))); f != nil {
			taint |= f.taint
		}
	}
	for u := range fn.line.uses(grammar.Permission) {
		if p := fn.in.fs.abs(fn.pathOf(u)); u.Arg == "mount-image" && taint != 0 {
			fn.fillTree(p, taint)
		}
	}
}

// fileStem is an archive's name without the extensions of archives.
func fileStem(name string) string {
	for _, end := range []string{".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".tbz2", ".txz", ".zip", ".7z", ".cpio"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
