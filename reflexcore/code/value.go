package code

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

type valueKind uint8

const (
	unknownValue valueKind = iota
	textValue              // s
	numberValue            // n
	listValue              // list; with keys it is a map
	nameValue              // s is a path of names, such as os.system; of is what it is a method of
	objectValue            // s is the path of its type, from the text that it was made from
)

// A value is what is known about the result of an expression.
type value struct {
	kind  valueKind
	s     string
	from  string
	n     int64
	list  []value
	keys  []string
	of    *value
	fn    *function
	taint effect.Taint
}

// A function is a body of code that is evaluated at each call.
type function struct {
	params []param
	src    string
	toks   []lex.Token // up to the end of the body
	start  int         // the body's first token
	isExpr bool        // the body is one expression
	active bool        // it is being evaluated: a recursion is not followed
	called bool
}

const maxText = 64 << 10 // bytes of a folded text; a longer one is unknown

func text(s string, t effect.Taint) value {
	if len(s) > maxText {
		s = effect.Unknown
	}
	return value{kind: textValue, s: s, taint: t}
}

func unknown(t effect.Taint) value { return value{taint: t} }

func list(v []value, t effect.Taint) value {
	if len(v) > maxList {
		return unknown(t | taints(v))
	}
	return value{kind: listValue, list: v, taint: t | taints(v)}
}

const maxList = 4096

func taints(vs []value) (t effect.Taint) {
	for i := range vs {
		t |= vs[i].taint
	}
	return t
}

// mapAll returns the results of f for each element of a list.
func mapAll[A, B any](in []A, f func(A) B) []B {
	out := make([]B, 0, len(in))
	for _, a := range in {
		out = append(out, f(a))
	}
	return out
}

// textValues returns values for texts.
func textValues(words []string, taint effect.Taint) []value {
	return mapAll(words, func(w string) value { return text(w, taint) })
}

// str returns the value as a text, with effect.Unknown for each unknown part.
func (v value) str() string {
	switch v.kind {
	case textValue:
		return v.s
	case numberValue:
		return strconv.FormatInt(v.n, 10)
	case objectValue:
		if v.from != "" {
			return v.from
		}
	default:
	}
	return effect.Unknown
}

// known reports whether a value is a fully known text or number.
func (v value) known() bool {
	return v.kind == numberValue || v.kind == textValue && effect.IsKnown(v.s)
}

// words returns the texts of a list, or the one text.
func (v value) words() []string {
	if v.kind != listValue {
		return []string{v.str()}
	}
	return mapAll(v.list, value.str)
}

// key returns an element of a map.
func (v value) key(names ...string) (value, bool) {
	for i, k := range v.keys {
		if slices.Contains(names, k) {
			return v.list[i], true
		}
	}
	return value{}, false
}

// truthy reports whether a value is known to be true.
func (v value) truthy() bool {
	switch v.kind {
	case textValue:
		return v.s != "" && v.s != "0"
	case numberValue:
		return v.n != 0
	case nameValue:
		return v.s == "True" || v.s == "true" || v.s == "TRUE"
	case listValue:
		return len(v.list) > 0
	default:
		return false
	}
}

// join returns a value that may be either of two.
func join(a, b value) value {
	t := a.taint | b.taint
	if a.kind == b.kind && a.s == b.s && a.n == b.n && a.of == nil && b.of == nil && a.kind != listValue &&
		a.fn == b.fn {
		a.taint = t
		return a
	}
	return unknown(t)
}

// add evaluates + on texts, numbers and lists, and the concatenation operators.
func add(a, b value, concat bool) value {
	t := a.taint | b.taint
	switch {
	case a.kind == listValue && b.kind == listValue && !concat:
		return list(append(slices.Clip(a.list), b.list...), t)
	case a.kind == numberValue && b.kind == numberValue && !concat:
		return value{kind: numberValue, n: a.n + b.n, taint: t}
	case (a.kind == unknownValue || a.kind == objectValue && a.from == "") && b.kind == unknownValue:
		return unknown(t)
	}
	return text(glue(a.str(), b.str()), t)
}

// glue joins two texts. Two adjacent unknown parts become one.
func glue(a, b string) string {
	if strings.HasSuffix(a, effect.Unknown) && strings.HasPrefix(b, effect.Unknown) {
		b = b[1:]
	}
	return a + b
}

