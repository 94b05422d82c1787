package code

import (
	"strings"

	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
)

// The binding strengths of operators, one scale for all languages.
const (
	bindAssign = iota + 1
	bindChoice
	bindOr
	bindCompare
	bindBits
	bindRange
	bindShift
	bindAdd
	bindTimes
	bindPower
)

// strength returns how strongly an operator binds, or 0.
func (m *machine) strength(t *token) int {
	if t.kind == tkName {
		switch t.text {
		case "or", "and", "xor":
			return bindOr
		case "in", "is", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "isa":
			if t.text == "in" && m.d.name != "python" && m.d.name != "node" && m.d.name != "awk" {
				return 0
			}
			return bindCompare
		case "not":
			if m.d.name == "python" && m.ahead(1).text == "in" {
				return bindCompare
			}
		case "if":
			if m.d.name == "python" {
				return bindChoice
			}
		case "x":
			if m.d.name == "perl" {
				return bindTimes
			}
		}
		return 0
	}
	if t.kind != tkOp {
		return 0
	}
	if isAssign(t) {
		return bindAssign
	}
	switch t.text {
	case "?":
		return bindChoice
	case "||", "??", "&&", "//":
		if t.text == "//" && m.d.name == "python" {
			return bindTimes
		}
		return bindOr
	case "==", "!=", "===", "!==", "<", ">", "<=", ">=", "=~", "!~", "<=>", "~=", "~":
		return bindCompare
	case "|", "&", "^":
		return bindBits
	case "..", "...":
		if m.d.name == "lua" {
			return bindAdd
		}
		return bindRange
	case "<<", ">>", ">>>":
		return bindShift
	case "+", "-":
		return bindAdd
	case ".":
		if m.d.concat == "." {
			return bindAdd
		}
	case "*", "/", "%":
		return bindTimes
	case "**":
		return bindPower
	}
	return 0
}

// expr evaluates an expression whose operators bind at least as strongly as min.
func (m *machine) expr(min int) value {
	if !m.step() || !m.deeper() {
		m.depth--
		return unknown(0)
	}
	defer func() { m.depth-- }()
	left := m.unary()
	for m.step() {
		t := m.tok()
		if m.ends() {
			return left
		}
		bind := m.strength(t)
		if bind == 0 || bind < min {
			return left
		}
		target := m.last
		m.i++
		m.last = ""
		switch {
		case bind == bindAssign:
			left = m.assign(target, t.text, left)
		case t.text == "?":
			yes := m.expr(bindChoice)
			if m.take(":") {
				yes = join(yes, m.expr(bindChoice))
			}
			left = yes
		case t.text == "if": // Python's a if b else c
			m.expr(bindOr)
			if m.isName("else") {
				m.i++
				left = join(left, m.expr(bindChoice))
			}
		case t.text == "not": // not in
			m.i++
			m.expr(bind + 1)
			left = unknown(0)
		default:
			left = m.binary(t, left, bind)
		}
		m.last = ""
	}
	return left
}

func (m *machine) assign(target, op string, old value) value {
	v := m.expr(bindAssign)
	switch op {
	case "+=", ".=":
		v = add(old, v, op == ".=")
	case "=", ":=":
	case "||=", "??=", "//=", "&&=":
		v = join(old, v)
	default:
		v = unknown(old.taint | v.taint)
	}
	if target != "" {
		m.set(target, v)
	}
	return v
}

