package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// primary evaluates a literal, a name, or what stands in brackets.
func (m *machine) primary() value {
	t := m.tok()
	switch t.kind {
	case tkString:
		m.i++
		v := m.literal(t)
		for m.d.name == "python" && m.tok().kind == tkString && !m.ends() { // "a" "b"
			v = add(v, m.literal(m.tok()), true)
			m.i++
		}
		return v
	case tkNumber:
		m.i++
		return number(t.text)
	case tkCommand:
		m.i++
		v := m.literal(t)
		m.shell(v, "`")
		return unknown(v.taint | effect.File)
	case tkRegex:
		m.i++
		if t.evaluat {
			if v := m.inside(t.more); t.twice {
				m.code(row{}, v, "s///ee")
			}
		}
		m.inserts(t.more)
		m.patternCode(t.text)
		return value{kind: objectValue, s: "regex"}
	case tkWords:
		m.i++
		var words []value
		for w := range strings.FieldsSeq(t.text) {
			words = append(words, text(w, 0))
		}
		return list(words, 0)
	case tkName:
		return m.name(t)
	case tkOp:
		if v, ok := m.readsInput(); ok {
			return v
		}
		switch t.text {
		case "(":
			return m.group()
		case "[":
			m.i++
			v := list(m.elements("]"), 0)
			if len(m.keys) > 0 && len(m.keys) == len(v.list) {
				v.keys = m.keys
			}
			return v
		case "{":
			return m.mapLiteral()
		case "->": // Ruby's lambda, with or without parameters
			m.i++
			return unknown(0)
		}
	default:
	}
	return unknown(0)
}

// patternCode evaluates (?{ code }) in a pattern of Perl.
func (m *machine) patternCode(pattern string) {
	for m.d.name == "perl" && m.step() {
		at := strings.Index(pattern, "?{")
		if at < 0 {
			return
		}
		end := closing(pattern, at+2, '{')
		m.inside(strings.TrimSuffix(pattern[at+2:end], "}"))
		pattern = pattern[end:]
	}
}

// group evaluates (…): one value, a list, or the parameters of an arrow function.
func (m *machine) group() value {
	end := m.match(m.i)
	if m.d.name == "node" && end+1 < len(m.toks) && m.toks[end+1].kind == tkOp && m.toks[end+1].text == "=>" {
		params := m.params(m.i+1, end)
		m.i = end + 2
		return m.arrow(params)
	}
	m.i++
	loose := len(m.loose)
	elements := m.elements(")")
	one := len(elements) == 1 && !m.trailing
	last := len(elements) - 1
	if len(m.loose) == loose+1 && m.usedAt >= 0 && last >= 0 && elements[last].kind == nameValue && (one || m.d.name == "node") {
		m.loose = m.loose[:loose] // it is the value of the brackets, which is looked at as any other
	}
	switch {
	case one:
		return elements[0]
	case m.d.name == "node" && len(elements) > 0: // the comma operator
		return elements[len(elements)-1]
	}
	return list(elements, 0)
}

// elements evaluates expressions between commas up to a closing bracket and past
// it. A comprehension inside is expanded.
func (m *machine) elements(end string) []value {
	m.paren++
	m.keys = nil
	defer func() { m.paren-- }()
	if m.d.name == "python" && m.isComprehension() {
		out := m.comprehension()
		for m.step() && m.tok().kind != tkEnd && !m.is(end) {
			m.i++
		}
		m.take(end)
		m.trailing, m.last = true, ""
		return out
	}
	var out []value
	var keys []string // of PHP's lists
	trailing := false
	for m.step() && m.tok().kind != tkEnd && !m.is(end) {
		before := m.i
		star := m.is("*") || m.is("...")
		v := m.expr(bindAssign)
		if inner, ok := v.items(); star && ok && v.kind == listValue {
			out = append(out, inner...)
		} else if m.take("=>") || m.d.name == "ruby" && m.take(":") { // a pair in a list
			m.last = ""
			e := m.expr(bindAssign)
			if m.d.name == "php" { // ["a" => "system"]["a"](…)
				out = append(out, e)
				keys = append(keys, v.str())
			}
		} else {
			out = append(out, v)
		}
		trailing = m.take(",")
		if !trailing && m.i == before {
			m.i++
		}
		if len(out) > maxList {
			m.over = true
		}
	}
	m.take(end)
	m.trailing, m.last, m.keys = trailing, "", keys
	return out
}

// isComprehension reports whether a for follows the first expression between the
// brackets that were just opened.
func (m *machine) isComprehension() bool {
	depth := 0
	for i := m.i; i < len(m.toks); i++ {
		t := &m.toks[i]
		m.steps++
		switch {
		case t.kind == tkName && depth == 0 && t.text == "for":
			return true
		case t.kind != tkOp:
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			if depth--; depth < 0 {
				return false
			}
		case t.text == "," && depth == 0:
			return false
		}
	}
	return false
}

