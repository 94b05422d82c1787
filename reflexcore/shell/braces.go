package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hasBrace reports whether an unquoted { stands in the word.
func hasBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braces expands {a,b} and {1..3}.
func (ex *expander) braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(split)
	var out []*syntax.Word
	ex.brace(split.Parts, nil, func(parts []syntax.WordPart) {
		out = append(out, &syntax.Word{Parts: append([]syntax.WordPart(nil), parts...)})
	})
	return out
}
