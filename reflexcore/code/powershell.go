package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// A psReader reads PowerShell. A statement is a pipeline of commands, whose words need no quotes, or
// an expression, which begins with a quote, a variable, a bracket or a number. Names are
// case-insensitive.
type psReader struct {
	*machine
	src string
	i   int
}

func (p *psReader) at(n int) byte { return lex.ByteAt(p.src, p.i+n) }

// skip advances by n bytes, at most to the end.
func (p *psReader) skip(n int) { p.i = min(p.i+n, len(p.src)) }

// space skips blanks and comments, and with lines also line ends.
func (p *psReader) space(lines bool) {
	for p.i < len(p.src) {
		switch c := p.src[p.i]; {
		case c == ' ' || c == '\t' || c == '\r' || lines && c == '\n':
			p.skip(1)
		case c == '`' && (p.at(1) == '\n' || p.at(1) == '\r'):
			p.skip(2)
		case c == '<' && p.at(1) == '#':
			_, after, _ := strings.Cut(p.src[p.i:], "#>")
			p.i = len(p.src) - len(after)
		case c == '#':
			p.while(func(c byte) bool { return c != '\n' })
		default:
			return
		}
	}
}

// while reads bytes as long as a condition holds for them.
func (p *psReader) while(holds func(c byte) bool) string {
	start := p.i
	for p.i < len(p.src) && holds(p.src[p.i]) {
		p.i++
	}
	return p.src[start:p.i]
}

// block evaluates statements up to and including a closing bracket, or to the end.
func (p *psReader) block(end byte) (last value) {
	if !p.budget.deeper() {
		p.i = len(p.src)
		return unknown(0)
	}
	for p.space(true); p.i < len(p.src) && p.budget.step(); p.space(true) {
		before := p.i
		switch c := p.src[p.i]; {
		case c == end && end != 0:
			p.skip(1)
			p.budget.depth--
			return last
		case c == ';' || c == '}' || c == ')' || c == ']' || c == ',' || c == '|' || c == '&' && p.at(1) == '&' ||
			c == '=':
			p.skip(1)
		case c == '{':
			p.skip(1)
			last = p.block('}')
		default:
			last = p.pipeline()
		}
		if p.i == before {
			p.skip(1)
		}
	}
	if p.i < len(p.src) { // out of steps
		p.i = len(p.src)
	}
	p.budget.depth--
	return last
}

// pipeline evaluates a | b | c. Each command gets the result of the one before.
func (p *psReader) pipeline() value {
	in, piped := unknown(0), false
	for p.budget.step() {
		p.space(piped)
		out := p.element(in, piped)
		p.space(false)
		in, piped = out, true
		for p.at(0) == '2' && p.at(1) == '>' || p.at(0) == '>' { // redirections
			p.redirection(in)
			p.space(false)
		}
		if p.at(0) != '|' || p.at(1) == '|' {
			return in
		}
		p.skip(1)
	}
	return in
}

func (p *psReader) redirection(content value) {
	bits := effect.Bits(0)
	for p.at(0) == '2' || p.at(0) == '>' {
		if p.at(0) == '>' && p.at(1) == '>' {
			bits = effect.Append
		}
		p.skip(1)
	}
	if p.at(0) == '&' {
		p.skip(2)
		return
	}
	p.space(false)
	path := p.word()
	if s := path.str(); s != "$null" && s != "" && s != "NUL" {
		p.out.found(writeOf(s, content, bits, ">"))
	}
}

// element evaluates one element of a pipeline: an expression or a command.
func (p *psReader) element(in value, piped bool) value {
	switch c := p.at(0); {
	case c == '&' || c == '.' && (p.at(1) == ' ' || p.at(1) == '(' || p.at(1) == '$' || p.at(1) == '"' ||
		p.at(1) == '\''):
		p.skip(1)
		p.space(false)
		var name value
		if p.at(0) == '{' {
			p.skip(1)
			return p.block('}')
		}
		if p.startsExpression() {
			name = p.primary()
		} else {
			name = p.word()
		}
		return p.command(name, in, piped)
	case p.startsExpression():
		return p.expression()
	}
	start := p.i
	name := p.word()
	if p.i == start {
		p.skip(1)
		return unknown(0)
	}
	switch strings.ToLower(name.str()) {
	case "if", "while", "foreach", "for", "switch", "elseif", "catch", "until", "param":
		p.space(true)
		if p.at(0) == '(' {
			p.skip(1)
			p.loopHead()
		}
		return unknown(0)
	case "else", "try", "finally", "do", "begin", "process", "end", "return", "throw", "in":
		p.space(false)
		if p.i < len(p.src) && strings.IndexByte("{};\n|)", p.src[p.i]) < 0 {
			return p.pipeline()
		}
		return unknown(0)
	case "function", "filter", "workflow", "class":
		p.space(false)
		p.scope.bind("function:"+strings.ToLower(p.word().str()), unknown(0))
		p.space(true)
		if p.at(0) == '(' {
			p.skip(1)
			p.block(')')
		}
		return unknown(0)
	}
	return p.command(name, in, piped)
}

