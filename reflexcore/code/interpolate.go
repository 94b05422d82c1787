package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// literal returns the value of a string token.
func (m *machine) literal(t *lex.Token) value {
	s := t.Text
	switch {
	case t.How&lex.Raw != 0 && t.How&lex.Format == 0:
		return text(s, 0)
	case t.How&lex.Single != 0:
		if strings.IndexByte(s, '\\') >= 0 {
			s = strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
		}
		return text(s, 0)
	case t.How&lex.Format != 0:
		return m.format(s, t.How&lex.Raw != 0)
	case t.How&lex.Filled != 0 && strings.ContainsAny(s, "$#@"):
		return m.interpolated(s)
	}
	return text(m.d.syntax.Unescape(s), 0)
}

// format expands Python's f"…{x!r:>10}…".
func (m *machine) format(s string, raw bool) value {
	out := text("", 0)
	plain := func(part string) {
		if !raw {
			part = m.d.syntax.Unescape(part)
		}
		out = add(out, text(part, 0), true)
	}
	for m.budget.step() {
		at := strings.IndexAny(s, "{}")
		if at < 0 {
			plain(s)
			break
		}
		if at+1 < len(s) && s[at+1] == s[at] {
			plain(s[:at+1])
			s = s[at+2:]
			continue
		}
		plain(s[:at])
		if s[at] == '}' {
			s = s[at+1:]
			continue
		}
		expr, end := inBraces(s, at+1)
		s = s[end:]
		out = add(out, m.formatField(expr), true)
	}
	return out
}

// formatField evaluates the text between the braces of a format.
func (m *machine) formatField(expr string) value {
	depth, cut := 0, len(expr)
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'':
			for i++; i < len(expr) && expr[i] != c; i++ {
			}
		case ':', '!':
			if depth == 0 && (c != '!' || lex.ByteAt(expr, i+1) != '=') {
				cut, i = i, len(expr)
			}
		}
	}
	v := m.evaluateInside(expr[:cut])
	if cut < len(expr) && expr[cut:] != "!s" {
		return unknown(v.taint)
	}
	return v
}

// interpolated expands ${x}, #{x}, $x and @x.
func (m *machine) interpolated(s string) value {
	out := text("", 0)
	start := 0
	flush := func(to int) {
		if to > start {
			out = add(out, text(m.d.syntax.Unescape(s[start:to]), 0), true)
		}
	}
	for i := 0; i < len(s) && m.budget.step(); {
		switch {
		case s[i] == '\\':
			i += 2
		case m.d.syntax.Texts.Inner != "" && strings.HasPrefix(s[i:], m.d.syntax.Texts.Inner):
			flush(i)
			body, end := inBraces(s, i+len(m.d.syntax.Texts.Inner))
			out = add(out, m.evaluateInside(body), true)
			i, start = end, end
		case m.d.texts.variables && (s[i] == '$' || s[i] == '@' && m.d.texts.arrays || s[i] == '{' &&
			lex.ByteAt(s, i+1) == '$' &&
			m.d.texts.braced):
			end, v := m.variable(s, i)
			if end == i {
				i++
				continue
			}
			flush(i)
			out = add(out, v, true)
			i, start = end, end
		default:
			i++
		}
	}
	flush(len(s))
	return out
}

// variable evaluates the $x, ${x}, @{[…]} or {$x->y} at i of a string. It returns i if there is
// none.
func (m *machine) variable(s string, i int) (int, value) {
	if s[i] == '{' {
		body, end := inBraces(s, i+1)
		return end, m.evaluateInside(body)
	}
	j := i + 1
	if j < len(s) && s[j] == '{' {
		body, end := inBraces(s, j+1)
		if isPlainName(body) {
			return end, m.evaluateInside(s[i:i+1] + body)
		}
		return end, m.evaluateText(body)
	}
	for j < len(s) && (lex.IsWord(s[j]) || s[j] == ':' && lex.ByteAt(s, j+1) == ':' && lex.IsLetter(lex.ByteAt(s, j+2)) ||
		s[j] == ':' && s[j-1] == ':') {
		j++
	}
	if j == i+1 {
		if s[i] == '$' && m.d.syntax.Names.Special && strings.IndexByte("!@/0&,;", lex.ByteAt(s, j)) >= 0 && j < len(s) {
			return j + 1, unknown(0)
		}
		return i, value{}
	}
	for j < len(s) { // elements
		switch {
		case s[j] == '[' || s[j] == '{' && m.d.members.hashElements:
			end, open := j+1, s[j]
			for end < len(s) && s[end] != open+2 {
				end++
			}
			j = min(end+1, len(s))
		case strings.HasPrefix(s[j:], "->") && (lex.ByteAt(s, j+2) == '[' || lex.ByteAt(s, j+2) == '{' || m.d.texts.braced &&
			lex.IsLetter(lex.ByteAt(s, j+2))):
			j += 2
			for j < len(s) && lex.IsWord(s[j]) {
				j++
			}
		default:
			return j, m.evaluateText(s[i:j])
		}
	}
	return j, m.evaluateInside(s[i:j])
}

// inBraces returns the text from i to the brace that closes the one before i, and what follows it.
func inBraces(s string, i int) (body string, end int) {
	end = lex.Closing(s, i, '{')
	return strings.TrimSuffix(s[i:end], "}"), end
}

// evaluateText evaluates an expression inside a string. The elements of a list stand side by side.
func (m *machine) evaluateText(src string) value {
	v := m.evaluateInside(src)
	if v.kind == listValue {
		v = text(concat(v.list, " "), v.taint)
	}
	return v
}

func isPlainName(s string) bool {
	for i := range len(s) {
		if !lex.IsWord(s[i]) {
			return false
		}
	}
	return s != ""
}
