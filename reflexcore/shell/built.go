package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// noteBuilt notes that a compiler made a file. To run it is to run the project's code, as
// ./a.out and go run are; that its text is not known says nothing of it. What a
// preprocessor prints, and what comes from a network or was decoded, is any text.
func (fn *fileNotes) noteBuilt(p string, d data) {
	if !compilers[fn.a.line.by] || d.taint&^effect.File != 0 || !effect.IsKnown(p) || slices.ContainsFunc(fn.a.line.argv, isTextFlag) {
		return
	}
	if f := fn.a.in.fs.fileAt(p); f != nil && f.path == p && f.sink == nil && strings.Trim(f.text, effect.Unknown) == "" {
		f.built = true
		if fn.buildsOwn() {
			f.alias = "/usr/bin/" + ownName
		}
	}
}

// isTextFlag reports whether a word may make a compiler write a text instead of a
// program, or take its words from a file.
func isTextFlag(w string) bool {
	if w == "" || !effect.IsKnown(w) || w[0] == '@' {
		return true
	}
	if w[0] != '-' {
		return false
	}
	for _, flag := range [...]string{"-E", "-S", "-M", "-fsyntax-only", "--preprocess", "--emit", "--print", "--format", "--oformat", "-x", "-wrapper", "-specs", "-B", "-toolexec", "--banner", "--footer"} {
		if strings.HasPrefix(w, flag) {
			return true
		}
	}
	return false
}

// compilers make programs of the sources of a project.
var compilers = map[string]bool{
	"gcc": true, "g++": true, "cc": true, "c++": true, "clang": true, "clang++": true, "tcc": true, "gfortran": true, "nvcc": true,
	"ld": true, "go build": true, "go test": true, "rustc": true, "ghc": true, "swiftc": true, "ocamlopt": true, "ocamlc": true,
	"gdc": true, "dmd": true, "ldc2": true, "gnatmake": true, "fpc": true, "esbuild": true, "tsc": true, "swc": true, "rollup": true,
}
