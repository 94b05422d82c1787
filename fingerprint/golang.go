package fingerprint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file finds the packages of a Go module that a command builds.

// goFiles are the files of a package.
var goFiles = []string{"*.go", "*.s", "*.c", "*.h"}

// goPackages binds the packages that the words of a command name, "." if none does, and
// those of the same module that they import.
func (p *pass) goPackages(argv, bases []string) {
	var dirs []string
	for n, base := range bases {
		if n > 0 || len(bases) == 1 { // named by a word, or the folder itself
			dirs = append(dirs, base)
		}
		for _, w := range argv {
			if rest, ok := strings.CutSuffix(w, "..."); ok && strings.HasPrefix(w, ".") {
				for _, file := range p.folder(filepath.Clean(filepath.Join(base, rest)), goFiles...) {
					dirs = append(dirs, filepath.Dir(file))
				}
			}
			if strings.HasSuffix(w, ".go") && !p.visit(abs(base, w), code) && p.out[filepath.Join(base, w)] != "" {
				dirs = append(dirs, filepath.Dir(filepath.Join(base, w)))
			}
		}
	}
	if len(dirs) == 0 {
		return
	}
	root, module := p.goModule(dirs[0])
	done := map[string]bool{}
	for n := 0; n < len(dirs) && p.err == nil; n++ { // grows
		if done[dirs[n]] {
			continue
		}
		if done[dirs[n]] = true; len(done) > maxTree {
			p.named("the packages that %s imports", dirs[0])
			return
		}
		for _, pattern := range goFiles {
			for _, file := range p.settings(dirs[n], pattern) {
				if module == "" || !strings.HasSuffix(file, ".go") {
					continue
				}
				for _, path := range p.imports(file) {
					if rest, ok := strings.CutPrefix(path+"/", module+"/"); ok {
						dirs = append(dirs, filepath.Join(root, rest))
					}
				}
			}
		}
	}
}

// goModule is the folder of the module in which a folder lies, and its path.
func (p *pass) goModule(dir string) (root, module string) {
	for _, at := range above(dir) {
		if p.visit(filepath.Join(at, "go.mod"), code); p.out[filepath.Join(at, "go.mod")] == "" {
			continue
		}
		file := filepath.Join(at, "go.mod")
		text, ok := p.text(file, "names")
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "//")
			if words := strings.Fields(line); len(words) == 2 && words[0] == "module" && words[1] != "(" {
				return at, strings.Trim(words[1], "\"`")
			}
		}
		if ok {
			p.unread(file, "names")
		}
		return at, ""
	}
	return "", ""
}

// imports are what a file of Go imports, as far as it can be read.
func (p *pass) imports(file string) (paths []string) {
	if paths, ok := p.imported[file]; ok {
		return paths
	}
	defer func() { p.imported[file] = paths }()
	text, all := p.contents(file)
	mode := parser.ImportsOnly
	if !all { // something must show that there are no more imports behind
		mode = parser.SkipObjectResolution
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, mode)
	if f == nil || all && err != nil || !all && !slices.ContainsFunc(f.Decls, notImport) {
		p.unread(file, "imports")
	}
	if f == nil {
		return nil
	}
	for _, spec := range f.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func notImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return !ok || g.Tok != token.IMPORT
}
