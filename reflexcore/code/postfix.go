package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/wordset"
)

// postfix evaluates the members, elements and calls after a value.
func (m *machine) postfix(v value) value {
	base, member := "", ""
	defer func() { m.base, m.baseMember = base, member }()
	for m.budget.step() && !m.in.endsAtLine() {
		t := m.in.tok()
		target := m.last
		m.last = ""
		if target != "" {
			base, member = target, m.writtenMember(t)
		}
		switch {
		case !t.IsOp("(") && m.api.callsItself(v) && !m.bareCall(v, t):
			v = m.call(v, nil)
		case t.Kind == lex.Op && m.in.isMember(t.Text):
			m.in.i++
			v = m.member(v)
			if target != "" && v.kind == nameValue && v.of == nil {
				m.last = v.s
			}
		case t.IsOp("(") && m.in.callable(t):
			name := m.in.ahead(1).Text
			v = m.callChanging(v, m.arguments(), base, name)
		case t.IsOp("[") && (!t.Spaced || v.kind != nameValue || !m.bareCall(v, t)):
			v = m.element(v)
		case t.IsOp("{") && m.d.members.hashElements && !t.Spaced && v.kind != textValue && !takesBlock(v):
			m.in.i++
			key := m.subscript("}")
			v = m.elementOf(v, key)
		case t.Kind == lex.Op && (t.Text == "++" || t.Text == "--"):
			m.in.i++
			if target != "" {
				m.set(target, unknown(v.taint))
			}
			v = unknown(v.taint)
		case t.IsOp("=>") && m.d.expressions.arrows && target != "":
			m.in.i++
			v = m.arrow([]param{{name: target}})
		case t.Kind == lex.String && m.d.syntax.Texts.Templates && t.How&lex.Filled != 0 && !t.NewLine: // tag`…`
			m.in.i++
			v = m.tagged(v, m.literal(t))
		case m.d.syntax.BareCalls && m.bareCall(v, t):
			v = m.callChanging(v, m.bareArguments(), base, t.Text)
		case m.d.calls.blocks && v.kind != textValue && (t.IsOp("{") || t.IsName("do") && !t.NewLine):
			m.in.openBlock()
			return unknown(v.taint)
		default:
			m.last = target
			m.escapes.value(v)
			return m.resolved(v)
		}
	}
	if m.api.callsItself(v) {
		v = m.call(v, nil)
	}
	m.escapes.value(v)
	return m.resolved(v)
}

// writtenMember returns the name of the member that follows, if it is written out: .name or ["name"].
func (m *machine) writtenMember(t *lex.Token) string {
	name := m.in.ahead(1)
	switch {
	case t.IsOp(".") && name.Kind == lex.Name:
		return name.Text
	case t.IsOp("[") && name.Kind == lex.String && m.in.ahead(2).IsOp("]") &&
		strings.Trim(strings.ToLower(name.Text), "abcdefghijklmnopqrstuvwxyz-_") == "":
		return name.Text
	}
	return ""
}

// tagged calls the function before a template with the parts of the text as a list. It also judges
// the whole text, because most such functions join the parts.
func (m *machine) tagged(fn, literal value) value {
	v := m.call(fn, []arg{{value: literal}})
	if fn.fn == nil {
		return v
	}
	return join(v, m.call(fn, []arg{{value: list([]value{literal}, literal.taint)}}))
}

