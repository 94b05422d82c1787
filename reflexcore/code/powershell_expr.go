package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// primary evaluates a value and the members, elements and calls after it.
func (p *psReader) primary() value {
	if !p.budget.deeper() {
		p.i = len(p.src)
		return unknown(0)
	}
	defer func() { p.budget.depth-- }()
	var v value
	switch c := p.at(0); {
	case c == '@' && (p.at(1) == '"' || p.at(1) == '\''):
		v = p.hereString()
	case c == '@' && p.at(1) == '(':
		p.skip(2)
		v = p.block(')')
		if v.kind != listValue && v.kind != unknownValue {
			v = list([]value{v}, 0)
		}
	case c == '@' && p.at(1) == '{':
		p.skip(2)
		v = p.table()
	case c == '"' || c == '\'':
		v = p.quoted()
	case c == '(':
		p.skip(1)
		v = p.block(')')
	case c == '$':
		v = p.variable()
	case c == '{':
		start := p.i
		p.skip(1)
		p.block('}')
		v = value{kind: objectValue, s: "scriptblock", from: p.src[start:p.i]}
	case c == '[':
		return p.typed()
	case lex.IsDigit(c):
		var ranged bool
		if v, ranged = p.number(); ranged {
			return v
		}
	case c == '-' || c == '!' || c == '+' || c == ',':
		if c == '-' && lex.IsLetter(p.at(1)) {
			return p.operatorFirst()
		}
		p.skip(1)
		p.space(false)
		v = p.primary()
		if c == '-' && v.kind == numberValue {
			v.n = -v.n
		}
		return v
	default:
		return p.word()
	}
	return p.postfix(v)
}

// hereString reads a text of several lines.
func (p *psReader) hereString() value {
	quote := p.at(1)
	p.skip(2)
	end := strings.Index(p.src[p.i:], "\n"+string(quote)+"@")
	if end < 0 {
		end = len(p.src) - p.i
	}
	v := text(strings.TrimLeft(p.src[p.i:p.i+end], "\r\n"), 0)
	if quote == '"' && strings.Contains(v.s, "$") {
		v = unknown(0)
	}
	p.i = min(len(p.src), p.i+end+3)
	return v
}

// number reads a number, or a range of them.
func (p *psReader) number() (v value, ranged bool) {
	v = number(p.while(func(c byte) bool { return lex.IsWord(c) || c == '.' && lex.IsDigit(p.at(1)) }))
	if p.at(0) != '.' || p.at(1) != '.' {
		return v, false
	}
	p.skip(2)
	if to := p.primary(); v.kind == numberValue && to.kind == numberValue {
		return psRange(v.n, to.n), true
	}
	return unknown(0), true
}

// table evaluates @{ a = 1; 'b' = 2 }.
func (p *psReader) table() value {
	v := value{kind: listValue, keys: []string{}}
	for p.space(true); p.i < len(p.src) && p.at(0) != '}' && p.budget.step(); p.space(true) {
		before := p.i
		key := p.word()
		p.space(true)
		if p.at(0) == '=' {
			p.skip(1)
			p.space(true)
			e := p.pipeline()
			v.keys, v.list = append(v.keys, strings.ToLower(key.str())), append(v.list, e)
			v.taint |= e.taint
		}
		p.space(true)
		if p.at(0) == ';' || p.i == before {
			p.skip(1)
		}
	}
	p.skip(1)
	return v
}

// operatorFirst evaluates prefix operators: -join (…) and -not $x.
func (p *psReader) operatorFirst() value {
	op := p.operatorName()
	p.space(false)
	v := p.listOf(p.primary)
	if op == "join" && v.kind == listValue {
		return text(concat(v.list, ""), v.taint)
	}
	return unknown(v.taint)
}

// operatorName reads the name of an operator, without its dash and in lower case.
func (p *psReader) operatorName() string {
	p.skip(1)
	return p.name()
}

// name reads a name in lower case.
func (p *psReader) name() string { return strings.ToLower(p.while(lex.IsWord)) }

func psRange(from, to int64) value {
	var out []value
	step := int64(1)
	if to < from {
		step = -1
	}
	for i := from; len(out) < maxList; i += step {
		out = append(out, value{kind: numberValue, n: i})
		if i == to {
			return list(out, 0)
		}
	}
	return unknown(0)
}

