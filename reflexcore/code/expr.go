package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// expr evaluates an expression with operators that bind at least as strongly as min.
func (m *machine) expr(min int) value {
	if !m.budget.step() || !m.budget.deeper() {
		return unknown(0)
	}
	defer func() { m.budget.depth-- }()
	left := m.unary()
	for m.budget.step() {
		t := m.in.tok()
		if m.in.ends() {
			return left
		}
		bind := m.in.strength(t)
		if bind == 0 || bind < min {
			return left
		}
		target, base, member := m.last, m.base, m.baseMember
		if bind == bindAssign { // the target is not used as a value
			m.escapes.undo()
		}
		m.in.i++
		m.last = ""
		switch {
		case bind == bindAssign:
			left = m.assign(target, t.Text, left)
			if target == "" {
				m.scope.forgetMember(base, member, left.taint)
			}
		case t.Text == "?":
			yes := m.expr(bindChoice)
			if m.in.take(":") {
				yes = join(yes, m.expr(bindChoice))
			}
			left = yes
		case t.Text == "if": // Python's a if b else c
			m.expr(bindOr)
			if m.in.isName("else") {
				m.in.i++
				left = join(left, m.expr(bindChoice))
			}
		case t.Text == "not": // not in
			m.in.i++
			m.expr(bind + 1)
			left = unknown(0)
		default:
			list := left.kind == listValue && t.Text == "<<"
			left = m.binary(t, left, bind)
			if list {
				m.scope.forgetValue(max(target, base))
			}
		}
		m.last = ""
	}
	return left
}

func (m *machine) assign(target, op string, old value) value {
	v := m.expr(bindAssign)
	if plainName(target) && v.kind == nameValue && (op == "=" || op == ":=") {
		m.escapes.undo()
	}
	if strings.HasPrefix(target, "__") && v.kind == nameValue && v.of == nil && m.api.executes(v.s) {
		// __class_getitem__ = os.system
		m.programs.shell(unknown(v.taint), target)
	}
	m.escapes.lastAt = -1
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

// plainName reports whether the target of an assignment is a variable that is followed. A member is
// not, nor is a name that the language itself calls.
func plainName(target string) bool {
	return target != "" && !strings.HasPrefix(target, "__") && !strings.Contains(target, ".")
}

func (m *machine) binary(t *lex.Token, left value, bind int) value {
	right := m.expr(bind + 1)
	taint := left.taint | right.taint
	switch t.Text {
	case "+":
		return add(left, right, false)
	case ".":
		return add(left, right, true)
	case "..":
		if m.d.expressions.concat == ".." {
			return add(left, right, true)
		}
	case "<<":
		if left.kind == textValue {
			return add(left, right, true)
		}
		if left.kind == objectValue && left.s == "file" {
			m.resources.content(value{s: "<<", of: &left}, []arg{{value: right}}, "<<")
		}
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
		if left.kind == numberValue && right.kind == numberValue && !m.d.expressions.caretPower {
			return value{kind: numberValue, n: left.n ^ right.n, taint: taint}
		}
	case "||", "or", "??":
		if left.known() && left.truthy() || left.kind == nameValue && left.of == nil && m.api.isDanger(left.s) {
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

// unary evaluates prefix operators, a value, and what follows it.
func (m *machine) unary() value {
	t := m.in.tok()
	m.last, m.base, m.baseMember = "", "", ""
	if t.Kind == lex.Op {
		switch t.Text {
		case "-", "+", "!", "~", "not", "\\", "&", "*", "**", "...", "@", "%", "$", "++", "--":
			m.in.i++
			if !m.budget.deeper() {
				return unknown(0)
			}
			var v value
			if t.Text == "&" && m.d.calls.textNames && m.in.take("{") { // &{"name"}(…)
				v = m.postfix(m.subscript("}"))
			} else {
				v = m.unary()
			}
			m.budget.depth--
			m.last = ""
			switch t.Text {
			case "-":
				if v.kind == numberValue {
					v.n = -v.n
					return v
				}
				if v.kind == nameValue && v.of == nil { // -e in Perl and PowerShell
					return text("-"+v.s, v.taint)
				}
			case "*", "**", "...", "@", "\\", "&", "%", "$":
				return v
			}
			return unknown(v.taint)
		}
	}
	if t.Kind == lex.Name && t.Text != "lambda" && beginsValue[t.Text] && m.d.syntax.IsKeyword(t.Text) {
		m.in.i++
		if !m.budget.deeper() {
			return unknown(0)
		}
		v := m.unary()
		m.budget.depth--
		m.last = ""
		if t.Text == "yield" { // whatever iterates over the generator may call it
			m.escapes.lastAt = -1
		}
		if t.Text == "not" || t.Text == "typeof" || t.Text == "delete" || t.Text == "void" {
			return unknown(v.taint)
		}
		return v
	}
	return m.postfix(m.primary())
}
