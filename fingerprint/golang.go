package fingerprint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds the packages of a Go module that a command builds.

// goFiles are the files of a package.
var goFiles = []string{"*.go", "*.s", "*.S", "*.c", "*.cc", "*.cpp", "*.cxx", "*.m", "*.h", "*.hh", "*.hpp", "*.f",
	"*.syso", "*.swig"}

// goPackages binds the packages that the words of a command name, "." if none does, and
// those of the same module that they import.
func (p *pass) goPackages(i int, bases []string) {
	argv := p.Steps[i].Argv[1:]
	dirs, trees := p.goWords(i, bases)
	p.overlays(argv)
	if len(dirs)+len(trees) == 0 {
		return
	}
	modules := p.goModules(append(slices.Clone(dirs), trees...)[0])
	generate := slices.Contains(argv, "generate")
	for _, tree := range trees {
		p.coded[i] = true
		dirs = append(dirs, p.goTree(tree, modules, generate)...)
	}
	done, files := map[string]bool{}, 0
	for n := 0; n < len(dirs) && p.err == nil; n++ { // grows
		if done[dirs[n]] || slices.ContainsFunc(p.goTrees, func(at string) bool { return within(dirs[n], at) }) {
			p.coded[i] = true
			continue
		}
		if done[dirs[n]] = true; len(done) > maxTree {
			p.named("the packages that %s imports", dirs[0])
			return
		}
		if files > maxTree/2 { // the modules as a whole
			for _, m := range modules {
				if p.folder(m.root, goFiles...) != nil && p.isGoTree(m.root) {
					dirs = append(dirs, p.goTree(m.root, modules, generate)...)
				}
			}
			files = -maxTree
		}
		for _, file := range p.settingsAny(dirs[n], goFiles) {
			files++
			p.coded[i] = true
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			says := p.imports(file)
			p.directives(file, says, generate)
			dirs = append(dirs, p.importedFrom(says.imports, modules)...)
		}
	}
}

// goWords are the folders of packages that the words of a command name, and those of which
// it means all below and that are too large to be bound by their content.
func (p *pass) goWords(i int, bases []string) (dirs, trees []string) {
	for n, base := range bases {
		if n > 0 || len(bases) == 1 { // named by a word, or the folder itself
			dirs = append(dirs, base)
		}
		for _, w := range p.Steps[i].Argv[1:] {
			if rest, ok := strings.CutSuffix(w, "..."); ok && strings.HasPrefix(w, ".") {
				at := filepath.Clean(filepath.Join(base, rest))
				files := p.folder(at, goFiles...)
				if p.isGoTree(at) {
					trees = append(trees, at)
					continue
				}
				for _, file := range files {
					dirs = append(dirs, filepath.Dir(file))
				}
			}
			if strings.HasSuffix(w, ".go") && !p.visit(abs(base, w), code) && p.out[filepath.Join(base, w)] != "" {
				dirs = append(dirs, filepath.Dir(filepath.Join(base, w)))
			}
		}
	}
	return dirs, trees
}

// importedFrom are the folders on this disk of which packages are imported.
func (p *pass) importedFrom(imports []string, modules []goModule) (dirs []string) {
	for _, path := range imports {
		for _, m := range modules {
			if rest, ok := strings.CutPrefix(path+"/", m.path+"/"); ok {
				dirs = append(dirs, filepath.Join(m.root, rest))
			}
			if vendor := filepath.Join(m.root, "vendor"); p.isVendored(vendor) && strings.Contains(path, ".") {
				dirs = append(dirs, filepath.Join(vendor, path))
			}
		}
	}
	return dirs
}

// isVendored reports whether the packages of other modules lie in a folder, and binds its list.
func (p *pass) isVendored(vendor string) bool {
	list := filepath.Join(vendor, "modules.txt")
	if p.once("vendored", list) {
		p.visit(list, code)
	}
	return p.out[list] != ""
}

// overlays names the lists of files that are put in the place of others.
func (p *pass) overlays(argv []string) {
	for n, w := range slices.Concat(argv, strings.Fields(strings.Join(p.values("GOFLAGS"), " "))) {
		value, is := flagValue(w, "-overlay --overlay")
		if is && value == "" && n+1 < len(argv) {
			value = argv[n+1]
		}
		if is {
			p.named("what the overlay %s puts in the place of files", effect.Show(value))
		}
	}
}

