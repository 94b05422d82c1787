package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Link is a plain command of a text whose words are written out.
type Link struct {
	Words []string
	After bool // it runs only if the command directly before it succeeded: && joins them
}

// Operands are the words behind the program that are no options.
func (l Link) Operands() []string {
	return slices.DeleteFunc(slices.Clone(l.Words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
}

// Chain returns the commands of a text that has nothing but plain ones, one after the other. It is nil if
// there is anything else: a redirection, an assignment, a pipe, a substitution, a branch, a comment.
func Chain(text string) []Link {
	if len(text) > 4096 || strings.ContainsAny(text, "\x00\r#") {
		return nil
	}
	file := parsePlainly(text)
	if file == nil {
		return nil
	}
	var out []Link
	for _, s := range file.Stmts {
		more, ok := chained(s)
		if !ok {
			return nil
		}
		out = append(out, more...)
	}
	return out
}

// chained returns the commands of a statement. It is false if some are not plain.
func chained(s *syntax.Stmt) (out []Link, ok bool) {
	if !isAlone(s) {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		before, ok := chained(c.X)
		behind, fine := chained(c.Y)
		if c.Op != syntax.AndStmt || !ok || !fine {
			return nil, false
		}
		behind[0].After = true
		return append(before, behind...), true
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return nil, false
		}
		var words []string
		for _, w := range c.Args {
			text, ok := withVariables(w)
			if !ok {
				return nil, false
			}
			words = append(words, text)
		}
		return []Link{{Words: words}}, true
	}
	return nil, false
}
