package fingerprint

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// A makeReader reads the makefiles of one command of make, or the justfiles of just.
type makeReader struct {
	reading
	file string // the first one
	m    *makefile
}

// bind binds the files that the recipes for a command run and include.
func (r makeReader) bind() {
	argv := r.c.Argv[1:]
	if r.Bound[filepath.Clean(r.file)] == "" || !r.Once(append([]string{"make", r.file}, argv...)...) {
		return
	}
	if r.depth >= disk.MaxFollowed {
		r.Unread(r.file, "runs")
		return
	}
	r.m = newMakefile()
	m, targets := r.m, r.words()
	r.makefile(r.file, map[string]bool{})
	r.bindSpecial()
	r.functions()
	m.vpaths = append(m.vpaths, r.Values("VPATH")...)
	r.bindBuiltFrom(targets)
	asked, maybe := m.recipesOf(targets)
	for n, line := range append(asked, maybe...) {
		for _, command := range m.called(line, "shell") {
			r.runComputed(command)
		}
		// An unknown value becomes a variable that the shell does not know either.
		text := strings.ReplaceAll(m.expand(line), effect.Unknown, "${__make__}")
		r.runs(text, m.dir, m.env, scope{strict: r.strict && n < len(asked), of: r.file, sure: n < len(asked), made: m})
	}
	if m.short {
		r.Unread(r.file, "runs")
	}
}

// words gives the variables in the words of the command to the makefile, and returns the targets.
func (r makeReader) words() (targets []string) {
	m, argv := r.m, r.c.Argv[1:]
	for _, w := range argv {
		if name, value, ok := strings.Cut(w, "="); ok && !strings.HasPrefix(w, "-") {
			m.given[name] = value
		} else if operand(w) {
			targets = append(targets, w)
		}
	}
	dir := filepath.Dir(r.file)
	if r.name == "just" {
		for _, value := range flagValues(r.c.Step, "-d --working-directory") {
			for _, base := range r.workDirs(r.c.Step) {
				dir = filepath.Clean(abs(base, value))
			}
		}
	}
	m.dir, m.carried = dir, r.call.Env
	m.isFile = func(name string) bool {
		info, err := r.Stat(abs(dir, name))
		return !r.Look() || err != nil && !disk.IsAbsent(err) || err == nil && !info.IsDir()
	}
	for n := range argv { // make -I folder
		if value, is := flagAt(argv, n, "-I --include-dir"); is {
			m.searched = append(m.searched, abs(dir, value))
		}
	}
	m.lists = func(pattern string) (names []string) {
		bound := maps.Clone(r.Bound)
		found := r.BindMatches(abs(dir, pattern))
		r.Bound = bound // what a recipe does with them binds them: a list of objects grows
		for _, at := range found {
			if !filepath.IsAbs(pattern) {
				at = strings.TrimPrefix(at, filepath.Clean(dir)+"/")
			}
			names = append(names, at)
		}
		return names
	}
	return targets
}

// makefile reads a makefile and its includes into one.
func (r makeReader) makefile(file string, read map[string]bool) {
	if read[file] || r.Err != nil {
		return
	}
	read[file] = true
	text, ok := r.TextOf(file, "runs")
	if !ok {
		return
	}
	m := r.m
	m.read(text)
	includes := m.includes
	m.includes = nil
	for _, names := range includes {
		for _, name := range strings.Fields(m.expand(names)) {
			name = strings.Trim(name, `"'`)
			if !effect.IsKnown(name) {
				r.reportUnbound("what is included by the line: include %s", names)
				continue
			}
			// of make, and of just
			for _, from := range slices.Compact(append([]string{m.dir, filepath.Dir(file)}, m.searched...)) {
				for _, found := range r.included(abs(from, name)) {
					if !r.Visit(found, disk.Code) {
						r.makefile(filepath.Clean(found), read)
					}
				}
			}
		}
	}
}

// included are the files that an included name or pattern means, without dependency files
// of a compiler, which change with each build.
func (r makeReader) included(name string) (files []string) {
	key := "match " + name
	for strings.Contains(key, "/./") {
		key = strings.ReplaceAll(key, "/./", "/")
	}
	before, was := r.Bound[key] // the command itself may mean all of them
	for _, file := range r.matchesAndSelf(name) {
		if !r.onlyNeeds(file) {
			files = append(files, file)
		}
	}
	list := disk.ListHash(files)
	if _, ok := r.Bound[key]; ok && (!was || before == list) {
		r.Bound[key] = list
	}
	return files
}

// bindSpecial handles the special variables of make that change all recipes.
func (r makeReader) bindSpecial() {
	flags := strings.Fields(r.m.expand(r.m.setting(".SHELLFLAGS")))
	if slices.ContainsFunc(flags, func(w string) bool { return !shellFlag.MatchString(w) }) {
		r.m.short = true
	}
	if raw := r.m.setting("SHELL"); raw != "" && !shellFound.MatchString(raw) {
		shell := r.m.expand(raw)
		words := strings.Fields(strings.TrimPrefix(shell, "/usr/bin/env "))
		r.m.short = r.m.short || len(words) == 0 || !shells[path.Base(words[0])] ||
			slices.ContainsFunc(words[1:], func(w string) bool { return !shellFlag.MatchString(w) })
		if effect.IsKnown(shell) && !disk.InSystemFolder(shell) {
			r.runComputed(shell + " -c :")
		}
	}
	for _, name := range []string{".RECIPEPREFIX", "MAKEFILES"} {
		if _, ok := r.m.vars[name]; ok {
			r.m.short = true
		}
	}
	r.exports()
}