// at returns an element of a list or a character of a text.
func at(v value, i int64) value {
	size := int64(len(v.list))
	if v.kind == textValue {
		if !v.known() {
			return unknown(v.taint)
		}
		size = int64(len(v.s))
	}
	if i < 0 {
		i += size
	}
	if i < 0 || i >= size {
		return unknown(v.taint)
	}
	if v.kind == textValue {
		return text(v.s[i:i+1], v.taint)
	}
	return v.list[i]
}

// slice evaluates v[from:to:step]; missing bounds are nil.
func slice(v value, from, to *int64, step int64) value {
	var chars []value
	switch {
	case v.kind == listValue && v.keys == nil:
		chars = v.list
	case v.kind == textValue && v.known():
		chars = characters(v.s, 0)
	default:
		return unknown(v.taint)
	}
	n := int64(len(chars))
	clamp := func(p *int64, absent, low, high int64) int64 {
		if p == nil {
			return absent
		}
		i := *p
		if i < 0 {
			i += n
		}
		return max(low, min(i, high))
	}
	var out []value
	switch {
	case step > 0:
		for i, end := clamp(from, 0, 0, n), clamp(to, n, 0, n); i < end; i += min(step, n) {
			out = append(out, chars[i])
		}
	case step < 0:
		for i, end := clamp(from, n-1, -1, n-1), clamp(to, -1, -1, n-1); i > end; i += max(step, -n-1) {
			out = append(out, chars[i])
		}
	default:
		return unknown(v.taint)
	}
	if v.kind == listValue {
		return list(out, v.taint)
	}
	return text(concat(out, ""), v.taint)
}

// characters returns each byte of a text as a value.
func characters(s string, taint effect.Taint) []value {
	return mapAll([]byte(s), func(c byte) value { return text(string([]byte{c}), taint) })
}

// concat joins the texts of values.
func concat(vs []value, sep string) string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString(sep)
		}
		if b.Len() > maxText {
			return effect.Unknown
		}
		b.WriteString(v.str())
	}
	return b.String()
}

// items returns the elements of a list or the characters of a known text.
func (v value) items() ([]value, bool) {
	switch {
	case v.kind == listValue:
		return v.list, true
	case v.kind == textValue && v.known() && len(v.s) <= maxList:
		return characters(v.s, v.taint), true
	}
	return nil, false
}

// number reads an integer literal of any language.
func number(s string) value {
	s = strings.TrimRight(strings.ReplaceAll(s, "_", ""), "nLlj")
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		if n, err = strconv.ParseInt(s, 10, 64); err != nil {
			return unknown(0)
		}
	}
	return value{kind: numberValue, n: n}
}

// A param is a parameter of a function: a name, or a pattern that takes the argument apart.
type param struct {
	rest  bool // it gets all remaining arguments
	name  string
	parts []patternPart
	other *value // its default, if that runs something
}

// A patternPart is a name in a pattern, and the part of the argument that it is bound to: a member,
// or the element at an index. Without either it may be any part.
type patternPart struct {
	name, member string
	index        int
}

const anyPart = -1

// isNothing reports whether a value is null, None and the like.
func isNothing(v value) bool { return v.kind == nameValue && nothing[v.s] }

var nothing = wordset.Of("None nil null NULL undefined")

// mentions reports whether a name occurs in the body of a function.
func (f *function) mentions(name string) bool {
	for j := f.start; j < len(f.toks); j++ {
		if t := &f.toks[j]; t.IsName(name) {
			return true
		}
	}
	return false
}

// takesRest reports whether a parameter takes all arguments from its position on.
func (f *function) takesRest() bool {
	return slices.ContainsFunc(f.params, func(p param) bool { return p.rest })
}

// declares reports whether a function declares a variable of its own with the name.
func (f *function) declares(d *dialect, name string) bool {
	if slices.ContainsFunc(f.params, func(p param) bool {
		return p.name == name || slices.ContainsFunc(p.parts, func(q patternPart) bool { return q.name == name })
	}) {
		return true
	}
	if !d.statements.letDeclares {
		return !slices.ContainsFunc(d.statements.outerWords, f.mentions)
	}
	declared := false
	for j := f.start; j < len(f.toks); j++ {
		switch t := &f.toks[j]; {
		case t.IsOp(";"):
			declared = false
		case t.Kind != lex.Name:
		case t.Text == "const" || t.Text == "let" || t.Text == "var":
			declared = true
		case t.Text == name && declared:
			return true
		}
	}
	return false
}

// processName returns the command of the process that an object represents.
func processName(v value) string {
	if v.kind == listValue && v.keys == nil {
		return strings.Join(v.words(), " ")
	}
	return v.str()
}

// maxUnroll limits the elements for which a loop over a known list is evaluated.
const maxUnroll = 32
