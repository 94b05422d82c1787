package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// evaluate returns the value of an expression, or an unknown number.
func (ar *arithmetic) evaluate(x syntax.ArithmExpr) data {
	n, ok := ar.number(x)
	if !ok {
		return data{text: "1" + effect.Unknown} // unknown, but a number
	}
	return data{text: strconv.FormatInt(n, 10)}
}

func (ar *arithmetic) number(x syntax.ArithmExpr) (int64, bool) {
	if x == nil || !ar.in.rep.spend() {
		return 0, x == nil
	}
	switch x := x.(type) {
	case *syntax.Word:
		return ar.operand(x)
	case *syntax.ParenArithm:
		return ar.number(x.X)
	case *syntax.UnaryArithm:
		return ar.unary(x)
	case *syntax.BinaryArithm:
		return ar.binary(x)
	}
	return 0, false
}

// operand evaluates a number, a name or an expansion.
func (ar *arithmetic) operand(w *syntax.Word) (int64, bool) {
	text := w.Lit()
	if text == "" {
		d := ar.oneOf(w, func(d data) { ar.toInteger(strings.TrimSpace(d.text), 0) })
		if !d.known() {
			return 0, false
		}
		text = d.text
	}
	return ar.toInteger(strings.TrimSpace(text), 0)
}

// oneOf returns the first value that a word may have. The others, from branches, are evaluated
// only for what they run.
func (ar *arithmetic) oneOf(w *syntax.Word, evaluate func(data)) data {
	values := ar.in.readings.values(func() data { return ar.in.exp.oneWord(w) })
	for _, d := range values[1:] {
		if ar.injected(d); d.known() && ar.in.rep.spend() {
			evaluate(d)
		}
	}
	return values[0]
}

// toInteger reads a number, or resolves a name to one. It is false if the number is not known.
func (ar *arithmetic) toInteger(text string, depth int) (int64, bool) {
	if text == "" {
		return 0, true
	}
	if base, digits, ok := strings.Cut(text, "#"); ok {
		b, err := strconv.Atoi(base)
		if err != nil || b < 2 || b > 36 {
			return 0, false
		}
		n, err := strconv.ParseInt(digits, b, 64)
		return n, err == nil
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '-' {
		n, err := strconv.ParseInt(text, 0, 64)
		return n, err == nil
	}
	ar.injected(data{text: text})
	if depth > 8 {
		return 0, false
	}
	if strings.ContainsAny(text, " +-*/$()[]") { // an expression: the values of its names may run something
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" +-*/$()[]", r) }) {
			if ar.in.rep.spend() && ar.in.par.lookup(name) != nil {
				ar.toInteger(name, depth+1)
			}
		}
		return 0, false
	}
	if v := ar.in.par.lookup(text); v == nil {
		if _, ok := ar.in.ctx.Env[text]; !ok {
			return 0, false
		}
	} else if !ar.in.alt.choose { // values from branches are evaluated for what they run
		for _, d := range v.alts {
			if ar.in.rep.spend() && d.known() {
				ar.toInteger(strings.TrimSpace(d.text), depth+1)
			}
		}
	}
	d := ar.in.par.valueOf(text)
	if !d.known() {
		return 0, false
	}
	return ar.toInteger(strings.TrimSpace(d.text), depth+1)
}

func (ar *arithmetic) unary(x *syntax.UnaryArithm) (int64, bool) {
	n, ok := ar.number(x.X)
	switch x.Op {
	case syntax.Minus:
		return -n, ok
	case syntax.Plus:
		return n, ok
	case syntax.Not:
		if n == 0 {
			return 1, ok
		}
		return 0, ok
	case syntax.BitNegation:
		return ^n, ok
	case syntax.Inc, syntax.Dec:
		to := n + 1
		if x.Op == syntax.Dec {
			to = n - 1
		}
		ar.assignNumber(x.X, to, ok)
		if x.Post {
			return n, ok
		}
		return to, ok
	}
	return 0, false
}

func (ar *arithmetic) assignNumber(x syntax.ArithmExpr, n int64, ok bool) {
	w, isWord := x.(*syntax.Word)
	if !isWord || w.Lit() == "" {
		return
	}
	d := data{text: strconv.FormatInt(n, 10)}
	if !ok || ar.vague {
		d = data{text: "1" + effect.Unknown}
	}
	ar.in.assigner.setVariable(w.Lit(), d)
}

func (ar *arithmetic) binary(x *syntax.BinaryArithm) (int64, bool) {
	if x.Op == syntax.TernQuest {
		return ar.ternary(x)
	}
	if x.Op == syntax.Assgn {
		n, ok := ar.number(x.Y)
		ar.assignNumber(x.X, n, ok)
		return n, ok
	}
	a, okA := ar.number(x.X)
	b, okB := ar.number(x.Y)
	op, assigns := assigning[x.Op]
	if !assigns {
		op = x.Op
	}
	n, fits := calculate(op, a, b)
	ok := okA && okB && fits
	if assigns {
		ar.assignNumber(x.X, n, ok)
	}
	return n, ok
}

