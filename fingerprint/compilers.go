package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// builtFrom are the endings of sources in make's built-in rules and in pattern rules.
var builtFrom = strings.Fields(".c .cc .cpp .cxx .C .s .S .m .f .p .r .l .y .sh .o")

// quotedInclude finds the includes of a source.
var quotedInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*["<]([^">\n]+)[">]`)

// cSource binds a source and its includes from its own folder or one of dirs.
func (r cReader) cSource(file string, dirs []string, depth int) {
	file = filepath.Clean(file)
	if !r.BindCode(file) || !r.Once("c source", file, strings.Join(dirs, ":")) ||
		!sources[filepath.Ext(file)] {
		return
	}
	text, ok := r.follow(file, "includes", depth)
	if !ok {
		return
	}
	for _, m := range r.FindAll(quotedInclude, file, text) {
		for _, dir := range append([]string{filepath.Dir(file)}, dirs...) {
			if at := filepath.Clean(abs(dir, m[1])); filepath.IsAbs(at) && !strings.HasPrefix(at, "/usr/") {
				r.cSource(at, dirs, depth+1)
			}
		}
	}
}

// A cReader reads the sources of C, C++ and Objective-C that a command compiles.
type cReader struct{ reading }

// bind binds the includes of a compiler's sources, and libraries of -l in folders of -L.
func (r cReader) bind() {
	if !compilers[strings.TrimRight(r.name, "0123456789.-")] {
		return
	}
	for _, base := range r.bases {
		dirs, libraries := []string{base}, []string{}
		for n, w := range r.c.Argv {
			for _, flag := range []string{"-iquote", "-isystem", "-idirafter", "-I", "-L"} {
				value, is := strings.CutPrefix(w, flag)
				if is && value == "" && n+1 < len(r.c.Argv) {
					value = r.c.Argv[n+1]
				}
				if !is || value == "" {
					continue
				} else if !effect.IsKnown(value) {
					r.reportUnbound("what %s includes", r.name)
				} else if at := filepath.Clean(abs(base, value)); flag == "-L" {
					libraries = append(libraries, at)
				} else {
					dirs = append(dirs, at)
				}
				break
			}
		}
		for _, w := range r.c.Argv[1:] {
			if name, is := strings.CutPrefix(w, "-l"); is && effect.IsKnown(name) {
				for _, at := range libraries {
					for _, end := range []string{".a", ".so", ".dylib"} {
						r.Visit(filepath.Join(at, "lib"+strings.TrimPrefix(name, "=")+end), disk.Code)
					}
				}
			} else if operand(w) && effect.IsKnown(w) && sources[filepath.Ext(w)] {
				r.cSource(abs(base, w), dirs, 0)
			}
		}
	}
}

var (
	rustModule  = regexp.MustCompile(`\bmod\s+(?:r#)?(\w+)\s*([;{])`)
	rustPath    = regexp.MustCompile(`\bpath\s*=\s*"([^"]+)"`)
	rustInclude = regexp.MustCompile(`\binclude(?:_str|_bytes)?\s*!\s*[(\[{]\s*(?:r?#*"([^"]+)")?`)
)

// A rustReader reads the sources of a command of rustc.
type rustReader struct{ reading }

// bind binds the files that the sources of a step of rustc include.
func (r rustReader) bind() {
	for _, base := range r.bases {
		for _, w := range r.c.Argv[1:] {
			if operand(w) && effect.IsKnown(w) && filepath.Ext(w) == ".rs" {
				r.rustSource(abs(base, w), 0)
			}
		}
		for _, value := range flagValues(r.c.Step, "-L") {
			if _, at, is := strings.Cut(value, "="); is {
				value = at
			}
			r.VisitFolder(filepath.Clean(abs(base, value)), "*.rlib", "*.rmeta", "*.so", "*.a", "*.dylib")
		}
	}
}

// rustSource binds a source and the files that it includes.
func (r rustReader) rustSource(file string, depth int) {
	file = filepath.Clean(file)
	if !r.BindCode(file) || !r.Once("rust", file) {
		return
	}
	text, ok := r.follow(file, "includes", depth)
	if !ok {
		return
	}
	dir := filepath.Dir(file)
	beside := strings.TrimSuffix(file, ".rs")
	for _, m := range r.FindAll(rustModule, file, text) {
		if m[2] == "{" { // a module in it may lie in a folder of its name
			r.BindFolder(filepath.Join(dir, m[1]), "*.rs")
			r.BindFolder(filepath.Join(beside, m[1]), "*.rs")
			continue
		}
		for _, at := range []string{dir, beside} {
			r.rustSource(filepath.Join(at, m[1]+".rs"), depth+1)
			r.rustSource(filepath.Join(at, m[1], "mod.rs"), depth+1)
		}
	}
	for _, m := range append(r.FindAll(rustPath, file, text), r.FindAll(rustInclude, file, text)...) {
		if m[1] == "" {
			r.Unread(file, "includes")
			continue
		}
		r.rustSource(abs(dir, m[1]), depth+1)
	}
}
