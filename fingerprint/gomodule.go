package fingerprint

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example/fingerprint/disk"
)

// goFiles are the files of a package.
var goFiles = []string{"*.go", "*.s", "*.S", "*.c", "*.cc", "*.cpp", "*.cxx", "*.m", "*.h", "*.hh", "*.hpp", "*.f",
	"*.syso", "*.swig"}

// A goReader reads the packages that a command of Go builds.
type goReader struct {
	reading
	modules  []goModule // local ones from which it may import
	generate bool       // the command runs go:generate
}

// importedFrom are the local folders of imported packages.
func (r *goReader) importedFrom(imports []string) (dirs []string) {
	for _, path := range imports {
		for _, m := range r.modules {
			if rest, ok := strings.CutPrefix(path+"/", m.path+"/"); ok {
				dirs = append(dirs, filepath.Join(m.root, rest))
			}
			if vendor := filepath.Join(m.root, "vendor"); r.isVendored(vendor) && strings.Contains(path, ".") {
				dirs = append(dirs, filepath.Join(vendor, path))
			}
		}
	}
	return dirs
}

// isVendored reports whether a vendor folder has a list of modules, and binds the list.
func (r *goReader) isVendored(vendor string) bool {
	list := filepath.Join(vendor, "modules.txt")
	if r.Once("vendored", list) {
		r.Visit(list, disk.Code)
	}
	return r.Bound[list] != ""
}

// A goModule is a module on this disk.
type goModule struct{ root, path string }

// goModules are the module of a folder, and the local modules in the replace and use lines
// of its go.mod and go.work.
func (r *goReader) goModules(dir string) (modules []goModule) {
	for _, name := range []string{"go.mod", "go.work"} {
		for _, at := range above(dir) {
			file := filepath.Join(at, name)
			if !r.BindCode(file) {
				continue
			}
			text, ok := r.TextOf(file, "names")
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
					modules = append(modules, r.usedModule(abs(at, to)))
				case words[0] == "replace" && len(words) > 3 && (strings.HasPrefix(to, ".") || filepath.IsAbs(to)):
					r.Visit(filepath.Join(abs(at, to), "go.mod"), disk.Code)
					modules = append(modules, goModule{filepath.Clean(abs(at, to)), words[1]})
				}
			}
			if own.path != "" {
				modules = append(modules, own)
			} else if ok && name == "go.mod" {
				r.Unread(file, "names")
			}
			break
		}
	}
	return slices.DeleteFunc(modules, func(m goModule) bool { return m.path == "" })
}

// usedModule is the module of a folder that a go.work uses.
func (r *goReader) usedModule(root string) goModule {
	file := filepath.Join(root, "go.mod")
	r.Visit(file, disk.Code)
	text, _ := r.TextOf(file, "names")
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return goModule{filepath.Clean(root), strings.Trim(words[1], "\"`")}
		}
	}
	return goModule{}
}

// directives binds the files of go:embed lines and the commands of go:generate lines.
func (r *goReader) directives(file string, says goFile) {
	if len(says.lines) == 0 || !r.Once("go", file, strconv.FormatBool(r.generate)) {
		return
	}
	dir := filepath.Dir(file)
	for _, line := range says.lines {
		if names, ok := strings.CutPrefix(line, "//go:embed "); ok {
			for _, name := range strings.Fields(names) {
				name = strings.TrimPrefix(strings.Trim(name, "\"`"), "all:")
				for _, found := range r.matchesAndSelf(filepath.Join(dir, name)) {
					if r.Visit(found, disk.Data) {
						r.BindFolder(found)
					}
				}
			}
		}
		if command, ok := strings.CutPrefix(line, "//go:generate "); ok && r.generate {
			if r.depth >= disk.MaxFollowed {
				r.Unread(file, "generates")
				return
			}
			r.runs(strings.TrimSpace(command), dir, nil, scope{strict: r.strict, words: true, of: file})
		}
	}
}
