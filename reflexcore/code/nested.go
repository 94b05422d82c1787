package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// literal is the value of a string token.
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

// inside evaluates an expression that stands inside a string.
func (m *machine) inside(src string) value { return m.nested(src, 1) }

// nested evaluates another source among the variables that there are. Its value
// is that of its first expression, if it is one expression.
func (m *machine) nested(src string, paren int) value {
	if strings.TrimSpace(src) == "" || !m.budget.deeper() {
		m.budget.depth--
		return unknown(0)
	}
	if m.d.ownReader {
		p := psReader{m: m, src: src}
		v := p.block(0)
		m.budget.depth--
		return v
	}
	back := m.in.enter(src)
	if m.budget.over {
		back()
		m.budget.depth--
		return unknown(0)
	}
	m.in.paren = paren
	if paren == 0 {
		m.scope.findJoined(m.in.toks, m.d)
	}
	v := unknown(0)
	if t := m.in.tok(); t.Kind != lex.Name || !m.d.syntax.IsKeyword(t.Text) || t.Text == "new" {
		v = m.expr(0)
	}
	for m.in.i < len(m.in.toks) && m.budget.step() {
		before := m.in.i
		m.statement()
		if m.in.i == before {
			m.in.i++
		}
		v = unknown(v.taint)
	}
	back()
	m.budget.depth--
	return v
}

// format fills in Python's f"…{x!r:>10}…".
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
		end := lex.Closing(s, at+1, '{')
		expr := strings.TrimSuffix(s[at+1:end], "}")
		s = s[end:]
		out = add(out, m.field(expr), true)
	}
	return out
}

// field evaluates what stands between the braces of a format.
func (m *machine) field(expr string) value {
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
	v := m.inside(expr[:cut])
	if cut < len(expr) && expr[cut:] != "!s" {
		return unknown(v.taint)
	}
	return v
}

// interpolated fills in ${x}, #{x}, $x and @x.
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
			end := lex.Closing(s, i+len(m.d.syntax.Texts.Inner), '{')
			out = add(out, m.inside(strings.TrimSuffix(s[i+len(m.d.syntax.Texts.Inner):end], "}")), true)
			i, start = end, end
		case m.d.texts.variables && (s[i] == '$' || s[i] == '@' && m.d.texts.arrays || s[i] == '{' && lex.ByteAt(s, i+1) == '$' &&
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

// variable evaluates the $x, ${x}, @{[…]}, {$x->y} at i of a string. It returns
// i if there is none.
func (m *machine) variable(s string, i int) (int, value) {
	if s[i] == '{' {
		end := lex.Closing(s, i+1, '{')
		return end, m.inside(strings.TrimSuffix(s[i+1:end], "}"))
	}
	j := i + 1
	if j < len(s) && s[j] == '{' {
		end := lex.Closing(s, j+1, '{')
		body := strings.TrimSuffix(s[j+1:end], "}")
		if isPlainName(body) {
			return end, m.inside(s[i:i+1] + body)
		}
		v := m.inside(body)
		if v.kind == listValue {
			v = text(concat(v.list, " "), v.taint)
		}
		return end, v
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
			v := m.inside(s[i:j])
			if v.kind == listValue {
				v = text(concat(v.list, " "), v.taint)
			}
			return j, v
		}
	}
	return j, m.inside(s[i:j])
}

func isPlainName(s string) bool {
	for i := range len(s) {
		if !lex.IsWord(s[i]) {
			return false
		}
	}
	return s != ""
}

// code runs nested code: at once where it is all known and in this language.
func (m *machine) code(r row, v value, by string) value {
	lang := r.param
	if lang == "" {
		lang = m.d.name
	}
	switch {
	case v.fn != nil:
		return m.apply(v.fn, nil)
	case v.kind == objectValue && (v.s == "code" || v.s == "scriptblock"), v.kind == numberValue:
		return unknown(v.taint) // what compile() gave has been looked into
	case !v.known():
		m.out.found(Found{Op: Code, Text: v.str(), Taint: v.taint, By: by})
		return unknown(v.taint)
	case lang != m.d.name:
		m.out.found(Found{Op: Code, Lang: lang, Text: v.s, Taint: v.taint, By: by})
		return unknown(v.taint)
	}
	m.out.found(Found{Op: Code, Text: v.s, Taint: v.taint, By: by})
	outer := m.out.taint
	m.out.taint |= v.taint
	result := m.nested(v.s, 0)
	m.out.taint = outer
	if r.result != "" {
		return value{kind: objectValue, s: r.result, taint: v.taint}
	}
	return result
}

// runsStdin runs what the code is given as its input, where a path is that of the input.
func (m *machine) runsStdin(v value, by string) bool {
	if !isStdinPath(v) {
		return false
	}
	m.code(row{}, m.inputs.input(), by)
	return true
}

// imported gives the name of a module. One that is a file runs.
func (m *machine) imported(v value, by string) value {
	name := v.str()
	if v.kind != textValue || !effect.IsKnown(name) {
		m.out.found(Found{Text: by, Taint: v.taint, By: by})
		return value{kind: nameValue, s: effect.Unknown, taint: v.taint}
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		op := Exec
		if strings.HasSuffix(name, ".json") {
			op = Read
		}
		m.out.found(Found{Op: op, Text: name, Taint: v.taint, By: by})
		return unknown(v.taint | effect.File)
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: by})
		m.out.found(Found{Op: NetIn, Text: name, By: by})
	}
	if m.d.library.importsNothing {
		return unknown(0)
	}
	return value{kind: nameValue, s: m.api.canonical(name)}
}

// methodNamed is the method of callee's receiver that a value names.
func (m *machine) methodNamed(callee, name value) value {
	if callee.of != nil && callee.of.kind != unknownValue {
		return m.memberOf(*callee.of, name.str())
	}
	if dot := strings.LastIndexByte(callee.s, '.'); dot > 0 && callee.of == nil {
		return m.memberOf(value{kind: nameValue, s: callee.s[:dot]}, name.str())
	}
	if !name.known() {
		m.out.found(Found{Text: callee.s, Taint: name.taint, By: callee.s})
		return unknown(name.taint)
	}
	return value{kind: nameValue, s: name.str()}
}