// typed evaluates [type]::member(…) and [type]value.
func (p *psReader) typed() value {
	end := strings.IndexByte(p.src[p.i:], ']')
	if end < 0 {
		p.i = len(p.src)
		return unknown(0)
	}
	name := strings.ToLower(strings.TrimSpace(p.src[p.i+1 : p.i+end]))
	p.skip(end + 1)
	for p.at(0) == ']' {
		p.skip(1)
	}
	name = strings.TrimPrefix(name, "system.")
	if p.at(0) == ':' && p.at(1) == ':' {
		return p.postfix(value{kind: nameValue, s: name})
	}
	p.space(false)
	if p.i >= len(p.src) || strings.IndexByte(";|)},\n=", p.src[p.i]) >= 0 {
		return value{kind: nameValue, s: name}
	}
	v := p.primary()
	switch name {
	case "char":
		return charsOf([]value{v}, v.taint)
	case "char[", "string", "byte[", "char[]", "byte[]":
		if v.kind == listValue {
			return list(mapAll(v.list, func(e value) value { return charsOf([]value{e}, e.taint) }), v.taint)
		}
		if items, ok := v.items(); ok && strings.HasPrefix(name, "char[") {
			return list(items, v.taint)
		}
		return v
	case "int", "int32", "long":
		if v.kind == textValue && v.known() && len(v.s) == 1 {
			return value{kind: numberValue, n: int64(v.s[0])}
		}
		return parseNumber(v, unknown(0), v.taint)
	case "scriptblock":
		return v
	}
	return v
}

// postfix evaluates .member, ::member, [index] and calls.
func (p *psReader) postfix(v value) value {
	for p.budget.step() {
		switch {
		case p.at(0) == '.' && (lex.IsLetter(p.at(1)) || p.at(1) == '"' || p.at(1) == '\'' || p.at(1) == '$' ||
			p.at(1) == '('):
			p.skip(1)
			v = p.member(v)
		case p.at(0) == ':' && p.at(1) == ':':
			p.skip(2)
			v = p.member(v)
		case p.at(0) == '[':
			p.skip(1)
			v = psElement(v, p.block(']'))
		default:
			return v
		}
	}
	return v
}

func psElement(v, key value) value {
	switch {
	case key.kind == numberValue:
		return at(v, key.n)
	case key.kind == listValue && key.keys == nil:
		out := make([]value, 0, len(key.list))
		for _, k := range key.list {
			if k.kind != numberValue {
				return unknown(v.taint)
			}
			out = append(out, at(v, k.n))
		}
		return list(out, v.taint)
	}
	return unknown(v.taint)
}

func (p *psReader) member(v value) value {
	var name value
	switch c := p.at(0); c {
	case '"', '\'':
		name = p.quoted()
	case '$':
		name = p.variable()
	case '(':
		p.skip(1)
		name = p.block(')')
	default:
		name = text(p.name(), 0)
	}
	if name.kind == textValue {
		name.s = strings.ToLower(name.s)
	}
	method := p.memberOf(v, name.str())
	if p.at(0) != '(' {
		if v.kind == unknownValue || v.kind == objectValue || v.kind == textValue || v.kind == listValue {
			return unknown(v.taint)
		}
		return method
	}
	p.skip(1)
	var args []arg
	for p.space(true); p.i < len(p.src) && p.at(0) != ')' && p.budget.step(); p.space(true) {
		before := p.i
		e := p.argument()
		if e.kind == listValue && e.keys == nil {
			args = append(args, asArgs(e.list)...)
		} else {
			args = append(args, arg{value: e})
		}
		p.space(true)
		if p.at(0) == ',' || p.i == before {
			p.skip(1)
		}
	}
	p.skip(1)
	if v.kind == nameValue && v.of == nil && name.str() == "new" {
		all := append([]arg{{value: text(v.s, 0)}}, args...)
		return p.resources.newObject(row{}, all, argTaint(args), v.s)
	}
	return p.call(method, args)
}

func (p *psReader) argument() value {
	if p.startsExpression() || p.at(0) == '{' {
		return p.expression()
	}
	return p.pipeline()
}

