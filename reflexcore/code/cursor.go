package code

import (
	"slices"
	"strings"
)

// A cursor is the place in the tokens that are being evaluated, with the questions that
// the tokens alone can answer.
type cursor struct {
	budget *budget
	d      *dialect
	src    string
	toks   []token
	i      int
	paren  int // inside brackets line ends do not count
	left   int // the tokens that may still be read
}

// enter makes the tokens of src current; its result goes back.
func (c *cursor) enter(src string) func() {
	oldSrc, oldToks, oldI, oldParen := c.src, c.toks, c.i, c.paren
	toks, ok := lex(c.d, src, make([]token, 0, max(0, min(len(src)/2+4, c.left))), c.left)
	c.budget.over = c.budget.over || !ok
	c.left -= len(toks)
	c.src, c.toks, c.i, c.paren = src, toks, 0, 0
	return func() { c.src, c.toks, c.i, c.paren = oldSrc, oldToks, oldI, oldParen }
}

var endToken = token{kind: tkEnd, nl: true}

func (c *cursor) tok() *token { return c.ahead(0) }

func (c *cursor) ahead(n int) *token {
	if c.i+n >= 0 && c.i+n < len(c.toks) && !c.budget.over && !c.budget.stopped {
		return &c.toks[c.i+n]
	}
	return &endToken
}

// is reports whether the current token is this operator.
func (c *cursor) is(op string) bool {
	t := c.tok()
	return t.isOp(op)
}

func (c *cursor) isName(word string) bool {
	t := c.tok()
	return t.isName(word)
}

func (c *cursor) take(op string) bool {
	if c.is(op) {
		c.i++
		return true
	}
	return false
}

// ends reports whether the expression ends before the current token because its
// line has ended.
func (c *cursor) ends() bool {
	t := c.tok()
	return t.kind == tkEnd || t.nl && c.d.lineEnds && c.paren == 0
}

// match returns the index of the token that closes the bracket at i, or the end.
func (c *cursor) match(i int) int {
	depth := 0
	for ; i < len(c.toks); i++ {
		if c.toks[i].kind != tkOp {
			continue
		}
		switch c.toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(c.toks)
}

// indent is where the line of the current token begins.
func (c *cursor) indent() int32 {
	for i := min(c.i, len(c.toks)-1); i >= 0; i-- {
		if c.toks[i].nl || i == 0 {
			return c.toks[i].col
		}
	}
	return 0
}

// mayBeSkipped reports whether the current token stands in a branch or a loop.
func (c *cursor) mayBeSkipped() bool {
	if c.d.indented && c.indent() > 0 {
		return true
	}
	for j := min(c.i, len(c.toks)) - 1; j >= 0; j-- {
		switch t := &c.toks[j]; {
		case t.kind == tkOp && (t.text == ";" && !c.d.braces || t.text == "&&" || t.text == "||" || t.text == "?"):
			return t.text != ";"
		case t.kind == tkName && slices.Contains([]string{"if", "for", "while", "else", "elif", "try", "except", "do"},
			t.text):
			return true
		case t.nl && !c.d.braces:
			return false
		}
	}
	return false
}

// chooses reports whether there is a condition in the source.
func (c *cursor) chooses() bool {
	for i := range c.toks {
		if t := &c.toks[i]; t.isName("if") {
			return true
		}
	}
	return false
}

// exprEnd returns the token at which the expression that begins here ends.
func (c *cursor) exprEnd() int {
	depth := 0
	for j := c.i; j < len(c.toks); j++ {
		t := &c.toks[j]
		if t.kind != tkOp {
			if t.nl && depth == 0 && c.paren == 0 && j > c.i {
				return j
			}
			continue
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				return j
			}
		case ",", ";":
			if depth == 0 {
				return j
			}
		}
	}
	return len(c.toks)
}

// suite returns the token at which the body that begins here ends; head is the
// first token of its statement.
func (c *cursor) suite(head *token) int {
	if c.i >= len(c.toks) {
		c.i = len(c.toks)
		return c.i
	}
	oneLine, j := !c.toks[c.i].nl, c.i
	for ; j < len(c.toks); j++ {
		if t := &c.toks[j]; t.nl && (oneLine && j > c.i || !oneLine && t.col <= head.col) {
			break
		}
	}
	return j
}

