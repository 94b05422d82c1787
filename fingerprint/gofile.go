package fingerprint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A goFile has the references of a Go file to others.
type goFile struct {
	imports []string
	lines   []string // that begin with //go:embed or //go:generate
}

// parseGo parses a Go file, of which only the beginning may be there.
func parseGo(file, text string, all bool) (says goFile, ok bool) {
	if strings.Contains(text, "//go:") {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "//go:embed ") || strings.HasPrefix(line, "//go:generate ") {
				says.lines = append(says.lines, line)
			}
		}
	}
	mode := parser.ImportsOnly
	if !all { // something must show that there are no more imports behind
		mode = parser.SkipObjectResolution
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, mode)
	if f == nil {
		return says, false
	}
	for _, spec := range f.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			says.imports = append(says.imports, path)
		}
	}
	return says, (!all || err == nil) && (all || slices.ContainsFunc(f.Decls, notImport))
}

func notImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return !ok || g.Tok != token.IMPORT
}

// maxGoKept bounds the versions of Go files whose parsed form is kept for all calls.
const maxGoKept = 100_000
