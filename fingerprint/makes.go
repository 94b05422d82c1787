package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file finds commands that may write any file that a later command of the call runs: build
// tools, local programs, and scripts.

// noteWrites notes the files that the walked text may write.
func (f *flow) noteWrites() {
	if f.unit == "" {
		return
	}
	w := f.writes.entry(f.unit)
	for n := range f.Steps {
		st := &f.Steps[n]
		if w.makes || st.Remote || onlyTells(st) {
			continue
		}
		w.makes = first(st) == "git" && changesTree(st.Argv[1:]) || f.makes(n)
	}
	for n := range f.Effects {
		e := &f.Effects[n]
		if e.Kind != effect.Write || !effect.IsKnown(e.Target) || e.What == "dir" {
			continue
		}
		w.files = append(w.files, filepath.Clean(e.Target))
		if e.Bits&effect.Recursive != 0 || copiers[e.By] || wordset.Has("tar bsdtar unzip 7z cpio", e.By) {
			w.trees = append(w.trees, filepath.Clean(e.Target))
		}
	}
}

// onlyTells reports whether a command only prints the version or the help.
func onlyTells(st *shell.Step) bool {
	return len(st.Argv) == 2 && wordset.Has("--version --help -V -v -h -version -help", st.Argv[1])
}

// makes reports whether a step may write any content to any file.
func (f *flow) makes(n int) bool {
	st := &f.Steps[n]
	name := first(st)
	switch {
	case name == "" || st.Shell:
		return false
	case interprets(name) || makers[name]:
		return true
	case f.commands[n].wrapped || isChecker(st.Argv[0]):
		return false
	case translators[name]:
		return !onlyChecks(name, st.Argv[1:])
	case fetchers[name]:
		return len(st.Argv) < 2 || !looking[st.Argv[1]]
	case wordset.Has("awk gawk mawk nawk sed gsed", name):
		return has(st, "-f --file")
	case wordset.Has("yarn pnpm bun npx pnpx bunx", name):
		return f.makesByName(st)
	case st.Program == "":
		return !f.isRead(n)
	}
	return slices.ContainsFunc(st.Argv[1:], func(w string) bool { return bringing[name+":"+w] }) ||
		name == "cargo" && slices.ContainsFunc(f.workDirs(st), func(base string) bool {
			return f.IsFileOrHidden(filepath.Join(base, "build.rs"))
		})
}

// onlyChecks reports whether a translator only checks. A word after a flag may be the flag's
// value: in -p test it is a folder.
func onlyChecks(name string, words []string) bool {
	if wordset.Has("tsc vue-tsc", name) && slices.Contains(words, "--noEmit") {
		return true
	}
	told := false
	for i, w := range words {
		switch {
		case !operand(w):
			told = told || checks[w]
		case w == "run" && i == 0:
		case !checks[w], i > 0 && !operand(words[i-1]) && !silents[words[i-1]]:
			return false
		default:
			told = true
		}
	}
	return told
}

// makesByName reports whether a word of a step names an installed program that may write any file,
// as in yarn tsc. A script of that name is walked instead.
func (f *flow) makesByName(st *shell.Step) bool {
	at := slices.IndexFunc(st.Argv[1:], operand)
	if at < 0 {
		return false
	}
	name := st.Argv[1+at]
	if onlyChecks(name, st.Argv[2+at:]) {
		return false
	}
	if interprets(name) || translators[name] || makers[name] {
		return true
	}
	if checkers[name] || strings.Contains(name, "/") || !effect.IsKnown(name) {
		return !effect.IsKnown(name)
	}
	return slices.ContainsFunc(f.workDirs(st), func(base string) bool {
		return f.IsFileOrHidden(filepath.Join(base, "node_modules/.bin", name))
	})
}

// isRead reports whether the program of a step is a script that was walked, so that its writes are
// known.
func (f *flow) isRead(n int) bool {
	st := &f.Steps[n]
	name := st.Argv[0]
	if !effect.IsKnown(name) {
		return false
	}
	read := func(file string) bool { w := f.writes[filepath.Clean(file)]; return w != nil && w.read }
	if !strings.Contains(name, "/") {
		return f.commands[n].program != "" && read(f.commands[n].program)
	}
	bases := f.workDirs(st)
	return len(bases) > 0 && !slices.ContainsFunc(bases, func(base string) bool { return !read(abs(base, name)) })
}

// changesTree reports whether a command of git changes the working tree.
func changesTree(words []string) bool {
	for len(words) > 0 && !operand(words[0]) {
		skip := 1
		if wordset.Has("-C -c --git-dir --work-tree --namespace --exec-path --config-env", words[0]) {
			skip = 2
		}
		words = words[min(skip, len(words)):]
	}
	if len(words) == 0 {
		return false
	}
	has := func(flags string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return wordset.Has(flags, w) || !effect.IsKnown(w) })
	}
	switch words[0] {
	case "checkout", "switch": // a new branch at what is checked out
		return len(words) != 3 || !wordset.Has("-b -c --create", words[1])
	case "stash", "submodule", "worktree", "bisect":
		return !has("list show status log")
	case "reset":
		return has("--hard --merge --keep")
	}
	return !effect.IsKnown(words[0]) || branches[words[0]]
}