func (m *machine) binary(t *token, left value, bind int) value {
	right := m.expr(bind + 1)
	taint := left.taint | right.taint
	switch t.text {
	case "+":
		return add(left, right, false)
	case ".":
		return add(left, right, true)
	case "..":
		if m.d.name == "lua" {
			return add(left, right, true)
		}
	case "<<":
		if left.kind == textValue {
			return add(left, right, true)
		}
		m.appended(left, right)
	case "%":
		if left.kind == textValue {
			args := []value{right}
			if right.kind == listValue && right.keys == nil {
				args = right.list
			}
			return sprintf(left, args)
		}
	case "*", "x":
		return repeat(left, right)
	case "-":
		if left.kind == numberValue && right.kind == numberValue {
			return value{kind: numberValue, n: left.n - right.n, taint: taint}
		}
	case "^":
		if left.kind == numberValue && right.kind == numberValue && m.d.name != "lua" {
			return value{kind: numberValue, n: left.n ^ right.n, taint: taint}
		}
	case "||", "or", "??":
		if left.known() && left.truthy() || left.kind == nameValue && left.of == nil && m.isDanger(left.s) {
			return left
		}
		return join(left, right)
	case "/":
		if left.kind == objectValue { // Path("a") / "b"
			left.from = joinPath([]value{left, right})
			left.taint = taint
			return left
		}
	}
	return unknown(taint)
}

func repeat(left, right value) value {
	if right.kind == textValue {
		left, right = right, left
	}
	if right.kind != numberValue || right.n < 0 {
		return unknown(left.taint | right.taint)
	}
	switch {
	case left.kind == textValue && int64(len(left.s))*right.n <= maxText && right.n <= maxText:
		return text(strings.Repeat(left.s, int(right.n)), left.taint)
	case left.kind == numberValue && left.n < 1<<31 && right.n < 1<<31 && left.n > -1<<31:
		return value{kind: numberValue, n: left.n * right.n, taint: left.taint | right.taint}
	}
	return unknown(left.taint | right.taint)
}