// exports sets the exported variables for the recipes, and binds the files that they name.
func (r makeReader) exports() {
	env := map[string]string{}
	maps.Copy(env, r.call.Env)
	for _, given := range []map[string]string{r.m.vars, r.m.given} {
		for name, raw := range given {
			_, carried := r.call.Env[name]
			if !r.m.exportAll && !r.m.exported[name] && !carried || name == "SHELL" || name == "MAKEFLAGS" {
				continue
			}
			value := r.m.expand(raw)
			if !effect.IsKnown(value) && loading[name] {
				r.unreadStrict(r.file, "runs")
			}
			env[name] = value
			if name != "PATH" {
				r.AddValue(name, value)
				r.bindValue(r.m.dir, value)
			}
		}
	}
	r.m.env = env
}

// functions binds the files that functions of make run or search.
func (r makeReader) functions() {
	for _, body := range r.m.plain {
		for _, command := range r.m.called(body, "shell") {
			r.runComputed(command)
		}
		if n := strings.Index(body, "!="); n > 0 && !strings.ContainsAny(body[:n], "(:$=") {
			r.runComputed(strings.TrimSpace(body[n+2:]))
		}
		if parts := strings.Split(body, "`"); strings.Contains(r.file, "ust") && len(parts) > 2 { // of just
			for n := 1; n < len(parts); n += 2 {
				r.runComputed(parts[n])
			}
		}
		asks := strings.HasPrefix(body, "if") || strings.HasPrefix(body, "else") || strings.Contains(body, "$(if ")
		for _, names := range r.m.called(body, "wildcard") {
			r.bindAsked(r.m.expand(names), asks)
		}
	}
}

// bindAsked binds the existence of files that a makefile tests. The matches of a pattern
// count only in conditions; elsewhere they are a list of sources.
func (r makeReader) bindAsked(names string, decides bool) {
	for _, name := range strings.Fields(names) {
		at := abs(r.m.dir, name)
		switch {
		case !effect.IsKnown(name) || !filepath.IsAbs(at):
			if decides {
				r.unreadStrict(r.file, "asks for")
			}
		case disk.IsPattern(name):
			if decides {
				r.BindMatches(at)
			}
		case r.Visit(at, disk.Code):
			r.Bound["there "+filepath.Clean(at)] = "folder"
		}
	}
}

// runComputed walks a command whose output becomes a part of the makefile.
func (r makeReader) runComputed(command string) {
	text := strings.ReplaceAll(r.m.expand(command), effect.Unknown, "${__make__}")
	if !r.Once("computed", r.m.dir, text) {
		return
	}
	text = "__made__=$(" + text + "\n)" // its output goes on
	r.runs(text, r.m.dir, r.m.env, scope{strict: r.strict, words: true, of: r.file, sure: true})
}

// onlyNeeds reports whether an included file only lists dependencies of object files, as
// compilers write it. Such a file decides what is built again, and not what runs, if the
// makefile has no rules for the files in it.
func (r makeReader) onlyNeeds(file string) bool {
	if filepath.Ext(file) != ".d" {
		return false
	}
	clean := filepath.Clean(file)
	if _, bound := r.Bound[clean]; bound || !r.BindCode(clean) {
		return false
	}
	text, all := r.Contents(clean)
	if !all || !r.m.needsOnly(text) {
		return false
	}
	delete(r.Bound, clean)
	r.NamedFiles--
	return true
}

// bindBuiltFrom binds the sources of prerequisites that no rule of the makefile makes.
func (r makeReader) bindBuiltFrom(targets []string) {
	for target, rule := range r.m.rules {
		for _, need := range append(rule.needs, target) {
			if own := r.m.rules[need]; own == nil || len(own.lines) == 0 {
				r.sourcesOf(need)
			}
		}
	}
	for _, target := range targets {
		if r.m.rules[target] == nil && !strings.Contains(target, "=") {
			r.sourcesOf(target)
		}
	}
}

// sourcesOf binds the files from which make's built-in rules can make a file.
func (r makeReader) sourcesOf(need string) {
	if !effect.IsKnown(need) || !filepath.IsAbs(r.m.dir) || need == "" || need == "|" ||
		strings.HasPrefix(need, ".") && !strings.Contains(need, "/") {
		return
	}
	stem := strings.TrimSuffix(need, ".o")
	for _, place := range r.m.searchPlaces(r.m.dir) {
		at := filepath.Clean(abs(place, stem))
		if names, ok := r.ListDir(filepath.Dir(at)); !ok || len(names) == 0 {
			continue // what appears later counts then
		}
		if sources[filepath.Ext(need)] && r.HasEntry(filepath.Dir(at), filepath.Base(at)) {
			cReader{r.reading}.cSource(at, []string{r.m.dir}, 0)
		}
		made := false
		for _, end := range builtFrom {
			if !r.HasEntry(filepath.Dir(at), filepath.Base(at)+end) || end == ".o" && (made || stem != need) {
				continue // an object that is made anew does not count
			}
			made = true
			cReader{r.reading}.cSource(at+end, []string{r.m.dir}, 0)
		}
	}
}
