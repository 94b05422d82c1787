package fingerprint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file finds the programs that names mean.

// workDirs are the folders in which a command may run; none if that is not known.
func (r *reader) workDirs(st *shell.Step) []string {
	switch {
	case filepath.IsAbs(st.Dir) && effect.IsKnown(st.Dir):
		dir := filepath.Clean(st.Dir)
		if dir != filepath.Clean(r.call.Dir) { // cd link
			r.BindLink(dir)
		}
		return []string{dir}
	case filepath.IsAbs(st.May) && effect.IsKnown(st.May):
		return r.Match(st.May)
	}
	return nil
}

// bindProgram binds the program of a command, and returns its files.
func (r *reader) bindProgram(st *shell.Step, name string, bases []string) []string {
	if !strings.Contains(name, "/") {
		if disk.IsPattern(name) {
			return r.here(name, bases)
		}
		if file := r.lookup(st, name); file != "" {
			r.bindScript(file, st.Dir)
			return []string{file}
		}
		return r.here(name, bases) // a wrapper may look for it there: uv run x.py
	}
	return r.here(name, bases)
}

// here binds a program, or what a pattern of it matches, by its path.
func (r *reader) here(name string, bases []string) (files []string) {
	if filepath.IsAbs(name) {
		bases = []string{"/"}
	}
	for _, base := range bases {
		file := abs(base, name)
		if disk.IsPattern(name) {
			files = append(files, r.Match(file)...)
		}
		files = append(files, file)
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

// lookup binds what PATH leads to, and returns the program's file.
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
				r.named("%s, where PATH is not known", name)
				continue
			}
			dir = filepath.Join(st.Dir, dir)
		}
		file := filepath.Join(dir, name)
		if r.Visit(file, disk.Code); r.Bound[file] == "" {
			continue
		}
		if info, err := r.Stat(file); err == nil && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// interpreter binds the program that the first line of a script names, where it is not
// one of the system's.
func (r *reader) interpreter(file, text, dir string) {
	line, ok := strings.CutPrefix(text, "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(path.Base(w), "python") }) {
		r.importsBeside("", path.Dir(file), false)
	}
	if path.Base(words[0]) == "env" {
		for n, w := range words[1:] {
			if name, value, given := strings.Cut(w, "="); given && operand(w) {
				r.AddValue(name, value)
			} else if operand(w) {
				if strings.Contains(w, "/") {
					words = words[n+1:]
					break
				}
				r.interpreterByName(w, dir)
				return
			}
		}
	}
	if name := words[0]; !disk.InSystemFolder(name) && (filepath.IsAbs(name) || filepath.IsAbs(dir)) {
		r.executes(abs(dir, name), dir)
	}
	for _, w := range words[1:] { // #!/usr/bin/node --require=./x
		if filepath.IsAbs(dir) && strings.Contains(w, "/") {
			for _, part := range r.parts(w) {
				r.Visit(abs(dir, part), disk.Code)
			}
		}
	}
}

// interpreterByName binds the program to which PATH leads for the first line of a script,
// up to the first that is one of the system's.
func (r *reader) interpreterByName(name, dir string) {
	list := r.at
	if list == "" || list == effect.Unknown {
		list = r.path
	}
	if list == effect.Unknown {
		return // the system's
	}
	if !effect.IsKnown(list) {
		r.named("%s, where PATH is not known", name)
		list = strings.ReplaceAll(list, effect.Unknown, "")
	}
	for _, at := range filepath.SplitList(list) {
		file := filepath.Join(abs(dir, at), name)
		if !filepath.IsAbs(file) || disk.InSystemFolder(file) && r.IsProgram(file) {
			return
		}
		if r.IsProgram(file) {
			r.Visit(file, disk.Code)
			r.bindScript(file, dir)
			return
		}
	}
}

// parts are a word and what else it can mean: the parts of --file=x, a:b and
// user@host, -fx and ~/x.
func (r *reader) parts(word string) []string {
	if len(word) > disk.MaxPath {
		return r.longParts(word)
	}
	out := []string{word}
	if _, file, ok := strings.Cut(word, "file://"); ok {
		out = append(out, strings.TrimPrefix(file, "localhost"))
	}
	if strings.ContainsAny(word, "=,:@{}") && !strings.Contains(word, "://") {
		out = append(out, strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=,:@{}", r) })...)
	}
	if len(word) > 2 && word[0] == '-' && strings.ContainsAny(word, "./") {
		out = append(out, strings.TrimLeft(word, "-"))
		if word[2] != '-' {
			out = append(out, word[2:])
		}
	}
	home := r.call.Env["HOME"]
	for _, w := range out {
		if rest, ok := strings.CutPrefix(w, "~"); ok && (rest == "" || rest[0] == '/') && filepath.IsAbs(home) {
			out = append(out, home+rest)
		}
	}
	return out
}

// longParts are the parts of a word that is itself too long for a path, such as a list
// of files. A text that only looks like one has few parts, or is named.
func (r *reader) longParts(word string) []string {
	if strings.Contains(word, "://") {
		word = strings.ReplaceAll(word, "://", " ")
	}
	var out []string
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=,:@{}", r) }) {
		part = strings.Trim(part, " \t\n\"'") // of JSON
		if part == "" || len(part) > disk.MaxPath || !strings.ContainsAny(part, "./") && strings.Contains(part, " ") {
			continue
		}
		if out = append(out, part); len(out) > disk.MaxParts {
			r.Name("the files that a word of %d bytes names", len(word))
			return out
		}
	}
	return out
}
