package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file finds the sources and libraries of which rustc makes a program.

var (
	rustModule  = regexp.MustCompile(`\bmod\s+(?:r#)?(\w+)\s*([;{])`)
	rustPath    = regexp.MustCompile(`\bpath\s*=\s*"([^"]+)"`)
	rustInclude = regexp.MustCompile(`\binclude(?:_str|_bytes)?\s*!\s*[(\[{]\s*(?:r?#*"([^"]+)")?`)
)

// rust binds what the sources of a step of rustc take in.
func (p *pass) rust(st *shell.Step, bases []string) {
	for _, base := range bases {
		for _, w := range st.Argv[1:] {
			if operand(w) && effect.IsKnown(w) && filepath.Ext(w) == ".rs" {
				p.rustSource(abs(base, w), 0)
			}
		}
		for _, value := range p.flagValues(st, "-L") {
			if _, at, is := strings.Cut(value, "="); is {
				value = at
			}
			if at := filepath.Clean(abs(base, value)); p.visit(at, code) {
				p.folder(at, "*.rlib", "*.rmeta", "*.so", "*.a", "*.dylib")
			}
		}
	}
}

// rustSource binds a source and what it takes in.
func (p *pass) rustSource(file string, depth int) {
	file = filepath.Clean(file)
	if p.visit(file, code) || p.out[file] == "" || !p.once("rust", file) {
		return
	}
	text, ok := p.text(file, "includes")
	if !ok {
		return
	}
	if depth >= maxFollowed {
		p.unread(file, "includes")
		return
	}
	dir := filepath.Dir(file)
	beside := strings.TrimSuffix(file, ".rs")
	for _, m := range p.found(rustModule, file, text) {
		if m[2] == "{" { // a module in it may lie in a folder of its name
			p.folder(filepath.Join(dir, m[1]), "*.rs")
			p.folder(filepath.Join(beside, m[1]), "*.rs")
			continue
		}
		for _, at := range []string{dir, beside} {
			p.rustSource(filepath.Join(at, m[1]+".rs"), depth+1)
			p.rustSource(filepath.Join(at, m[1], "mod.rs"), depth+1)
		}
	}
	for _, m := range append(p.found(rustPath, file, text), p.found(rustInclude, file, text)...) {
		if m[1] == "" {
			p.unread(file, "includes")
			continue
		}
		p.rustSource(abs(dir, m[1]), depth+1)
	}
}