// A goModule is a module on this disk.
type goModule struct{ root, path string }

// goModules are the module in which a folder lies, and those of other folders that its
// go.mod, or a go.work above it, put in the place of others.
func (p *pass) goModules(dir string) (modules []goModule) {
	for _, name := range []string{"go.mod", "go.work"} {
		for _, at := range above(dir) {
			file := filepath.Join(at, name)
			if p.visit(file, code); p.out[file] == "" {
				continue
			}
			text, ok := p.text(file, "names")
			own := goModule{root: at}
			block := ""
			for line := range strings.Lines(text) {
				line, _, _ = strings.Cut(line, "//")
				words := strings.Fields(line)
				switch {
				case len(words) == 0:
					continue
				case len(words) == 2 && words[1] == "(":
					block = words[0]
					continue
				case words[0] == ")":
					block = ""
					continue
				case block != "":
					words = append([]string{block}, words...)
				}
				for n := range words {
					words[n] = strings.Trim(words[n], "\"`")
				}
				switch to := words[len(words)-1]; {
				case words[0] == "module" && len(words) == 2:
					own.path = to
				case words[0] == "use" && len(words) == 2:
					modules = append(modules, p.usedModule(abs(at, to)))
				case words[0] == "replace" && len(words) > 3 && (strings.HasPrefix(to, ".") || filepath.IsAbs(to)):
					p.visit(filepath.Join(abs(at, to), "go.mod"), code)
					modules = append(modules, goModule{filepath.Clean(abs(at, to)), words[1]})
				}
			}
			if own.path != "" {
				modules = append(modules, own)
			} else if ok && name == "go.mod" {
				p.unread(file, "names")
			}
			break
		}
	}
	return slices.DeleteFunc(modules, func(m goModule) bool { return m.path == "" })
}

// usedModule is the module of a folder that a go.work uses.
func (p *pass) usedModule(root string) goModule {
	file := filepath.Join(root, "go.mod")
	p.visit(file, code)
	text, _ := p.text(file, "names")
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return goModule{filepath.Clean(root), strings.Trim(words[1], "\"`")}
		}
	}
	return goModule{}
}

// directives binds what the lines of a file that begin with //go: name: files that are
// put into the program, and commands of go generate.
func (p *pass) directives(file string, says goFile, generate bool) {
	if len(says.lines) == 0 || !p.once("go", file, strconv.FormatBool(generate)) {
		return
	}
	dir := filepath.Dir(file)
	for _, line := range says.lines {
		if names, ok := strings.CutPrefix(line, "//go:embed "); ok {
			for _, name := range strings.Fields(names) {
				name = strings.TrimPrefix(strings.Trim(name, "\"`"), "all:")
				for _, found := range p.both(filepath.Join(dir, name)) {
					if p.visit(found, data) {
						p.folder(found)
					}
				}
			}
		}
		if command, ok := strings.CutPrefix(line, "//go:generate "); ok && generate {
			if p.depth >= maxFollowed {
				p.unread(file, "generates")
				return
			}
			call := p.call
			call.Command, call.Args, call.Raw, call.Dir = strings.TrimSpace(command), nil, nil, dir
			p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: file})
		}
	}
}

// A goFile is what a file of Go says of others.
type goFile struct {
	imports []string
	lines   []string // that begin with //go:embed or //go:generate
}

// imports are what a file of Go imports, as far as it can be read.
func (p *pass) imports(file string) (says goFile) {
	if says, ok := p.imported[file]; ok {
		return says
	}
	text, all := p.contents(file)
	says, ok := parseGo(file, text, all)
	if !ok {
		p.unread(file, "imports")
	}
	p.imported[file] = says
	return says
}

// parseGo is what a text of Go says, of which all may be missing but the beginning.
func parseGo(file, text string, all bool) (says goFile, ok bool) {
	if strings.Contains(text, "//go:") {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "//go:embed ") || strings.HasPrefix(line, "//go:generate ") {
				says.lines = append(says.lines, line)
			}
		}
	}
	mode := parser.ImportsOnly
	if !all { // something must show that there are no more imports behind
		mode = parser.SkipObjectResolution
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, mode)
	if f == nil {
		return says, false
	}
	for _, spec := range f.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			says.imports = append(says.imports, path)
		}
	}
	return says, (!all || err == nil) && (all || slices.ContainsFunc(f.Decls, notImport))
}

func notImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return !ok || g.Tok != token.IMPORT
}