// assignment evaluates $x = …, if it is next.
func (p *psReader) assignment() (value, bool) {
	if p.at(0) != '$' || p.at(1) == '(' {
		return value{}, false
	}
	start := p.i
	name := strings.ToLower(p.variableName())
	p.space(false)
	op := ""
	switch {
	case p.at(0) == '=' && p.at(1) != '=':
		op = "="
	case (p.at(0) == '+' || p.at(0) == '-') && p.at(1) == '=':
		op = p.src[p.i : p.i+2]
	}
	if op == "" {
		p.i = start
		return value{}, false
	}
	p.skip(len(op))
	p.space(true)
	v := p.pipeline()
	old, _ := p.scope.get(name)
	switch op {
	case "+=":
		v = add(old, v, false)
	case "-=":
		v = unknown(v.taint)
	}
	if _, set := p.scope.get(name); set && p.budget.depth > 2 && op == "=" {
		v = join(old, v) // changed in a branch
	}
	p.scope.bind(name, v)
	return v, true
}

// expression evaluates an expression, and an assignment that may follow.
func (p *psReader) expression() value {
	if !p.budget.deeper() {
		p.i = len(p.src)
		return unknown(0)
	}
	defer func() { p.budget.depth-- }()
	if v, ok := p.assignment(); ok {
		return v
	}
	left := p.listOf(p.primary)
	for p.budget.step() {
		p.space(false)
		switch c := p.at(0); {
		case c == '+' && p.at(1) != '+':
			p.skip(1)
			left = add(left, p.operand(), false)
		case c == '*' || c == '/' || c == '%':
			p.skip(1)
			left = repeat(left, p.operand())
		case c == '-' && lex.IsLetter(p.at(1)):
			left = p.operator(left)
		case c == '-' && p.at(1) != '-':
			p.skip(1)
			right := p.operand()
			if left.kind == numberValue && right.kind == numberValue {
				left.n -= right.n
			} else {
				left = unknown(left.taint | right.taint)
			}
		case c == '+' || c == '-': // ++ and --
			p.skip(2)
			left = unknown(left.taint)
		case c == '=': // an assignment to a member
			p.skip(1)
			p.space(true)
			left = p.pipeline()
		default:
			return left
		}
	}
	return left
}

func (p *psReader) operand() value {
	p.space(true)
	return p.listOf(p.primary)
}

// listOf evaluates a, b, c; element reads one of them.
func (p *psReader) listOf(element func() value) value {
	v := element()
	p.space(false)
	if p.at(0) != ',' {
		return v
	}
	out := []value{v}
	for p.at(0) == ',' && p.budget.step() {
		p.skip(1)
		p.space(true)
		out = append(out, element())
		p.space(false)
	}
	return list(out, 0)
}

// operator evaluates -join, -f, -replace, -split and similar operators.
func (p *psReader) operator(left value) value {
	op := strings.TrimPrefix(p.operatorName(), "c")
	p.space(true)
	right := p.listOf(p.primary)
	t := left.taint | right.taint
	switch op {
	case "join":
		if left.kind == listValue {
			return text(concat(left.list, right.str()), t)
		}
		return left
	case "f":
		args := []arg{{value: right}}
		if right.kind == listValue {
			args = asArgs(right.list)
		}
		return formatBraces(left, args)
	case "replace", "ireplace":
		from, to := right, text("", 0)
		if right.kind == listValue && len(right.list) == 2 {
			from, to = right.list[0], right.list[1]
		}
		if left.known() && from.known() && to.known() && !strings.ContainsAny(from.str(), `\.[]()*+?^$|{}`) &&
			from.str() != "" && len(left.str())*max(1, len(to.str())) <= maxText {
			return text(strings.ReplaceAll(left.str(), from.str(), to.str()), t)
		}
	case "split", "isplit":
		if left.known() && right.known() && len(right.str()) == 1 &&
			!strings.ContainsAny(right.str(), `\.[]()*+?^$|{}`) {
			return split(left, right, t)
		}
	case "xor", "bxor":
		if left.kind == numberValue && right.kind == numberValue {
			return value{kind: numberValue, n: left.n ^ right.n, taint: t}
		}
	case "as":
		return left
	}
	return unknown(t)
}