// comprehension evaluates an expression once for each element of the list that
// it runs over, if that is known, and once if not.
func (m *machine) comprehension() []value {
	start, quiet := m.i, m.quiet
	m.quiet = true
	first := m.expr(bindAssign)
	m.quiet = quiet
	for m.tok().kind != tkEnd && !m.isName("for") {
		m.i++
	}
	m.i++
	var names []string
	for m.tok().kind != tkEnd && !m.isName("in") {
		if m.tok().kind == tkName {
			names = append(names, m.tok().text)
		}
		m.i++
	}
	m.i++
	over := m.expr(bindOr)
	filtered := false
	for (m.isName("if") || m.isName("for")) && m.step() {
		filtered = true
		m.i++
		m.expr(bindOr)
	}
	items, ok := over.items()
	several := over.kind == listValue && over.s == "entries"
	known := ok && (!filtered || several) && len(names) > 0
	if !known {
		items = []value{unknown(over.taint | first.taint)}
	}
	if len(m.vars)+len(names) > maxVars {
		m.over = true
		return nil
	}
	after, n := m.i, len(m.vars)
	out := make([]value, 0, len(items))
	for _, item := range items {
		if !m.step() {
			break
		}
		for j, name := range names {
			if len(names) > 1 {
				m.vars = append(m.vars, binding{name, at(item, int64(j))})
			} else {
				m.vars = append(m.vars, binding{name, item})
			}
		}
		m.i = start
		out = append(out, m.expr(bindAssign))
		m.vars = m.vars[:n]
	}
	m.i = after
	if !known || several {
		// A list of which not even the length is known is not a list of one.
		return []value{unknown(taints(out))}
	}
	return out
}

// mapLiteral evaluates {a: b, "c": d}.
func (m *machine) mapLiteral() value {
	m.i++
	m.paren++
	defer func() { m.paren-- }()
	v := value{kind: listValue, keys: []string{}}
	for m.step() && m.tok().kind != tkEnd && !m.is("}") {
		before := m.i
		t := m.tok()
		name := ""
		next := m.ahead(1)
		if (t.kind == tkName || t.kind == tkString) && next.kind == tkOp && (next.text == ":" || next.text == "=>" || next.text == "=" || next.text == "," || next.text == "}") {
			name = t.text
			if next.text != "," && next.text != "}" {
				m.i += 2
			}
			e := m.expr(bindAssign)
			v.keys, v.list = append(v.keys, name), append(v.list, e)
			v.taint |= e.taint
		} else if t.kind == tkName && next.kind == tkOp && next.text == "(" && m.d.name == "node" { // a method
			m.i = m.match(m.i+1) + 1
			if m.is("{") {
				m.function()
			}
		} else {
			e := m.expr(bindAssign)
			v.taint |= e.taint
			if m.take(":") || m.take("=>") {
				e2 := m.expr(bindAssign)
				v.keys, v.list = append(v.keys, e.str()), append(v.list, e2)
				v.taint |= e2.taint
			}
		}
		if !m.take(",") && !m.take(";") && m.i == before {
			m.i++
		}
	}
	m.take("}")
	m.last = ""
	return v
}

// name evaluates a name: a variable, a keyword that begins a value, or a path of
// names as long as it is written without a break.
func (m *machine) name(t *token) value {
	if v, ok := m.special(t); ok {
		return v
	}
	m.i++
	s, end := t.text, t.end
	switch m.d.name {
	case "perl":
		s = m.perlName(t)
	case "php":
		if s[0] != '$' && strings.ToLower(s) != s && m.api.find(s) == nil { // functions do not depend on case
			if lower := strings.ToLower(s); m.api.find(lower) != nil {
				s = lower
			}
		}
	}
	m.last = s
	if v, ok := m.get(s); ok {
		return v
	}
	for m.i+1 < len(m.toks) { // a.b.c is a part of the source
		dot, part := &m.toks[m.i], &m.toks[m.i+1]
		if dot.kind != tkOp || dot.text != "." || m.d.member[0] != "." || part.kind != tkName || dot.pos != end || part.pos != dot.end || int(part.end) > len(m.src) ||
			len(part.text) != int(part.end-part.pos) || len(t.text) != int(t.end-t.pos) || m.d.name == "ruby" && m.api.find(s) != nil {
			break
		}
		s, end = m.src[t.pos:part.end], part.end
		m.i += 2
		m.last = s
		if v, ok := m.get(s); ok {
			return v
		}
	}
	return value{kind: nameValue, s: m.api.canonical(s)}
}

// perlName is a name with the sigil of what it holds: $a[0] is an element of @a,
// $h{x} of %h; File::Path is written with a dot as everywhere else.
func (m *machine) perlName(t *token) string {
	s := t.text
	if next := m.tok(); s[0] == '$' && next.kind == tkOp && !next.sp && len(s) > 1 {
		switch next.text {
		case "[":
			return "@" + s[1:]
		case "{":
			return "%" + s[1:]
		}
	}
	if s[0] == '&' {
		s = s[1:]
	}
	if strings.Contains(s, "::") {
		return strings.ReplaceAll(s, "::", ".")
	}
	return s
}