// unary evaluates what stands before a value, the value, and what follows it.
func (m *machine) unary() value {
	t := m.tok()
	m.last = ""
	if t.kind == tkOp {
		switch t.text {
		case "-", "+", "!", "~", "not", "\\", "&", "*", "**", "...", "@", "%", "$", "++", "--":
			m.i++
			if !m.deeper() {
				m.depth--
				return unknown(0)
			}
			var v value
			if t.text == "&" && m.d.name == "perl" && m.take("{") { // &{"name"}(…)
				v = m.postfix(m.subscript("}"))
			} else {
				v = m.unary()
			}
			m.depth--
			m.last = ""
			switch {
			case t.text == "-" && v.kind == numberValue:
				v.n = -v.n
				return v
			case t.text == "-" && v.kind == nameValue && v.of == nil: // -e in Perl and PowerShell
				return text("-"+v.s, v.taint)
			case t.text == "*", t.text == "**", t.text == "...", t.text == "@", t.text == "\\", t.text == "&", t.text == "%", t.text == "$":
				return v
			}
			return unknown(v.taint)
		}
	}
	if t.kind == tkName && (t.text == "not" || t.text == "await" || t.text == "typeof" || t.text == "void" || t.text == "delete" || t.text == "yield" || t.text == "async" || t.text == "new") && (t.text != "new" || m.d.name == "node" || m.d.name == "php") && m.d.isKeyword(t.text) {
		m.i++
		if !m.deeper() {
			m.depth--
			return unknown(0)
		}
		v := m.unary()
		m.depth--
		m.last = ""
		if t.text == "not" || t.text == "typeof" || t.text == "delete" || t.text == "void" {
			return unknown(v.taint)
		}
		return v
	}
	return m.postfix(m.primary())
}

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
			m.inside(t.more)
		}
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
		switch t.text {
		case "(":
			return m.group()
		case "[":
			m.i++
			return list(m.elements("]"), 0)
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
	elements := m.elements(")")
	switch {
	case len(elements) == 1 && !m.trailing:
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
	trailing := false
	for m.step() && m.tok().kind != tkEnd && !m.is(end) {
		before := m.i
		star := m.is("*") || m.is("...")
		v := m.expr(bindAssign)
		if inner, ok := v.items(); star && ok && v.kind == listValue {
			out = append(out, inner...)
		} else if m.take("=>") || m.d.name == "ruby" && m.take(":") { // a pair in a list
			m.last = ""
			m.expr(bindAssign)
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
	m.trailing, m.last = trailing, ""
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
	known := ok && !filtered && len(names) > 0
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
	if !known {
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
	return value{kind: nameValue, s: m.canonical(s)}
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

// canonical removes what only says where a name is looked up.
func (m *machine) canonical(s string) string {
	for _, prefix := range m.api.roots {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
			return m.canonical(rest)
		}
	}
	return s
}

// postfix evaluates members, elements and calls that follow a value.
func (m *machine) postfix(v value) value {
	for m.step() && !m.stops() {
		t := m.tok()
		target := m.last
		m.last = ""
		switch {
		case !(t.kind == tkOp && t.text == "(") && m.callsItself(v) && !m.bareCall(v, t):
			v = m.call(v, nil)
		case t.kind == tkOp && m.isMember(t.text):
			m.i++
			v = m.member(v)
			if target != "" && v.kind == nameValue && v.of == nil {
				m.last = v.s
			}
		case t.kind == tkOp && t.text == "(" && m.callable(t):
			v = m.call(v, m.arguments())
		case t.kind == tkOp && t.text == "[" && !(t.sp && m.d.bareCalls && v.kind == nameValue && m.d.name == "ruby"):
			v = m.element(v)
		case t.kind == tkOp && t.text == "{" && m.d.name == "perl" && !t.sp && v.kind != textValue:
			m.i++
			key := m.subscript("}")
			v = m.elementOf(v, key)
		case t.kind == tkOp && (t.text == "++" || t.text == "--"):
			m.i++
			if target != "" {
				m.set(target, unknown(v.taint))
			}
			v = unknown(v.taint)
		case t.kind == tkOp && t.text == "=>" && m.d.name == "node" && target != "":
			m.i++
			v = m.arrow([]string{target})
		case t.kind == tkString && m.d.name == "node" && t.how&qInter != 0 && !t.nl: // tag`…`
			m.i++
			v = m.call(v, []arg{{value: m.literal(t)}})
		case m.d.bareCalls && m.bareCall(v, t):
			v = m.call(v, m.bareArguments())
		case t.kind == tkOp && t.text == "{" && m.d.name == "ruby" && v.kind != textValue || m.d.name == "ruby" && t.kind == tkName && t.text == "do" && !t.nl:
			m.i++ // a block: its statements follow
			if m.is("|") {
				for m.i++; m.tok().kind != tkEnd && !m.is("|"); m.i++ {
				}
				m.i++
			}
			return unknown(v.taint)
		default:
			m.last = target
			return m.resolved(v)
		}
	}
	if m.callsItself(v) {
		v = m.call(v, nil)
	}
	return m.resolved(v)
}

// callsItself reports whether a method is called although neither brackets nor
// arguments follow, as in Ruby and Perl.
func (m *machine) callsItself(v value) bool {
	if !m.d.bareCalls || m.d.name == "php" || v.kind != nameValue || v.fn != nil {
		return false
	}
	rows := m.api.find(v.s)
	if !strings.Contains(v.s, ".") {
		return len(rows) > 0 && rows[0].action == "fork"
	}
	if rows == nil && v.of != nil {
		rows = m.api.method(v.s)
	}
	if len(rows) == 0 {
		return false
	}
	switch r := rows[0]; r.action {
	case "fold", "object", "unknown":
		return true
	case "environment":
		return r.arg == argNone
	case "read", "delete", "write", "kill":
		return r.arg == argReceiver
	}
	return false
}

// stops reports whether the line's end ends the value: a member may follow on the
// next line in some languages.
func (m *machine) stops() bool {
	t := m.tok()
	if t.kind == tkEnd {
		return true
	}
	if !t.nl || m.paren > 0 {
		return false
	}
	if t.kind == tkOp && m.isMember(t.text) {
		return m.d.name == "python"
	}
	return m.d.lineEnds || t.kind != tkOp || t.text == "[" || t.text == "(" || t.text == "++" || t.text == "--"
}

func (m *machine) isMember(op string) bool {
	for _, d := range m.d.member {
		if d == op {
			return true
		}
	}
	return false
}

// callable reports whether a bracket after a value is a call.
func (m *machine) callable(t *token) bool {
	return !(m.d.name == "ruby" && t.sp && m.ahead(1).kind == tkEnd)
}

// bareCall reports whether what follows a name is the arguments of a call without
// brackets.
func (m *machine) bareCall(v value, t *token) bool {
	if v.kind != nameValue || t.nl && m.d.name != "perl" || !t.sp && t.kind != tkString && t.kind != tkCommand && !(t.kind == tkOp && t.text == "{") || strings.IndexByte("$@%", v.s[0]) >= 0 && v.of == nil {
		return false
	}
	switch t.kind {
	case tkString, tkNumber, tkCommand, tkWords, tkRegex:
		return m.d.name != "lua" || t.kind == tkString
	case tkName:
		return m.d.name != "lua" && (!m.d.isKeyword(t.text) || t.text == "my" || t.text == "new" || t.text == "not") && m.strength(t) == 0 && t.text != "as"
	case tkOp:
		switch t.text {
		case "*", "-", "[", "&", ":":
			return m.d.name == "ruby" && t.sp && m.ahead(1).pos == t.end
		case "$", "@", "\\":
			return m.d.name == "perl"
		case "{":
			return m.d.name == "lua" || m.d.name == "perl" && (v.s == "print" || v.s == "printf" || v.s == "exec" || v.s == "system")
		}
	default:
	}
	return false
}

// member reads the name after a dot, an arrow or a double colon.
func (m *machine) member(v value) value {
	t := m.tok()
	switch {
	case t.kind == tkName && !(m.d.name == "php" && t.text[0] == '$' || m.d.name == "perl" && t.text[0] == '$'):
		m.i++
		return m.memberOf(v, t.text)
	case t.kind == tkName: // ->$method
		m.i++
		name, _ := m.get(t.text)
		return m.memberOf(v, name.str())
	case t.kind == tkOp && t.text == "(" && (m.d.name == "ruby" || m.d.name == "perl" || m.d.name == "node"): // .() and ->() and ?.()
		return v
	case t.kind == tkOp && (t.text == "[" || t.text == "{") && m.d.name != "php":
		end := "]"
		if t.text == "{" {
			end = "}"
		}
		m.i++
		return m.elementOf(v, m.subscript(end))
	case t.kind == tkOp && t.text == "{":
		m.i++
		return m.memberOf(v, m.subscript("}").str())
	case t.kind == tkOp && (t.text == "@" || t.text == "%"):
		m.i++
	}
	return v
}

func (m *machine) memberOf(v value, name string) value {
	switch {
	case v.kind == nameValue && v.of == nil && m.isDanger(v.s) && (name == "call" || name == "apply" || name == "bind" || name == "__call__"):
		recv := v
		return value{kind: nameValue, s: "function." + name, of: &recv}
	case v.fn != nil && (name == "call" || name == "()"):
		return v
	case v.kind == nameValue && v.of == nil && (name == "__dict__" || name == "default" && m.d.name == "node"):
		return v
	case v.kind == nameValue && v.of == nil:
		path := name
		if v.s != "" {
			path = v.s + "." + name
		}
		if len(path) > 256 {
			path = effect.Unknown
		}
		if known, ok := m.get(path); ok {
			return known
		}
		return value{kind: nameValue, s: m.canonical(path), taint: v.taint}
	case v.keys != nil:
		if e, ok := v.key(name); ok {
			return e
		}
	}
	prefix := "?"
	switch v.kind {
	case objectValue, nameValue:
		prefix = v.s
	case textValue:
		prefix = "text"
	case listValue:
		prefix = "list"
	default:
	}
	if len(prefix) > 256 {
		prefix = "?"
	}
	recv := v
	result := value{kind: nameValue, s: prefix + "." + name, of: &recv, taint: v.taint}
	if rows := m.api.find(result.s); len(rows) > 0 && rows[0].action == "property" {
		return m.call(result, nil)
	}
	return result
}

// subscript evaluates what stands between brackets, where a bare word is a text
// in some languages.
func (m *machine) subscript(end string) value {
	if t := m.tok(); t.kind == tkName && m.ahead(1).kind == tkOp && m.ahead(1).text == end && end == "}" && isLetter(t.text[0]) {
		m.i += 2
		return text(t.text, 0)
	}
	m.paren++
	v := m.expr(0)
	for m.step() && m.tok().kind != tkEnd && !m.is(end) {
		m.expr(0)
		if !m.is(end) {
			m.i++
		}
	}
	m.take(end)
	m.paren--
	m.last = ""
	return v
}

// element evaluates v[i] and v[a:b:c].
func (m *machine) element(v value) value {
	m.i++
	if v.kind == nameValue && v.of == nil && m.d.name == "python" { // sys.argv[1:]
		if rows := m.api.find(v.s); len(rows) > 0 && rows[0].action == "argv" {
			v = m.operands(rows[0].arg)
		}
	}
	if m.d.name != "python" || v.kind == nameValue {
		return m.elementOf(v, m.subscript("]"))
	}
	m.paren++
	defer func() { m.paren-- }()
	var bounds [3]*int64
	n, sliced := 0, false
	var first value
	for m.step() && m.tok().kind != tkEnd && !m.is("]") {
		if m.take(":") {
			n, sliced = n+1, true
			continue
		}
		if m.take("::") {
			n, sliced = n+2, true
			continue
		}
		before := m.i
		first = m.expr(0)
		if n < 3 && first.kind == numberValue {
			i := first.n
			bounds[n] = &i
		} else if n > 0 {
			v = unknown(v.taint | first.taint)
		}
		if m.i == before {
			m.i++
		}
	}
	m.take("]")
	m.last = ""
	if !sliced {
		if first.kind != numberValue && v.kind == unknownValue {
			return v
		}
		return m.elementOf(v, first)
	}
	step := int64(1)
	if bounds[2] != nil {
		step = *bounds[2]
	}
	return slice(v, bounds[0], bounds[1], step)
}

func (m *machine) elementOf(v, key value) value {
	switch {
	case v.keys != nil:
		if e, ok := v.key(key.str()); ok && key.known() {
			return e
		}
		return unknown(v.taint)
	case v.kind == nameValue && v.of == nil:
		if sliced, ok := m.indexed(v.s, key); ok {
			return sliced
		}
		if key.kind == textValue {
			return m.memberOf(v, key.s)
		}
		if key.kind == numberValue {
			return unknown(v.taint)
		}
		return m.memberOf(v, effect.Unknown)
	case v.kind == nameValue:
		if key.kind == textValue {
			return m.memberOf(*v.of, key.s)
		}
		if v.of.kind == listValue && !key.known() {
			return m.memberOf(*v.of, effect.Unknown)
		}
	case v.kind == listValue && key.kind != textValue && !key.known() && m.d.name == "node":
		return m.memberOf(v, effect.Unknown)
	case key.kind == numberValue:
		i := key.n
		if m.d.name == "lua" {
			i--
		}
		return at(v, i)
	case key.kind == textValue && v.kind != textValue:
		return m.memberOf(v, key.s)
	}
	return unknown(v.taint | key.taint)
}

func joinPath(parts []value) string {
	out := ""
	for _, p := range parts {
		s := p.str()
		switch {
		case strings.HasPrefix(s, "/") || out == "":
			out = s
		case strings.HasSuffix(out, "/"):
			out += s
		default:
			out += "/" + s
		}
	}
	return out
}

// applyDecoder runs a decoder on a value. Bytes that cannot stand in a text stay
// in an unknown value, for the next decoder.
func applyDecoder(name string, v value) value {
	t := v.taint | effect.Decoded
	in := v.s
	if v.kind != unknownValue {
		in = v.str()
	}
	if in == "" || v.kind != unknownValue && !v.known() {
		return unknown(t)
	}
	out, ok := decode.Apply(name, in, maxText)
	switch {
	case !ok:
		return unknown(t)
	case strings.IndexByte(out, 0) >= 0:
		return value{s: out, taint: t}
	}
	return text(out, t)
}