// bareCall reports whether a name is followed by the arguments of a call without brackets.
func (m *machine) bareCall(v value, t *lex.Token) bool {
	apart := t.Spaced || t.Kind == lex.String || t.Kind == lex.Command || t.IsOp("{")
	if v.kind != nameValue || t.NewLine && !m.d.calls.bareAcross || !apart || v.s == "" ||
		strings.IndexByte("$@%", v.s[0]) >= 0 && v.of == nil {
		return false
	}
	switch t.Kind {
	case lex.String:
		return true
	case lex.Number, lex.Command, lex.Words, lex.Regex:
		return !m.d.calls.bareTextOnly
	case lex.Name:
		return !m.d.calls.bareTextOnly && (!m.d.syntax.IsKeyword(t.Text) || bareKeywords[t.Text]) && m.in.strength(t) == 0 &&
			t.Text != "as"
	case lex.Op:
		switch t.Text {
		case "[": // run ["sh"] of IPC::Run
			if m.d.calls.blockArgs {
				return t.Spaced && m.api.isDanger(v.s)
			}
		case "<", "<>": // eval <STDIN>
			return m.d.expressions.angleInput && (t.Text == "<>" || m.in.ahead(1).Text == "STDIN" || m.in.ahead(1).Text == ">")
		case "{":
			return m.d.calls.bareTextOnly || m.d.calls.blockArgs && takesBlock(v)
		}
		return slices.Contains(m.d.calls.bareSigils, t.Text) || t.Spaced && slices.Contains(m.d.calls.bareOps, t.Text) &&
			m.in.ahead(1).Pos == t.End
	default:
	}
	return false
}

// bareKeywords may begin such arguments.
var bareKeywords = wordset.Of("my local our new not")

// takesBlock reports whether a function of Perl takes a block before its arguments, which says where
// it prints or what it runs.
func takesBlock(v value) bool { return v.kind == nameValue && blockFunctions[v.s] }

var blockFunctions = wordset.Of("print printf say exec system")

// member reads the name after a dot, an arrow or a double colon.
func (m *machine) member(v value) value {
	t := m.in.tok()
	switch {
	case t.Kind == lex.Name && (t.Text[0] != '$' || !m.d.members.dynamic):
		m.in.i++
		return m.named(v, t.Text)
	case t.Kind == lex.Name: // ->$method
		m.in.i++
		name, _ := m.scope.get(t.Text)
		return m.memberOf(v, name.str())
	case t.IsOp("("): // .() and ->() and ?.()
		return v
	case t.Kind == lex.Op && (t.Text == "[" || t.Text == "{") && !m.d.members.braced:
		m.in.i++
		return m.elementOf(v, m.subscript(string(lex.Closer(t.Text[0]))))
	case t.IsOp("{"):
		m.in.i++
		return m.memberOf(v, m.subscript("}").str())
	case t.Kind == lex.Op && (t.Text == "@" || t.Text == "%"):
		m.in.i++
	}
	return v
}

// named is the member of a value with a name that is written out. Where texts can be called, it is no text
// of an array, as in $f['system'](…), if it is called: $f->system(…).
func (m *machine) named(v value, name string) value {
	member := m.memberOf(v, name)
	if m.d.calls.callableTexts && member.kind == nameValue && member.of == nil && m.in.tok().IsOp("(") {
		member.of = &v
	}
	return member
}

// element evaluates v[i] and v[a:b:c].
func (m *machine) element(v value) value {
	m.in.i++
	if v.kind == nameValue && v.of == nil && m.d.expressions.slices { // sys.argv[1:]
		if rows := m.api.find(v.s); len(rows) > 0 && rows[0].action == "argv" {
			v = m.inputs.operands(rows[0].arg)
		}
	}
	if !m.d.expressions.slices || v.kind == nameValue {
		return m.elementOf(v, m.subscript("]"))
	}
	m.in.paren++
	defer func() { m.in.paren-- }()
	var bounds [3]*int64
	n, sliced := 0, false
	var first value
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is("]") {
		if t := m.in.tok(); m.in.take(":") || m.in.take("::") {
			n, sliced = n+len(t.Text), true
			continue
		}
		before := m.in.i
		first = m.expr(0)
		if n < 3 && first.kind == numberValue {
			i := first.n
			bounds[n] = &i
		} else if n > 0 {
			v = unknown(v.taint | first.taint)
		}
		if m.in.i == before {
			m.in.i++
		}
	}
	m.in.take("]")
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