// callsAtOnce reports whether the method that Ruby just looked up is called where it stands.
func (c *cursor) callsAtOnce() bool {
	next := c.ahead(1).text
	return c.is("[") || c.is(".") && (next == "call" || next == "(")
}

// loops reports whether there is a loop without an end of its own in the source.
func (c *cursor) loops() bool {
	for i := range c.toks {
		if t := &c.toks[i]; t.kind == tkName && (t.text == "while" || t.text == "until" || t.text == "loop" ||
			t.text == "redo") {
			return true
		}
	}
	return false
}

func (c *cursor) alias(name string) string {
	if c.isName("as") {
		c.i++
		name = c.tok().text
		c.i++
	}
	return name
}

// dotted reads a module's name, such as os.path or .sibling.
func (c *cursor) dotted() string {
	start := c.i
	for c.is(".") || c.is("...") {
		c.i++
	}
	for c.tok().kind == tkName && c.tok().text != "import" {
		c.i++
		if !c.is(".") {
			break
		}
		c.i++
	}
	if c.i == start {
		return ""
	}
	return c.src[c.toks[start].pos:c.toks[c.i-1].end]
}

// typeEnd returns the last token of the type that the token at j begins.
func (c *cursor) typeEnd(j, to int) int {
	for ; j+1 < to && j+1 < len(c.toks); j++ {
		if t := &c.toks[j+1]; t.kind == tkOp {
			switch t.text {
			case ",", "=":
				return j
			case "(", "[", "{":
				j = min(c.match(j+1), to) - 1
			}
		}
	}
	return j
}

// collects reports whether one parameter takes several arguments: which of them another
// parameter gets is not followed then. Nor is a default that the code reads or replaces.
func (c *cursor) collects(from, to int) bool {
	for j := from; j < to && j < len(c.toks); j++ {
		if t := &c.toks[j]; t.kind == tkOp && (t.text == "*" || t.text == "**" || t.text == "...") {
			return true
		}
	}
	return strings.Contains(c.src, "defaults__") || strings.Contains(c.src, "signature")
}

// stops reports whether the line's end ends the value: a member may follow on the
// next line in some languages.
func (c *cursor) stops() bool {
	t := c.tok()
	if t.kind == tkEnd {
		return true
	}
	if !t.nl || c.paren > 0 {
		return false
	}
	if t.kind == tkOp && c.isMember(t.text) {
		return c.d.indented
	}
	return c.d.lineEnds || t.kind != tkOp || t.text == "[" || t.text == "(" || t.text == "++" || t.text == "--"
}

func (c *cursor) isMember(op string) bool {
	for _, d := range c.d.member {
		if d == op {
			return true
		}
	}
	return false
}

// callable reports whether a bracket after a value is a call.
func (c *cursor) callable(t *token) bool {
	return !c.d.blocks || !t.sp || c.ahead(1).kind != tkEnd
}

// isComprehension reports whether a for follows the first expression between the
// brackets that were just opened.
func (c *cursor) isComprehension() bool {
	depth := 0
	for i := c.i; i < len(c.toks); i++ {
		t := &c.toks[i]
		c.budget.steps--
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

// perlName is a name with the sigil of what it holds: $a[0] is an element of @a,
// $h{x} of %h; File::Path is written with a dot as everywhere else.
func (c *cursor) perlName(t *token) string {
	s := t.text
	if next := c.tok(); s[0] == '$' && next.kind == tkOp && !next.sp && len(s) > 1 {
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

func (c *cursor) beginsValue(word string) bool {
	switch word {
	case "not", "await", "new", "typeof", "void", "delete", "lambda", "async", "yield":
		return true
	}
	return false
}

// goesOn reports whether what begins here is a part of what stands before it: an element
// of a tuple, a value of an object that was taken for a block.
func (c *cursor) goesOn() bool {
	t := c.ahead(-1)
	return t.kind == tkOp && (t.text == "," || t.text == "=" || t.text == ":" || t.text == "=>" || t.text == "?")
}

// openBlock goes into a block of Ruby, behind its parameters.
func (c *cursor) openBlock() {
	c.i++
	if c.is("|") {
		for c.i++; c.tok().kind != tkEnd && !c.is("|"); c.i++ {
		}
		c.i++
	}
}
