package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file is about lists of all files below a folder, which go to a program that deletes or empties what it
// gets: that is the same as a delete of the folder.

// fdValues are the flags of fd that take a value of their own.
const fdValues = "-d --max-depth --min-depth --exact-depth -E --exclude -t --type -S --size " +
	"--changed-within --changed-before --newer --older -o --owner -c --color -j --threads -C --base-directory " +
	"--search-path --max-results --ignore-file --format --batch-size"

// findsAny reports whether fd finds files of any name: it has no pattern with a letter, and no ending.
func (l *commandLine) findsAny() bool {
	if l.p.Program == nil || l.p.Program.Name != "fd" {
		return false
	}
	for i := 1; i < len(l.argv); i++ {
		switch w := l.argv[i]; {
		case wordset.HasAnyPrefix(w, "-x", "-X", "--exec"):
			return true
		case wordset.HasAnyPrefix(w, "-e", "--extension"):
			return false
		case wordset.Has(fdValues, w):
			i++
		case !strings.HasPrefix(w, "-"):
			return !strings.ContainsFunc(w, isNameLetter)
		}
	}
	return true
}

// listsAll reports whether git ls-files shows every file, and not only what is ignored or gone.
func (l *commandLine) listsAll() bool {
	return !slices.ContainsFunc(l.argv[1:], func(w string) bool {
		return w != "ls-files" && !strings.HasPrefix(w, "-") ||
			wordset.HasAnyPrefix(w, "-i", "--ig", "-d", "--del", "-u", "--unm", "--fo")
	})
}

// listedAll is what find prints if nothing but a kind of file restricts it, and it searches the project.
func (lr *listRunner) listedAll() (data, bool) {
	argv := lr.line.argv
	for i := 1; i < len(argv); i++ {
		switch w := argv[i]; {
		case lr.line.isOperand(i), wordset.Has("-print -print0 -not ! -a -and", w):
		case wordset.Has("-type -maxdepth -mindepth -path", w) && !wordset.Has("0 d l", argv[min(i+1, len(argv)-1)]):
			i++
		default:
			return data{}, false
		}
	}
	roots := lr.roots()
	if slices.ContainsFunc(roots, func(p string) bool { return !effect.IsKnown(p) || !lr.in.fs.near(p) }) {
		return data{}, false
	}
	var text strings.Builder
	for _, root := range roots {
		text.WriteString(strings.TrimSuffix(root, "/") + "/" + effect.Unknown + "\n")
	}
	return data{text.String(), lr.taint | effect.File}, true
}

// isAnyBelow reports whether a word is any file below a folder of the project, or a temporary one.
func (fsys *filesystem) isAnyBelow(f field) bool {
	dir, ok := strings.CutSuffix(f.text, "/"+effect.Unknown)
	return ok && f.taint&effect.File != 0 && effect.IsKnown(dir) && fsys.near(dir)
}

// losesFiles reports whether a program deletes or empties the files that are its operands.
func losesFiles(program string) bool {
	const losing = "rm grm unlink shred trash trash-put rmtrash srm truncate wipe rip del"
	return wordset.Has(losing, agentcli.ProgramName(program))
}
