package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file spells words out that are written in a text: what they are if nothing of them is expanded.

// A spelling says what becomes of the parts of a word. Each function returns false for a part that is not spelled out.
type spelling struct {
	text func(s, quote string) (string, bool)      // letters, and the quote around them: none, ', $' or "
	open func(part syntax.WordPart) (string, bool) // anything else; nil spells none of it
}

// of spells parts of a word out.
func (sp spelling) of(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	ok := sp.add(&b, parts, "")
	return b.String(), ok
}

func (sp spelling) add(b *strings.Builder, parts []syntax.WordPart, quote string) bool {
	for _, part := range parts {
		text, ok := "", false
		switch p := part.(type) {
		case *syntax.Lit:
			text, ok = sp.text(p.Value, quote)
		case *syntax.SglQuoted:
			single := "'"
			if p.Dollar {
				single = "$'"
			}
			text, ok = sp.text(p.Value, single)
		case *syntax.DblQuoted:
			ok = sp.add(b, p.Parts, `"`)
		default:
			if sp.open != nil {
				text, ok = sp.open(p)
			}
		}
		if !ok {
			return false
		}
		b.WriteString(text)
	}
	return true
}

// asWritten returns the text of a word without its quotes. ok is false if the word has
// expansions.
func asWritten(w *syntax.Word) (text string, ok bool) {
	return spelling{text: func(s, quote string) (string, bool) {
		switch quote {
		case "":
			return string(unescape(nil, s, "")), true
		case `"`:
			return string(unescape(nil, s, inQuotes)), true
		case "$'":
			plain, _ := ansiC(nil, s, false)
			return string(plain), true
		}
		return s, true
	}}.of(w.Parts)
}

// literalText is the text of a word without expansions, and without what only a shell takes away.
func literalText(w *syntax.Word) (string, bool) {
	return spelling{text: func(s, quote string) (string, bool) {
		switch quote {
		case "":
			return s, !strings.ContainsAny(s, "\\*?[{~")
		case `"`:
			return s, !strings.Contains(s, "\\")
		}
		return s, true
	}}.of(w.Parts)
}

// withVariables returns the text of a word that has nothing but text and plain variables.
func withVariables(w *syntax.Word) (string, bool) {
	return spelling{asItStands, func(part syntax.WordPart) (string, bool) {
		p, ok := part.(*syntax.ParamExp)
		if !ok || !p.Short {
			return "", false
		}
		return "$" + p.Param.Value, true
	}}.of(w.Parts)
}

func asItStands(s, _ string) (string, bool) { return s, true }

// homeText is the text of a word in which nothing is open but the home and the former PATH, which
// stays $PATH.
func homeText(w *syntax.Word, home string) (string, bool) {
	text, ok := spelling{
		func(s, quote string) (string, bool) {
			return s, !strings.Contains(s, "$") && quote != "$'" && (quote == "'" || !strings.Contains(s, "\\"))
		},
		func(part syntax.WordPart) (string, bool) {
			p, ok := part.(*syntax.ParamExp)
			switch {
			case !ok || !isWhole(p):
				return "", false
			case p.Param.Value == "HOME":
				return home, true
			}
			return "$PATH", p.Param.Value == "PATH"
		},
	}.of(w.Parts)
	if !ok {
		return "", false
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		text = home + "/" + rest
	}
	return strings.ReplaceAll(text, ":~/", ":"+home+"/"), true
}

// isWhole reports whether an expansion is the value of a variable as it is.
func isWhole(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil &&
		p.Param != nil
}

// parsePlainly parses a text that is read apart from the call. It is nil if that fails.
func parsePlainly(text string) *syntax.File {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return file
}

// isAlone reports whether a statement runs in the foreground, nothing takes its output away, and its failure is one.
func isAlone(s *syntax.Stmt) bool {
	return len(s.Redirs) == 0 && !s.Background && !s.Negated && !s.Coprocess && !s.Disown
}
