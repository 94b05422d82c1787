package fingerprint

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// An interpreterReader binds the code that an interpreter loads.
type interpreterReader struct {
	reading
	l *language
}

// bind binds the code that an interpreter loads, and reports whether its command needs a
// file of code.
func (r interpreterReader) bind() (needs bool) {
	st, l := r.c.Step, r.l
	s := l.starts(st.Argv[1:])
	roots := r.loadsVariables(s.modules, s.dirs)
	if s.main != "" && !s.inline && effect.IsKnown(s.main) {
		for _, base := range r.bases {
			if r.candidates(abs(base, s.main), 0) {
				r.c.hasCode = true
			}
		}
	}
	if slices.Contains(st.Argv, "-m") && strings.HasPrefix(l.Programs, "python") {
		r.shadowed(append(slices.Clone(r.bases), roots...))
	}
	if strings.HasPrefix(l.Programs, "python") {
		r.pythonBeside(s.main, s.inline)
	}
	return s.main != "" && !s.inline && !standardInput[s.main]
}

// loadsVariables binds the modules and folders of flags, and those of variables, and
// returns the folders.
func (r interpreterReader) loadsVariables(modules, dirs []string) (roots []string) {
	for _, name := range strings.Fields(r.l.Options) {
		for _, value := range r.Values(name) {
			more := r.l.starts(strings.Fields(value))
			modules, dirs = append(modules, more.modules...), append(dirs, more.dirs...)
		}
	}
	for _, name := range strings.Fields(r.l.Paths) {
		for _, value := range r.Values(name) {
			for _, part := range splitAny(value, ":;") {
				part, _, _ = strings.Cut(part, "?") // LUA_PATH=./?.lua
				dirs = append(dirs, part)
			}
		}
	}
	roots = r.moduleRoots(dirs)
	for _, m := range modules {
		if !r.loadsModule(m, roots) {
			r.reportUnbound("the module %s", effect.Show(m))
		}
	}
	return roots
}

// moduleRoots binds the folders in which the interpreter searches modules.
func (r interpreterReader) moduleRoots(dirs []string) (roots []string) {
	for _, dir := range dirs {
		if !effect.IsKnown(dir) {
			r.reportUnbound("what lies in %s", effect.Show(dir))
			continue
		}
		for _, base := range r.bases {
			root := filepath.Clean(abs(base, dir))
			if r.Visit(root, disk.Code) && !slices.Contains(roots, root) {
				roots = append(roots, root)
				var kinds []string
				for _, ending := range strings.Fields(r.l.Endings) {
					kinds = append(kinds, "*"+ending)
				}
				r.BindFolder(root, kinds...)
			}
		}
	}
	return roots
}

// loadsModule binds a module that a flag names, and reports whether it is local.
func (r interpreterReader) loadsModule(name string, roots []string) bool {
	if name == "" || !effect.IsKnown(name) {
		return false
	}
	if strings.HasPrefix(r.l.Programs, "perl") {
		name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "-"), "=")
		name, _, _ = strings.Cut(name, " ")
		name = strings.ReplaceAll(name, "::", "/")
	}
	name = strings.TrimPrefix(name, "file://")
	found := false
	for _, root := range append(slices.Clone(roots), r.bases...) {
		found = r.candidates(abs(root, name), 0) || found
	}
	if strings.HasPrefix(r.l.Programs, "node") && !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
		for _, base := range r.bases {
			for _, at := range above(base) {
				if !found {
					found = r.candidates(filepath.Join(at, "node_modules", name), 0)
				}
			}
		}
	}
	r.c.hasCode = r.c.hasCode || found
	return found
}

// candidates binds the files that a name may mean, and reports whether there is one.
func (r interpreterReader) candidates(file string, depth int) (found bool) {
	if depth > 2 || !filepath.IsAbs(file) || len(file) > disk.MaxPath {
		return false
	}
	for _, ending := range append([]string{""}, strings.Fields(r.l.Endings)...) {
		if r.BindCode(file + ending) {
			r.bindScript(file+ending, filepath.Dir(file))
			found = true
		}
	}
	if info, err := r.Stat(file); err != nil || !info.IsDir() || !strings.HasPrefix(r.l.Programs, "node") {
		return found
	}
	if manifest := filepath.Join(file, "package.json"); r.BindCode(manifest) {
		if main := r.packageMain(manifest); main != "" && path.Clean(main) != "." {
			found = r.candidates(filepath.Join(file, main), depth+1) || found
		}
	}
	return r.candidates(filepath.Join(file, "index"), depth+1) || found
}

// packageMain is the main file of a package.json.
func (r interpreterReader) packageMain(manifest string) (main string) {
	text, _ := r.TextOf(manifest, "names")
	if members([]byte(strings.TrimPrefix(text, "\ufeff")), func(key string, value json.RawMessage) error {
		if key == "main" && json.Unmarshal(value, &main) != nil { // npm takes main: false
			main = ""
		}
		return nil
	}) != nil && text != "" {
		r.Unread(manifest, "names")
	}
	return main
}

// shadowed binds a local module with the name of the installed Python module of -m: the
// local one is loaded first.
func (r interpreterReader) shadowed(roots []string) {
	st := r.c.Step
	n := slices.Index(st.Argv, "-m")
	if n+1 >= len(st.Argv) || !effect.IsKnown(st.Argv[n+1]) {
		return
	}
	name := strings.ReplaceAll(st.Argv[n+1], ".", "/")
	for _, root := range roots {
		for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
			r.Visit(filepath.Join(root, at+".py"), disk.Code)
			r.VisitFolder(filepath.Join(root, at), "*.py")
		}
	}
}

// pythonBeside binds the modules that Python finds before its standard library: next to the
// script, or in the working folder.
func (r interpreterReader) pythonBeside(main string, inline bool) {
	st := r.c.Step
	if slices.Contains(st.Argv, "-I") || slices.Contains(st.Argv, "-P") {
		return
	}
	for _, base := range r.bases {
		if main == "" || inline || standardInput[main] {
			r.importsBeside("", base, false)
		} else if script := filepath.Clean(abs(base, main)); r.Bound[script] != "" {
			r.importsBeside("", path.Dir(script), false)
		}
	}
	if program := st.Argv[0]; strings.Contains(program, "/") && effect.IsKnown(program) {
		for _, base := range r.bases {
			venv := filepath.Dir(filepath.Dir(filepath.Clean(abs(base, program))))
			if _, err := r.Stat(filepath.Join(venv, "pyvenv.cfg")); r.Look() && err == nil {
				r.BindPlaces(venv, strings.Fields(sitePackages))
			}
		}
	}
}
