package shell

import (
	"regexp"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// verbatim is a word that is written without anything for the shell to expand.
func verbatim(w *syntax.Word) (string, bool) {
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
			return q.Value, true
		}
	}
	text := w.Lit()
	return text, text != "" && isPlain(text)
}

// isPlain reports whether a word has nothing in it that a shell, or a reader, could take
// for more than a name, a number or an option.
func isPlain(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_./:=@%+,-", c) < 0 {
			return false
		}
	}
	return word != ""
}

// isPlainName reports whether a text is letters, digits and single signs between them, as names of
// programs are.
func isPlainName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isLetter(c) && (c < '0' || c > '9') && (c != '-' && c != '_' && c != '.' || i == 0 || text[i-1] == c) {
			return false
		}
	}
	return true
}

// isOneWord reports whether a value has none of them.
func isOneWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if splitting[s[i]] {
			return false
		}
	}
	return true
}

// isKnownWord reports whether all of a value is known, and it is one word.
func isKnownWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == effect.Unknown[0] || splitting[s[i]] {
			return false
		}
	}
	return true
}

func isLiteral(s string) bool {
	for i := 0; i < len(s); i++ {
		if special[s[i]] {
			return false
		}
	}
	return true
}

// plainEdit is a command of sed that deletes lines, or puts a plain word in the place of
// something.
var plainEdit = regexp.MustCompile(`^(?:(?:\d+(?:,\d+)?|/(?:[^/\\\n]|\\.)*/)d` +
	`|s/(?:[^/\\\n]|\\.)*/[\w.:@%+=-]*/[gI]*|s\|(?:[^|\\\n]|\\.)*\|[\w./:@%+=-]*\|[gI]*|s#(?:[^#\\\n]|\\.)*#[\w./:@%+=-]*#[gI]*)$`)

// placeholder is a command of sed that puts a plain word in the place of a marked name: it
// says nothing that the template does not.
var placeholder = regexp.MustCompile(`^s(?:/` + marked + `/[\w.:@%+=-]+/|\|` + marked + `\|[\w./:@%+=-]+\||#` + marked + `#[\w./:@%+=-]+#)g?$`)

const marked = `(?:@\w+@|\{\{ ?[\w.]+ ?\}\}|__\w+__|%\w+%|\$\{\w+\}|<\w+>)`

// special marks the bytes for which a literal is not itself.
var special = func() (t [256]bool) {
	for _, c := range []byte("\\{*?[~") {
		t[c] = true
	}
	return t
}()

// splitting marks the bytes at which a value may be several words, or a pattern.
var splitting = func() (t [256]bool) {
	for _, c := range []byte("*?[" + usualIFS) {
		t[c] = true
	}
	return t
}()

// usualIFS is what separates words where nobody said anything else.
const usualIFS = " \t\n"

// A Literal is a word as it is written, without the quotes around it. Nothing in it is a
// substitution; one that has no quotes may be a pattern, or begin with a tilde.
type Literal struct {
	Text  string
	Quote byte // around all of it: ' or "; 0: it has none
}

// LiteralCommand returns the words of a text that is one simple command of such words, without
// assignments, redirections, comments or anything behind it; nil: it is not.
func LiteralCommand(src string, lim Limits) []Literal {
	file, how, strange := parse(src, &lim)
	if how != Parsed || strange || len(file.Stmts) != 1 {
		return nil
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns)+len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown ||
		int(s.End().Offset()) != len(strings.TrimRight(src, " \t")) || s.Semicolon.IsValid() {
		return nil
	}
	words := make([]Literal, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = asLiteral(w); !ok {
			return nil
		}
	}
	return words
}

func asLiteral(w *syntax.Word) (Literal, bool) {
	if len(w.Parts) != 1 {
		return Literal{}, false
	}
	switch q := w.Parts[0].(type) {
	case *syntax.Lit:
		return Literal{q.Value, 0}, !strings.Contains(q.Value, `\`)
	case *syntax.SglQuoted:
		return Literal{q.Value, '\''}, !q.Dollar
	case *syntax.DblQuoted:
		if len(q.Parts) == 0 {
			return Literal{"", '"'}, !q.Dollar
		}
		lit, ok := q.Parts[0].(*syntax.Lit)
		if !ok || len(q.Parts) > 1 {
			return Literal{}, false
		}
		return Literal{lit.Value, '"'}, !q.Dollar && !strings.Contains(lit.Value, `\`)
	}
	return Literal{}, false
}
