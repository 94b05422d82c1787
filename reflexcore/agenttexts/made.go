package agenttexts

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// A command may put files into a folder before it starts Claude Code there. They are not on the
// disk when the command is judged, so an empty folder proves nothing.

// placers are programs that put whole folders somewhere, in addition to those that unpack.
var placers = wordset.Of(`cp mv gcp gmv install rsync ditto ln gln scp sftp rclone docker podman kubectl aws
	gsutil gcloud shutil.copytree shutil.move shutil.unpack_archive os.symlink os.rename os.replace`)

// mayFill reports whether the command may put one of the files into a folder before a start, or
// creates the folder with unknown content. deep says that the folders in it count, too.
func (r *Reader) mayFill(g *given, dir string, files []string, deep bool) bool {
	made := false
	for i := range g.reads {
		ef := &g.reads[i]
		at := path.Clean(ef.Target)
		if ef.Kind != effect.Write || ef.Bits&effect.Remote != 0 || !strings.HasPrefix(at, "/") || !effect.IsKnown(at) {
			continue
		}
		by := ef.Program()
		switch {
		case takenAway(g.reads, i):
		case effect.MakesFolder(ef):
			made = made || disk.Below(at, dir)
		case at != dir && disk.Below(at, dir):
			made = true
			rest := strings.TrimPrefix(at[len(dir):], "/")
			_, child, _ := strings.Cut(rest, "/")
			is := func(file string) bool { return disk.Below(file, rest) || deep && disk.Below(file, child) }
			if slices.ContainsFunc(files, is) || deep && (unpacks[by] || placers[by] && r.placesOne(g, ef, "", files)) {
				return true
			}
		case disk.Below(dir, at) && (placers[by] || unpacks[by]):
			made = true
			if unpacks[by] || r.placesOne(g, ef, strings.TrimPrefix(dir[len(at):], "/"), files) {
				return true
			}
		}
	}
	others := false // a loop, or one in the background, may run what stands behind before the start
	for i := range g.steps {
		if i == g.at || g.leadsTo(i) {
			continue
		}
		others = others || !g.steps[i].Shell || len(g.steps[i].Argv) > 0 && runsText[g.steps[i].Argv[0]]
		switch clones(&g.steps[i], dir, deep) {
		case clonesOther:
			return true
		case clonesOwn:
			made = true
		case clonesNothing:
		}
	}
	if made || !others {
		return false
	}
	at, _ := r.Links.Real(r.Analyzer.Files, dir)
	_, err := r.Analyzer.Files.Lstat(at)
	return errors.Is(err, fs.ErrNotExist)
}

// runsText are the builtins that run code that is not in the command.
var runsText = wordset.Of(". source eval")

// leadsTo reports whether a command runs the start, such as env and bash -c.
func (g *given) leadsTo(i int) bool {
	for at := g.steps[g.at].Parent; at >= 0 && at < g.at; at = g.steps[at].Parent {
		if at == i {
			return true
		}
	}
	return false
}

// placesOne reports whether a program that copies, moves or links puts one of the files into the
// folder rest below its target.
func (r *Reader) placesOne(g *given, to *effect.Effect, rest string, files []string) bool {
	known := false
	for i := range g.reads {
		from := &g.reads[i]
		if from.Kind != effect.Read || from.By != to.By {
			continue
		}
		known = true
		if from.Bits&effect.Remote != 0 || !effect.IsKnown(from.Target) || !strings.HasPrefix(from.Target, "/") {
			return true
		}
		sources := []string{from.Target}
		if strings.ContainsAny(from.Target, "*?[") {
			sources = r.Names.Seen(from.Target, true, true)[1:]
		}
		for _, source := range sources {
			if r.hasOne(path.Clean(source), rest, files) {
				return true
			}
		}
	}
	return !known
}

// hasOne reports whether one of the files is in the folder rest after source is put there or above
// it, by its content or with its name. A source that is not on the disk may contain anything.
func (r *Reader) hasOne(source, rest string, files []string) bool {
	there := func(p string) bool {
		p, _ = r.Links.Real(r.Analyzer.Files, p)
		_, err := r.Analyzer.Files.Lstat(p)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if !there(source) {
		return true
	}
	if to, _ := r.Links.Real(r.Analyzer.Files, source); !r.isFolder(to) {
		return slices.ContainsFunc(files, func(file string) bool { return path.Join(rest, file) == path.Base(source) })
	}
	for _, file := range files {
		file = path.Join(rest, file)
		if there(source + "/" + file) {
			return true
		}
		if inside, ok := strings.CutPrefix(file, path.Base(source)); ok &&
			(inside == "" || inside[0] == '/' && there(source+inside)) {
			return true
		}
	}
	return false
}

// A cloned says what a command clones.
type cloned int

const (
	clonesNothing cloned = iota
	clonesOwn            // what is the agent's own already, or empty
	clonesOther
)

// cloners are programs that fetch or create whole folders, with the subcommands that do it.
var cloners = map[string]string{
	"git": "clone worktree submodule subtree", "gh": "clone fork create", "glab": "clone fork create", "hub": "clone",
	"hg": "clone share",
	"jj": "clone", "svn": "co checkout export", "degit": "", "tiged": "", "giget": "", "cargo": "new init", "uv": "init",
}

// clones returns what a command clones into a folder, or above it, or, if deep, below it.
func clones(s *shell.Step, dir string, deep bool) cloned {
	if len(s.Argv) < 2 || s.Remote {
		return clonesNothing
	}
	words := s.Argv[1:]
	does := func(word string) bool { return slices.Contains(words[:min(len(words), 12)], word) }
	name := path.Base(s.Argv[0])
	verbs, cloner := cloners[name]
	verb := ""
	for v := range strings.FieldsSeq(verbs) {
		if does(v) {
			verb = v
		}
	}
	plain := verb == "" && name == "git" && does("init") &&
		!slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--template") })
	if !cloner || verb == "" && verbs != "" && !plain {
		return clonesNothing
	}
	aims, operands := false, 0
	for i, word := range words {
		if strings.HasPrefix(word, "-") || i > 0 && (words[i-1] == "-b" || words[i-1] == "-B") || word == verb ||
			word == "add" {
			continue
		}
		operands++
		if !effect.IsKnown(word) && verb != "worktree" {
			aims = true
			continue
		}
		to := word
		if !strings.HasPrefix(to, "/") {
			to = path.Join(s.Dir, to)
		}
		// Without a folder's name, one called as the origin is made here.
		base := path.Join(s.Dir, strings.TrimSuffix(word[strings.LastIndexAny(word, "/:")+1:], ".git"))
		aims = aims || disk.Below(dir, to) && to != s.Dir || disk.Below(dir, base) && base != s.Dir ||
			word == "." && s.Dir == dir ||
			deep && (disk.Below(to, dir) || disk.Below(base, dir)) && word != "."
	}
	switch {
	case !aims && verb != "submodule":
		return clonesNothing
	case plain, name == "cargo", name == "uv", verb == "worktree" && operands == 1:
		return clonesOwn
	case verb == "worktree" && slices.Contains(ownBranches, words[len(words)-1]):
		return clonesOwn
	}
	if verb == "submodule" && !aims && !disk.Below(dir, s.Dir) {
		return clonesNothing
	}
	return clonesOther
}

// ownBranches are names of commits that are not newly fetched.
var ownBranches = []string{"HEAD", "@", "main", "master", "origin/main", "origin/master", "origin/HEAD"}
