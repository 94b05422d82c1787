package fingerprint

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds the code that interpreters load beside their script: what flags and
// variables name, and what a name means that is not one of a file.

// A language is a family of interpreters. Fields are lists of words.
type language struct {
	programs string // names; a version may follow
	inline   string // flags whose value is code, which is on the card
	letters  string // letters that are such a flag in a group of them: perl -lane
	takes    string // further flags that take the next word
	loads    string // flags whose value is a module that is loaded
	dirs     string // flags whose value is a folder of modules
	options  string // variables with further flags
	paths    string // variables with folders of modules
	endings  string // that the name of a module may lack
}

var languages = []language{
	{
		programs: "node nodejs bun deno tsx ts-node", inline: "-e --eval -p --print", letters: "ep", takes: "-C --conditions --input-type --stack-trace-limit",
		loads:   "-r --require --import --loader --experimental-loader --preload",
		options: "NODE_OPTIONS", paths: "NODE_PATH", endings: ".js .cjs .mjs .ts .cts .mts .jsx .tsx .json .node",
	},
	{programs: "python pypy", inline: "-c", letters: "c", takes: "-W -X --check-hash-based-pycs", paths: "PYTHONPATH", endings: ".py .pyc .so .pth"},
	{programs: "ruby jruby", inline: "-e", letters: "e", takes: "-C -E -K", loads: "-r", dirs: "-I", options: "RUBYOPT", paths: "RUBYLIB", endings: ".rb .so"},
	{programs: "perl", inline: "-e -E", letters: "eE", loads: "-M -m", dirs: "-I", options: "PERL5OPT", paths: "PERL5LIB PERLLIB", endings: ".pm .pl .so"},
	{programs: "lua luajit", inline: "-e", loads: "-l", paths: "LUA_PATH LUA_CPATH", endings: ".lua .so"},
	{programs: "php", inline: "-r -R -B -E", takes: "-c -d -z -S -t", endings: ".php .inc"},
	{programs: "julia", inline: "-e -E --eval --print", loads: "-L --load", paths: "JULIA_LOAD_PATH", endings: ".jl"},
	{programs: "rscript", inline: "-e", endings: ".R .r"},
	{programs: "groovy elixir", inline: "-e --eval", takes: "-S", loads: "-r", dirs: "-cp -classpath --classpath -pa -pz", endings: ".groovy .exs .ex .jar"},
	{programs: "pwsh powershell", inline: "-c -command", letters: "", loads: "-f -file", endings: ".ps1 .psm1"},
	{programs: "osascript", inline: "-e", takes: "-l -s"},
	{programs: "tclsh wish guile racket sbcl escript erl ocaml swipl dart crystal nim raku", inline: "-e -c -g -eval --eval --load", endings: ".tcl .scm .rkt .lisp .dart .cr .nim .raku"},
}

// languageOf is the family of a program, or nil.
func languageOf(name string) *language {
	name = strings.ToLower(name)
	plain := strings.TrimRight(name, "0123456789.-")
	for n := range languages {
		if oneOf(languages[n].programs, name) || oneOf(languages[n].programs, plain) {
			return &languages[n]
		}
	}
	return nil
}

// oneOf reports whether a word is in a list of words.
func oneOf(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// interprets reports whether a program runs code: its words may be data.
func interprets(name string) bool {
	return name == "java" || name == "javaw" || languageOf(name) != nil
}

// A start is what the words of an interpreter say.
type start struct {
	modules, dirs []string
	main          string // its script; "" is none
	inline        bool
}

// starts reads the words behind an interpreter's name.
func (l *language) starts(words []string) (s start) {
	for n := 0; n < len(words); n++ {
		w := words[n]
		next := func() string {
			if n++; n < len(words) {
				return words[n]
			}
			return ""
		}
		if value, has := flagValue(w, l.loads); has {
			if value == "" {
				value = next()
			}
			s.modules = append(s.modules, value)
			continue
		}
		if value, has := flagValue(w, l.dirs); has {
			if value == "" {
				value = next()
			}
			s.dirs = append(s.dirs, value)
			continue
		}
		name, _, joined := strings.Cut(w, "=")
		switch {
		case oneOf(l.inline, strings.ToLower(name)) || oneOf(l.inline, name) ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && l.letters != "" && strings.ContainsAny(letters(w[1:]), l.letters):
			s.inline = true
			if !joined {
				next()
			}
		case oneOf(l.takes, w):
			next()
		case w == "--":
			s.main = next()
			return s
		case w == "-m": // of Python; the walk says which module
			return s
		case w == "-":
			return s
		case operand(w):
			s.main = w
			return s
		}
	}
	return s
}

// letters are those with which a group of flags begins.
func letters(group string) string {
	end := strings.IndexFunc(group, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		return group
	}
	return group[:end]
}

// flagValue is the value that a word has for one of some flags: --x=v, -xv, or "" if it
// is the next word.
func flagValue(word, flags string) (value string, has bool) {
	for flag := range strings.FieldsSeq(flags) {
		switch rest, ok := strings.CutPrefix(word, flag); {
		case !ok:
		case rest == "" || rest[0] == '=':
			return strings.TrimPrefix(rest, "="), true
		case len(flag) == 2 && flag != "--":
			return rest, true
		}
	}
	return "", false
}

// An interpreterReader reads what an interpreter of one family of languages loads.
type interpreterReader struct {
	reading
	l *language
}

// interpreted binds what an interpreter loads, and reports whether it should have a
// file of code: if none is found, its code is not bound.
func (r interpreterReader) interpreted() (needs bool) {
	st, l := r.c.Step, r.l
	s := l.starts(st.Argv[1:])
	roots := r.loadsVariables(s.modules, s.dirs)
	if s.main != "" && !s.inline && effect.IsKnown(s.main) {
		for _, base := range r.bases {
			if r.candidates(abs(base, s.main), 0) {
				r.c.coded = true
			}
		}
	}
	if slices.Contains(st.Argv, "-m") && strings.HasPrefix(l.programs, "python") {
		r.shadowed(append(slices.Clone(r.bases), roots...))
	}
	if strings.HasPrefix(l.programs, "python") {
		r.pythonBeside(s.main, s.inline)
	}
	return s.main != "" && !s.inline && !slices.Contains(standardInput, s.main)
}

// loadsVariables binds the modules and folders of flags, and those of variables, and
// returns the folders.
func (r interpreterReader) loadsVariables(modules, dirs []string) (roots []string) {
	for _, name := range strings.Fields(r.l.options) {
		for _, value := range r.values(name) {
			more := r.l.starts(strings.Fields(value))
			modules, dirs = append(modules, more.modules...), append(dirs, more.dirs...)
		}
	}
	for _, name := range strings.Fields(r.l.paths) {
		for _, value := range r.values(name) {
			for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ';' }) {
				part, _, _ = strings.Cut(part, "?") // LUA_PATH=./?.lua
				dirs = append(dirs, part)
			}
		}
	}
	roots = r.moduleRoots(dirs)
	for _, m := range modules {
		if !r.loadsModule(m, roots) {
			r.named("the module %s", effect.Show(m))
		}
	}
	return roots
}