// loopHead evaluates the head of foreach ($x in …) and similar loops.
func (p *psReader) loopHead() {
	p.space(true)
	start := p.i
	if p.at(0) == '$' {
		name := p.variableName()
		p.space(true)
		if len(p.src)-p.i > 3 && strings.EqualFold(p.src[p.i:p.i+2], "in") && p.src[p.i+2] <= ' ' {
			p.skip(2)
			v := p.block(')')
			p.scope.bind(strings.ToLower(name), unknown(v.taint))
			return
		}
		p.i = start
	}
	p.block(')')
}

func (p *psReader) startsExpression() bool {
	switch c := p.at(0); {
	case c == '"' || c == '\'' || c == '(' || c == '$' || c == '@' || lex.IsDigit(c):
		return true
	case c == '[':
		return lex.IsLetter(p.at(1))
	case c == '-':
		return strings.HasPrefix(strings.ToLower(p.src[p.i:]), "-join") || p.at(1) == '(' || lex.IsDigit(p.at(1))
	}
	return p.at(0) == '!' || p.at(0) == '+'
}

// word reads one word of a command: quoted, a variable, in brackets, bare text, or a mixture.
func (p *psReader) word() value {
	out, any := text("", 0), false
	for p.i < len(p.src) && p.budget.step() {
		c := p.src[p.i]
		switch {
		case c <= ' ' || strings.IndexByte(";|{},", c) >= 0 || c == ')' || c == '&' && p.at(1) == '&',
			(c == '>' || c == '(') && any:
			return out
		case c == '"' || c == '\'':
			out = add(out, p.quoted(), true)
		case c == '$' || c == '(' || c == '@' && (p.at(1) == '(' || p.at(1) == '{' || p.at(1) == '"' ||
			p.at(1) == '\''):
			v := p.primary()
			if !any {
				out = v
				if v.kind != textValue {
					any = true
					continue
				}
			} else {
				out = add(out, v, true)
			}
		case c == '`' && p.i+1 < len(p.src):
			out = add(out, text(p.src[p.i+1:p.i+2], 0), true)
			p.skip(2)
		default:
			start := p.i
			for p.i++; p.i < len(p.src) && strings.IndexByte("\"'$(){};|,`>&", p.src[p.i]) < 0 &&
				p.src[p.i] > ' '; p.i++ {
			}
			out = add(out, text(p.src[start:p.i], 0), true)
		}
		any = true
	}
	return out
}

// quoted reads the string at the current quote.
func (p *psReader) quoted() value {
	quote := p.src[p.i]
	p.skip(1)
	if quote == '\'' {
		var b strings.Builder
		for p.i < len(p.src) {
			if p.src[p.i] == '\'' {
				if p.at(1) != '\'' {
					break
				}
				p.skip(1)
			}
			b.WriteByte(p.src[p.i])
			p.skip(1)
		}
		p.skip(1)
		return text(b.String(), 0)
	}
	out, start := text("", 0), p.i
	flush := func() {
		out = add(out, text(p.src[start:min(p.i, len(p.src))], 0), true)
	}
	for p.i < len(p.src) && p.budget.step() {
		switch c := p.src[p.i]; {
		case c == '"' && p.at(1) != '"':
			flush()
			p.skip(1)
			return out
		case c == '"':
			p.skip(1)
			flush()
			p.skip(1)
			start = p.i
		case c == '`' && p.i+1 < len(p.src):
			flush()
			r := p.src[p.i+1 : p.i+2]
			if at := strings.Index("n\nt\tr\r", r); at >= 0 && at%2 == 0 {
				r = "n\nt\tr\r"[at+1 : at+2]
			}
			out = add(out, text(r, 0), true)
			p.skip(2)
			start = p.i
		case c == '$' && (p.at(1) == '(' || p.at(1) == '{' || lex.IsWord(p.at(1))):
			flush()
			out = add(out, p.variable(), true)
			start = p.i
		default:
			p.skip(1)
		}
	}
	flush()
	return out
}

func (p *psReader) variableName() string {
	p.skip(1)
	if p.at(0) == '{' {
		p.skip(1)
		name := p.while(func(c byte) bool { return c != '}' })
		p.skip(1)
		return name
	}
	start := p.i
	p.while(func(c byte) bool { return lex.IsWord(c) || c == ':' && lex.IsLetter(p.at(1)) })
	if start == p.i && p.i < len(p.src) && strings.IndexByte("?$^", p.src[p.i]) >= 0 {
		p.skip(1)
	}
	return p.src[start:p.i]
}

// variable evaluates $x, ${x}, $env:X and $(…).
func (p *psReader) variable() value {
	if p.at(1) == '(' {
		p.skip(2)
		return p.block(')')
	}
	name := strings.ToLower(p.variableName())
	switch {
	case strings.HasPrefix(name, "env:"):
		return p.inputs.env(strings.ToUpper(name[4:]), "$env")
	case name == "home":
		return text(p.lim.Home, 0)
	case name == "true":
		return value{kind: nameValue, s: "true"}
	case name == "args":
		return p.inputs.operands(0)
	case name == "pshome":
		return text(`C:\Windows\System32\WindowsPowerShell\v1.0`, 0)
	}
	if v, ok := p.scope.get(name); ok {
		return v
	}
	return unknown(0)
}