// ternary is CONDITION ? A : B.
func (ar *arithmetic) ternary(x *syntax.BinaryArithm) (int64, bool) {
	c, ok := ar.number(x.X)
	alt, isAlt := x.Y.(*syntax.BinaryArithm)
	switch {
	case !isAlt:
		return 0, false
	case !ok:
		ar.number(alt.X)
		ar.number(alt.Y)
		return 0, false
	case c != 0:
		return ar.number(alt.X)
	}
	return ar.number(alt.Y)
}

// assigning maps each operator such as += to the one that calculates its value.
var assigning = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo,
	syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor,
	syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

// numbers are the operators whose result is a number, whatever the operands are.
var numbers = map[syntax.BinAritOperator]func(a, b int64) int64{
	syntax.Add:   func(a, b int64) int64 { return a + b },
	syntax.Sub:   func(a, b int64) int64 { return a - b },
	syntax.Mul:   func(a, b int64) int64 { return a * b },
	syntax.And:   func(a, b int64) int64 { return a & b },
	syntax.Or:    func(a, b int64) int64 { return a | b },
	syntax.Xor:   func(a, b int64) int64 { return a ^ b },
	syntax.Shl:   func(a, b int64) int64 { return a << (uint64(b) & 63) },
	syntax.Shr:   func(a, b int64) int64 { return a >> (uint64(b) & 63) },
	syntax.Comma: func(_, b int64) int64 { return b },
}

// truths are the operators whose result is 1 or 0.
var truths = map[syntax.BinAritOperator]func(a, b int64) bool{
	syntax.Eql:     func(a, b int64) bool { return a == b },
	syntax.Neq:     func(a, b int64) bool { return a != b },
	syntax.Lss:     func(a, b int64) bool { return a < b },
	syntax.Gtr:     func(a, b int64) bool { return a > b },
	syntax.Leq:     func(a, b int64) bool { return a <= b },
	syntax.Geq:     func(a, b int64) bool { return a >= b },
	syntax.AndArit: func(a, b int64) bool { return a != 0 && b != 0 },
	syntax.OrArit:  func(a, b int64) bool { return a != 0 || b != 0 },
}

// calculate is the result of an operator, if it has one.
func calculate(op syntax.BinAritOperator, a, b int64) (n int64, ok bool) {
	if f := numbers[op]; f != nil {
		return f(a, b), true
	}
	if f := truths[op]; f != nil {
		if f(a, b) {
			n = 1
		}
		return n, true
	}
	switch {
	case op == syntax.Quo && b != 0:
		return a / b, true
	case op == syntax.Rem && b != 0:
		return a % b, true
	case op == syntax.Pow && b >= 0 && b <= 64:
		n = 1
		for range b {
			n *= a
		}
		return n, true
	}
	return 0, false
}

// injected walks the substitutions in a text that a shell expands a second time: an index in
// arithmetic or in a name, or a prompt.
func (ar *arithmetic) injected(d data) {
	if !strings.Contains(d.text, "$(") && strings.IndexByte(d.text, '`') < 0 {
		return
	}
	d.text = `: "` + strings.ReplaceAll(d.text, `"`, `\"`) + `"`
	ar.in.payloads.sub(d, "index", &input{}, nil)
}

// sum is the result of += on an integer variable.
func (ar *arithmetic) sum(a, b data) data {
	x, ok := ar.toInteger(strings.TrimSpace(a.text), 0)
	y, sure := ar.toInteger(strings.TrimSpace(b.text), 0)
	if !ok || !sure {
		return data{"1" + effect.Unknown, a.taint | b.taint}
	}
	return data{strconv.FormatInt(x+y, 10), a.taint | b.taint}
}

// evaluateNames is for builtins that take names or numbers: each may have an index.
func (bc builtinCall) evaluateNames() {
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		bc.in.math.injected(f.data)
		if base, index, ok := cutIndex(f.text); ok {
			bc.in.par.indexText(base, index)
		}
	}
}

// countElement is the value that an element gets when d is assigned to it: in an integer array,
// the number that d evaluates to.
func (ar *arithmetic) countElement(v *variable, d data) data {
	if v == nil || !v.integer {
		return d
	}
	return ar.reckoned(d)
}

// testNumber walks what an index in a number or a name inside [[ ]] runs.
func (ar *arithmetic) testNumber(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		d := ar.oneOf(w, func(d data) { ar.toInteger(strings.TrimSpace(d.text), 0) })
		if ar.injected(d); d.known() {
			ar.toInteger(strings.TrimSpace(d.text), 0) // a name is evaluated
		}
	}
}

// reckoned is the value of an integer variable to which d is assigned.
func (ar *arithmetic) reckoned(d data) data {
	if n, ok := ar.toInteger(strings.TrimSpace(d.text), 0); ok && d.known() {
		return data{strconv.FormatInt(n, 10), d.taint}
	}
	return data{"1" + effect.Unknown, d.taint}
}