// standardInput are names of it: the walk follows what comes there.
var standardInput = []string{"-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"}

// moduleRoots binds the folders in which modules are looked for.
func (r interpreterReader) moduleRoots(dirs []string) (roots []string) {
	for _, dir := range dirs {
		if !effect.IsKnown(dir) {
			r.named("what lies in %s", effect.Show(dir))
			continue
		}
		for _, base := range r.bases {
			root := filepath.Clean(abs(base, dir))
			if r.visit(root, code) && !slices.Contains(roots, root) {
				roots = append(roots, root)
				var kinds []string
				for _, ending := range strings.Fields(r.l.endings) {
					kinds = append(kinds, "*"+ending)
				}
				r.folder(root, kinds...)
			}
		}
	}
	return roots
}

// loadsModule binds a module that a flag names, and reports whether it lies here.
func (r interpreterReader) loadsModule(name string, roots []string) bool {
	if name == "" || !effect.IsKnown(name) {
		return false
	}
	if strings.HasPrefix(r.l.programs, "perl") {
		name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "-"), "=")
		name, _, _ = strings.Cut(name, " ")
		name = strings.ReplaceAll(name, "::", "/")
	}
	name = strings.TrimPrefix(name, "file://")
	found := false
	for _, root := range append(slices.Clone(roots), r.bases...) {
		found = r.candidates(abs(root, name), 0) || found
	}
	if strings.HasPrefix(r.l.programs, "node") && !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
		for _, base := range r.bases {
			for _, at := range above(base) {
				if !found {
					found = r.candidates(filepath.Join(at, "node_modules", name), 0)
				}
			}
		}
	}
	r.c.coded = r.c.coded || found
	return found
}

// candidates binds the file that a name may mean, and reports whether there is one.
func (r interpreterReader) candidates(file string, depth int) (found bool) {
	if depth > 2 || !filepath.IsAbs(file) || len(file) > maxPath {
		return false
	}
	for _, ending := range append([]string{""}, strings.Fields(r.l.endings)...) {
		if !r.visit(file+ending, code) && r.out[filepath.Clean(file+ending)] != "" {
			r.script(file+ending, filepath.Dir(file))
			found = true
		}
	}
	if info, err := r.stat(file); err != nil || !info.IsDir() || !strings.HasPrefix(r.l.programs, "node") {
		return found
	}
	if manifest := filepath.Join(file, "package.json"); !r.visit(manifest, code) && r.out[manifest] != "" {
		if main := r.packageMain(manifest); main != "" && path.Clean(main) != "." {
			found = r.candidates(filepath.Join(file, main), depth+1) || found
		}
	}
	return r.candidates(filepath.Join(file, "index"), depth+1) || found
}

// packageMain is the file that a package.json names as its own.
func (r interpreterReader) packageMain(manifest string) (main string) {
	text, _ := r.text(manifest, "names")
	if members([]byte(strings.TrimPrefix(text, "\ufeff")), func(key string, value json.RawMessage) error {
		if key == "main" && json.Unmarshal(value, &main) != nil { // npm takes main: false
			main = ""
		}
		return nil
	}) != nil && text != "" {
		r.unread(manifest, "names")
	}
	return main
}

// shadowed binds what lies here under the name of a module of Python that the tables
// know: it goes before the one that is installed.
func (r interpreterReader) shadowed(roots []string) {
	st := r.c.Step
	n := slices.Index(st.Argv, "-m")
	if n+1 >= len(st.Argv) || !effect.IsKnown(st.Argv[n+1]) {
		return
	}
	name := strings.ReplaceAll(st.Argv[n+1], ".", "/")
	for _, root := range roots {
		for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
			r.visit(filepath.Join(root, at+".py"), code)
			if dir := filepath.Join(root, at); r.visit(dir, code) {
				r.folder(dir, "*.py")
			}
		}
	}
}
