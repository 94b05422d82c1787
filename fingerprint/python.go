package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// pythonImport finds the modules that a text of Python imports.
var pythonImport = regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|` +
	`import[ \t]+([\w., \t]+))|[;:][ \t]*import[ \t]+([\w.]+)`)

// importsBeside binds the Python modules in a folder that shadow one of the standard
// library, and, if all is set, those that a text imports too. A module that appears later
// changes the fingerprint.
func (r *reader) importsBeside(text, dir string, all bool) {
	if !filepath.IsAbs(dir) || !effect.IsKnown(dir) {
		return
	}
	names, ok := r.ListDir(dir)
	if !ok || len(names) == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
		if !all {
			break
		}
		for _, w := range splitAny(strings.Join(m[1:], ","), ", \t") {
			w, _, _ = strings.Cut(w, ".")
			wanted[w] = true
		}
	}
	for _, name := range names {
		module, _, _ := strings.Cut(name, ".")
		if !wanted[module] && !pythonLibrary[module] {
			continue
		}
		switch at := filepath.Join(dir, name); {
		case disk.Like(name, []string{"*.py", "*.pyc", "*.so", "*.pyd"}):
			r.BindListed(at)
		case name == module && r.IsDir(at): // a package, or one without __init__.py
			r.BindFolder(at, "*.py", "*.so")
		}
	}
}

// isPython reports whether a settings file names Python modules.
func isPython(file string) bool {
	return disk.Like(filepath.Base(file), strings.Fields("*.py pytest.ini .pytest.ini tox.ini setup.cfg pyproject.toml"))
}

// pythonName matches the name of a module in settings.
var pythonName = regexp.MustCompile(`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)

// pythonNames binds the modules that settings name, in each of some folders.
func (r *reader) pythonNames(text string, places []string) {
	seen := map[string]bool{}
	for _, name := range pythonName.FindAllString(text, -1) {
		if seen[name] {
			continue
		}
		seen[name] = true
		first, _, _ := strings.Cut(name, ".")
		for _, dir := range places {
			if !r.HasEntry(dir, first) && !r.HasEntry(dir, first+".py") {
				continue
			}
			at := filepath.Join(dir, strings.ReplaceAll(name, ".", "/"))
			for _, file := range []string{at + ".py", filepath.Dir(at) + ".py", filepath.Join(at, "__init__.py")} {
				if info, err := r.Stat(file); r.Look() && err == nil && info.Mode().IsRegular() {
					r.BindListed(file)
				}
			}
		}
	}
}
