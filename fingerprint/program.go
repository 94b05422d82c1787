package fingerprint

import (
	"path/filepath"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// workDirs are the folders in which a command may run; none if they are unknown.
func (r *reader) workDirs(st *shell.Step) []string {
	switch {
	case filepath.IsAbs(st.Dir) && effect.IsKnown(st.Dir):
		dir := filepath.Clean(st.Dir)
		if dir != filepath.Clean(r.call.Dir) { // cd link
			r.BindLink(dir)
		}
		return []string{dir}
	case filepath.IsAbs(st.May) && effect.IsKnown(st.May):
		return r.BindMatches(st.May)
	}
	return nil
}

// bindProgram binds the program of a command, and returns its files.
func (r *reader) bindProgram(st *shell.Step, name string, bases []string) []string {
	if !strings.Contains(name, "/") && !disk.IsPattern(name) {
		if file := r.lookup(st, name); file != "" {
			r.bindScript(file, st.Dir)
			return []string{file}
		} // else a wrapper may find it there: uv run x.py
	}
	return r.bindPath(name, bases)
}

// bindPath binds a program by its path, or the files that it matches as a pattern.
func (r *reader) bindPath(name string, bases []string) (files []string) {
	if filepath.IsAbs(name) {
		bases = []string{"/"}
	}
	for _, base := range bases {
		files = append(files, r.matchesAndSelf(abs(base, name))...)
	}
	dir := ""
	if len(bases) > 0 && bases[0] != "/" {
		dir = bases[0]
	}
	for _, file := range files {
		r.executes(file, dir)
	}
	return files
}

// lookup finds a program through PATH, binds each candidate, and returns the program's file.
func (r *reader) lookup(st *shell.Step, name string) string {
	list := st.Path
	switch {
	case list == effect.Unknown && r.path == effect.Unknown:
		list = systemPath
	case !effect.IsKnown(list):
		if r.strict {
			r.Name("%s, where PATH is not known", name)
		}
		list = strings.ReplaceAll(list, effect.Unknown, "")
	}
	dirs := filepath.SplitList(list)
	if list == "" { // which means the folder itself
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if dir == "" {
			dir = "."
		}
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(st.Dir) || !effect.IsKnown(st.Dir) {
				r.reportUnbound("%s, where PATH is not known", name)
				continue
			}
			dir = filepath.Join(st.Dir, dir)
		}
		file := filepath.Join(dir, name)
		if !r.BindCode(file) {
			continue
		}
		if info, err := r.Stat(file); err == nil && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
