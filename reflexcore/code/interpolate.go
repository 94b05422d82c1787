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
		return (&filledText{m: m, src: s, raw: t.How&lex.Raw != 0, out: text("", 0)}).format()
	case t.How&lex.Filled != 0 && strings.ContainsAny(s, "$#@"):
		return (&filledText{m: m, src: s, out: text("", 0)}).interpolated()
	}
	return text(m.d.syntax.Unescape(s), 0)
}

// A filledText is a text with expressions inside, and the value that it has with them.
type filledText struct {
	m   *machine
	src string
	raw bool  // a backslash stands for itself
	out value // of the parts so far
}

// plain adds a part without expressions.
func (f *filledText) plain(part string) {
	if !f.raw {
		part = f.m.d.syntax.Unescape(part)
	}
	f.out = add(f.out, text(part, 0), true)
}

// format expands Python's f"…{x!r:>10}…".
func (f *filledText) format() value {
	s := f.src
	for f.m.budget.step() {
		at := strings.IndexAny(s, "{}")
		if at < 0 {
			f.plain(s)
			break
		}
		if at+1 < len(s) && s[at+1] == s[at] {
			f.plain(s[:at+1])
			s = s[at+2:]
			continue
		}
		f.plain(s[:at])
		if s[at] == '}' {
			s = s[at+1:]
			continue
		}
		expr, end := inBraces(s, at+1)
		s = s[end:]
		f.out = add(f.out, f.field(expr), true)
	}
	return f.out
}

// field evaluates the text between the braces of a format.
func (f *filledText) field(expr string) value {
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
	v := f.m.evaluateInside(expr[:cut])
	if cut < len(expr) && expr[cut:] != "!s" {
		return unknown(v.taint)
	}
	return v
}

// interpolated expands ${x}, #{x}, $x and @x.
func (f *filledText) interpolated() value {
	s, start := f.src, 0
	flush := func(to int) {
		if to > start {
			f.plain(s[start:to])
		}
	}
	for i := 0; i < len(s) && f.m.budget.step(); {
		switch {
		case s[i] == '\\':
			i += 2
		case f.m.d.syntax.Texts.Inner != "" && strings.HasPrefix(s[i:], f.m.d.syntax.Texts.Inner):
			flush(i)
			body, end := inBraces(s, i+len(f.m.d.syntax.Texts.Inner))
			f.out = add(f.out, f.m.evaluateInside(body), true)
			i, start = end, end
		case f.m.d.texts.variables && (s[i] == '$' || s[i] == '@' && f.m.d.texts.arrays || s[i] == '{' &&
			lex.ByteAt(s, i+1) == '$' &&
			f.m.d.texts.braced):
			end, v := f.variable(i)
			if end == i {
				i++
				continue
			}
			flush(i)
			f.out = add(f.out, v, true)
			i, start = end, end
		default:
			i++
		}
	}
	flush(len(s))
	return f.out
}

// variable evaluates the $x, ${x}, @{[…]} or {$x->y} at i of a string. It returns i if there is
// none.
func (f *filledText) variable(i int) (int, value) {
	s := f.src
	if s[i] == '{' {
		body, end := inBraces(s, i+1)
		return end, f.m.evaluateInside(body)
	}
	j := i + 1
	if j < len(s) && s[j] == '{' {
		body, end := inBraces(s, j+1)
		if isPlainName(body) {
			return end, f.m.evaluateInside(s[i:i+1] + body)
		}
		return end, f.sideBySide(body)
	}
	for j < len(s) && (lex.IsWord(s[j]) || s[j] == ':' && lex.ByteAt(s, j+1) == ':' && lex.IsLetter(lex.ByteAt(s, j+2)) ||
		s[j] == ':' && s[j-1] == ':') {
		j++
	}
	if j == i+1 {
		if s[i] == '$' && f.m.d.syntax.Names.Special && strings.IndexByte("!@/0&,;", lex.ByteAt(s, j)) >= 0 && j < len(s) {
			return j + 1, unknown(0)
		}
		return i, value{}
	}
	for j < len(s) { // elements
		switch {
		case s[j] == '[' || s[j] == '{' && f.m.d.members.hashElements:
			end, open := j+1, s[j]
			for end < len(s) && s[end] != open+2 {
				end++
			}
			j = min(end+1, len(s))
		case strings.HasPrefix(s[j:], "->") && (lex.ByteAt(s, j+2) == '[' || lex.ByteAt(s, j+2) == '{' ||
			f.m.d.texts.braced && lex.IsLetter(lex.ByteAt(s, j+2))):
			j += 2
			for j < len(s) && lex.IsWord(s[j]) {
				j++
			}
		default:
			return j, f.sideBySide(s[i:j])
		}
	}
	return j, f.m.evaluateInside(s[i:j])
}

// inBraces returns the text from i to the brace that closes the one before i, and what follows it.
func inBraces(s string, i int) (body string, end int) {
	end = lex.Closing(s, i, '{')
	return strings.TrimSuffix(s[i:end], "}"), end
}

// sideBySide evaluates an expression inside a string. The elements of a list stand side by side.
func (f *filledText) sideBySide(src string) value {
	v := f.m.evaluateInside(src)
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
