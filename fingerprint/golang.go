package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// bind binds the packages in the words of a command, or "." if there is none, and the
// packages of the same module that they import.
func (r *goReader) bind() {
	dirs, trees := r.goWords()
	r.overlays()
	if len(dirs)+len(trees) == 0 {
		return
	}
	r.modules = r.goModules(append(slices.Clone(dirs), trees...)[0])
	r.generate = slices.Contains(r.c.Argv, "generate")
	for _, tree := range trees {
		r.c.hasCode = true
		dirs = append(dirs, r.goTree(tree)...)
	}
	done, files := map[string]bool{}, 0
	for n := 0; n < len(dirs) && r.Err == nil; n++ { // grows
		if done[dirs[n]] || slices.ContainsFunc(r.goTrees, func(at string) bool { return within(dirs[n], at) }) {
			r.c.hasCode = true
			continue
		}
		if done[dirs[n]] = true; len(done) > disk.MaxTree {
			r.reportUnbound("the packages that %s imports", dirs[0])
			return
		}
		if files > disk.MaxTree/2 { // the modules as a whole
			for _, m := range r.modules {
				if r.BindFolder(m.root, goFiles...) != nil && r.isGoTree(m.root) {
					dirs = append(dirs, r.goTree(m.root)...)
				}
			}
			files = -disk.MaxTree
		}
		for _, file := range r.BindMatchingAny(dirs[n], goFiles) {
			files++
			r.c.hasCode = true
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			says := r.importsOf(file)
			r.directives(file, says)
			dirs = append(dirs, r.importedFrom(says.imports)...)
		}
	}
}

// goWords are the folders of packages in the words of a command. trees are those for ./...
// that are too large to be bound by content.
func (r *goReader) goWords() (dirs, trees []string) {
	for n, base := range r.bases {
		if n > 0 || len(r.bases) == 1 { // named by a word, or the folder itself
			dirs = append(dirs, base)
		}
		for _, w := range r.c.Argv[1:] {
			if rest, ok := strings.CutSuffix(w, "..."); ok && strings.HasPrefix(w, ".") {
				at := filepath.Clean(filepath.Join(base, rest))
				files := r.BindFolder(at, goFiles...)
				if r.isGoTree(at) {
					trees = append(trees, at)
					continue
				}
				for _, file := range files {
					dirs = append(dirs, filepath.Dir(file))
				}
			}
			if file := abs(base, w); strings.HasSuffix(w, ".go") && r.BindCode(file) {
				dirs = append(dirs, filepath.Dir(filepath.Clean(file)))
			}
		}
	}
	return dirs, trees
}

// overlays reports the flag -overlay, which replaces files by others.
func (r *goReader) overlays() {
	argv := r.c.Argv[1:]
	for n, w := range slices.Concat(argv, strings.Fields(strings.Join(r.Values("GOFLAGS"), " "))) {
		value, is := flagValue(w, "-overlay --overlay")
		if is && value == "" && n+1 < len(argv) {
			value = argv[n+1]
		}
		if is {
			r.reportUnbound("what the overlay %s puts in the place of files", effect.Show(value))
		}
	}
}

// importsOf parses a Go file, as far as it can be read.
func (r *goReader) importsOf(file string) (says goFile) {
	if says, ok := r.imported[file]; ok {
		return says
	}
	text, all := r.Contents(file)
	says, ok := parseGo(file, text, all)
	if !ok {
		r.Unread(file, "imports")
	}
	r.imported[file] = says
	return says
}
