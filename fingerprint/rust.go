package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds the sources and libraries of which rustc makes a program.

var (
	rustModule  = regexp.MustCompile(`\bmod\s+(?:r#)?(\w+)\s*([;{])`)
	rustPath    = regexp.MustCompile(`\bpath\s*=\s*"([^"]+)"`)
	rustInclude = regexp.MustCompile(`\binclude(?:_str|_bytes)?\s*!\s*[(\[{]\s*(?:r?#*"([^"]+)")?`)
)

// A rustReader reads the sources of a command of rustc.
type rustReader struct{ reading }

// bind binds what the sources of a step of rustc take in.
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
			if at := filepath.Clean(abs(base, value)); r.visit(at, code) {
				r.folder(at, "*.rlib", "*.rmeta", "*.so", "*.a", "*.dylib")
			}
		}
	}
}

// rustSource binds a source and what it takes in.
func (r rustReader) rustSource(file string, depth int) {
	file = filepath.Clean(file)
	if r.visit(file, code) || r.out[file] == "" || !r.once("rust", file) {
		return
	}
	text, ok := r.textOf(file, "includes")
	if !ok {
		return
	}
	if depth >= maxFollowed {
		r.unread(file, "includes")
		return
	}
	dir := filepath.Dir(file)
	beside := strings.TrimSuffix(file, ".rs")
	for _, m := range r.found(rustModule, file, text) {
		if m[2] == "{" { // a module in it may lie in a folder of its name
			r.folder(filepath.Join(dir, m[1]), "*.rs")
			r.folder(filepath.Join(beside, m[1]), "*.rs")
			continue
		}
		for _, at := range []string{dir, beside} {
			r.rustSource(filepath.Join(at, m[1]+".rs"), depth+1)
			r.rustSource(filepath.Join(at, m[1], "mod.rs"), depth+1)
		}
	}
	for _, m := range append(r.found(rustPath, file, text), r.found(rustInclude, file, text)...) {
		if m[1] == "" {
			r.unread(file, "includes")
			continue
		}
		r.rustSource(abs(dir, m[1]), depth+1)
	}
}
