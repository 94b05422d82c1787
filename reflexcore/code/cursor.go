package code

import (
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/wordset"
)

// A cursor is the current position in the tokens. Its methods need only the tokens.
type cursor struct {
	budget *budget
	d      *dialect
	left   int // the tokens that may still be read
	inspected
	position
}

// inspected is whether a source may read or replace the defaults of parameters.
type inspected struct {
	of  string
	may bool
}

// A position is a token in a source.
type position struct {
	src   string
	toks  []lex.Token
	i     int
	paren int // line ends do not count inside brackets
}

// enter makes the tokens of src current; the returned function goes back.
func (c *cursor) enter(src string) func() {
	before := c.position
	switch {
	case c.d.name == "perl" && (strings.IndexByte(src, '<') >= 0 || strings.Contains(src, "unlink")):
		src = angleGlob().ReplaceAllString(src, `glob("$1")`)
		src = bareUnlink().ReplaceAllString(src, "unlink $$_$1")
	case c.d.name == "ruby" && strings.Contains(src, "Dir["):
		src = dirIndex().ReplaceAllString(src, "Dir.glob($1)")
	}
	toks, ok := lex.Tokens(&c.d.syntax, src, make([]lex.Token, 0, max(0, min(len(src)/2+4, c.left))), c.left)
	c.budget.over = c.budget.over || !ok
	c.left -= len(toks)
	c.position = position{src: src, toks: toks}
	return func() { c.position = before }
}

// eachStatement calls a function that reads a statement, up to the end of the tokens. It skips a token
// that begins none.
func (c *cursor) eachStatement(statement func()) {
	for c.i < len(c.toks) && c.budget.step() {
		before := c.i
		statement()
		if c.i == before {
			c.i++
		}
	}
}

var endToken = lex.Token{Kind: lex.End, NewLine: true}

func (c *cursor) tok() *lex.Token { return c.ahead(0) }

func (c *cursor) ahead(n int) *lex.Token {
	if c.i+n >= 0 && c.i+n < len(c.toks) && !c.budget.over && !c.budget.stopped {
		return &c.toks[c.i+n]
	}
	return &endToken
}

// is reports whether the current token is this operator.
func (c *cursor) is(op string) bool { return c.tok().IsOp(op) }

func (c *cursor) isName(word string) bool { return c.tok().IsName(word) }

func (c *cursor) take(op string) bool {
	if c.is(op) {
		c.i++
		return true
	}
	return false
}

// namesBeforeIn reads the names up to and including the word in, or up to an operator.
func (c *cursor) namesBeforeIn(end string) (names []string) {
	for c.tok().Kind != lex.End && !c.isName("in") && !c.is(end) {
		if c.tok().Kind == lex.Name {
			names = append(names, c.tok().Text)
		}
		c.i++
	}
	c.i++
	return names
}

// ends reports whether the expression ends before the current token because the line ends.
func (c *cursor) ends() bool {
	t := c.tok()
	return t.Kind == lex.End || t.NewLine && c.d.statements.lineEnds && c.paren == 0
}

// match returns the index of the token that closes the bracket at i, or the end.
func (c *cursor) match(i int) int {
	depth := 0
	for ; i < len(c.toks); i++ {
		nesting := c.toks[i].Nesting()
		if depth += nesting; nesting < 0 && depth == 0 {
			return i
		}
	}
	return len(c.toks)
}

// indent returns the column in which the line of the current token begins.
func (c *cursor) indent() int32 {
	for i := min(c.i, len(c.toks)-1); i >= 0; i-- {
		if c.toks[i].NewLine || i == 0 {
			return c.toks[i].Col
		}
	}
	return 0
}

// mayBeSkipped reports whether the current token is in a branch or a loop.
func (c *cursor) mayBeSkipped() bool {
	if c.d.statements.indented && c.indent() > 0 {
		return true
	}
	for j := min(c.i, len(c.toks)) - 1; j >= 0; j-- {
		switch t := &c.toks[j]; {
		case t.Kind == lex.Op && (t.Text == ";" && !c.d.statements.braces || t.Text == "&&" || t.Text == "||" ||
			t.Text == "?"):
			return t.Text != ";"
		case t.Kind == lex.Name && slices.Contains([]string{"if", "for", "while", "else", "elif", "try", "except", "do"},
			t.Text):
			return true
		case t.NewLine && !c.d.statements.braces:
			return false
		}
	}
	return false
}

// hasName reports whether the source has one of some names or words.
func (c *cursor) hasName(words ...string) bool {
	isOne := func(t lex.Token) bool { return t.Kind == lex.Name && slices.Contains(words, t.Text) }
	return slices.ContainsFunc(c.toks, isOne)
}

// filters reports whether an if of the source may let only some files through: it compares with a
// text, a pattern or a number. One that asks whether the code is the program, or whether there is
// something, lets all through.
func (c *cursor) filters() bool {
	for i := range c.toks {
		if !c.toks[i].IsName("if") {
			continue
		}
		for j := i + 1; j < len(c.toks) && !c.toks[j].NewLine && !c.toks[j].IsOp(":") && !c.toks[j].IsName("__name__"); j++ {
			switch c.toks[j].Kind {
			case lex.String, lex.Regex, lex.Number:
				return true
			case lex.Name:
				if wordset.Has("age size mtime st_size st_mtime suffix ext name in match", c.toks[j].Text) {
					return true
				}
			default:
			}
		}
	}
	return false
}

// exprEnd returns the token that ends the expression from here.
func (c *cursor) exprEnd() int {
	depth := 0
	for j := c.i; j < len(c.toks); j++ {
		t := &c.toks[j]
		depth += t.Nesting()
		switch {
		case depth < 0, depth == 0 && (t.IsOp(",") || t.IsOp(";")):
			return j
		case t.Kind != lex.Op && t.NewLine && depth == 0 && c.paren == 0 && j > c.i:
			return j
		}
	}
	return len(c.toks)
}

// suite returns the token that ends the body from here; head is the first token of its statement.
func (c *cursor) suite(head *lex.Token) int {
	if c.i >= len(c.toks) {
		c.i = len(c.toks)
		return c.i
	}
	oneLine, j := !c.toks[c.i].NewLine, c.i
	for ; j < len(c.toks); j++ {
		if t := &c.toks[j]; t.NewLine && (oneLine && j > c.i || !oneLine && t.Col <= head.Col) {
			break
		}
	}
	return j
}

// callsAtOnce reports whether the method that Ruby just looked up is called in the same place.
func (c *cursor) callsAtOnce() bool {
	next := c.ahead(1).Text
	return c.is("[") || c.is(".") && (next == "call" || next == "(")
}

// loops reports whether the source has an endless loop.
func (c *cursor) loops() bool { return c.hasName("while", "until", "loop", "redo") }

func (c *cursor) alias(name string) string {
	if c.isName("as") {
		c.i++
		name = c.tok().Text
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
	for c.tok().Kind == lex.Name && c.tok().Text != "import" {
		c.i++
		if !c.is(".") {
			break
		}
		c.i++
	}
	if c.i == start {
		return ""
	}
	return c.src[c.toks[start].Pos:c.toks[c.i-1].End]
}

// typeEnd returns the last token of the type from token j.
func (c *cursor) typeEnd(j, to int) int {
	for ; j+1 < to && j+1 < len(c.toks); j++ {
		if t := &c.toks[j+1]; t.Kind == lex.Op {
			switch t.Text {
			case ",", "=":
				return j
			case "(", "[", "{":
				j = min(c.match(j+1), to) - 1
			}
		}
	}
	return j
}

// hasCollector reports whether a parameter takes several arguments, or the code reads or replaces
// defaults. Then it is not followed which argument a parameter gets.
func (c *cursor) hasCollector(from, to int) bool {
	for j := from; j < to && j < len(c.toks); j++ {
		if t := &c.toks[j]; t.Kind == lex.Op && (t.Text == "*" || t.Text == "**" || t.Text == "...") {
			return true
		}
	}
	if c.of != c.src {
		c.inspected = inspected{c.src, strings.Contains(c.src, "defaults__") || strings.Contains(c.src, "signature")}
	}
	return c.may
}

// endsAtLine reports whether the end of the line ends the value. In some languages a member may
// follow on the next line.
func (c *cursor) endsAtLine() bool {
	t := c.tok()
	if t.Kind == lex.End {
		return true
	}
	if !t.NewLine || c.paren > 0 {
		return false
	}
	if t.Kind == lex.Op && c.isMember(t.Text) {
		return c.d.statements.indented
	}
	return c.d.statements.lineEnds || t.Kind != lex.Op || t.Text == "[" || t.Text == "(" || t.Text == "++" ||
		t.Text == "--"
}

func (c *cursor) isMember(op string) bool {
	return slices.Contains(c.d.members.operators, op)
}

// callable reports whether a bracket after a value is a call.
func (c *cursor) callable(t *lex.Token) bool {
	return !c.d.calls.blocks || !t.Spaced || c.ahead(1).Kind != lex.End
}

// isComprehension reports whether a for follows the first expression in the brackets that were just
// opened.
func (c *cursor) isComprehension() bool {
	depth := 0
	for i := c.i; i < len(c.toks); i++ {
		t := &c.toks[i]
		c.budget.steps--
		depth += t.Nesting()
		switch {
		case depth == 0 && t.IsName("for"):
			return true
		case depth < 0, depth == 0 && t.IsOp(","):
			return false
		}
	}
	return false
}

// perlName returns a name with the sigil of its variable: $a[0] is an element of @a, and $h{x} of
// %h. File::Path is written with a dot as in other languages.
func (c *cursor) perlName(t *lex.Token) string {
	s := t.Text
	if next := c.tok(); s[0] == '$' && next.Kind == lex.Op && !next.Spaced && len(s) > 1 {
		switch next.Text {
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

// isContinued reports whether the next tokens continue what comes before: an element of a tuple, or
// a value of an object that was read as a block.
func (c *cursor) isContinued() bool {
	t := c.ahead(-1)
	return t.Kind == lex.Op && (t.Text == "," || t.Text == "=" || t.Text == ":" || t.Text == "=>" || t.Text == "?")
}

// openBlock enters a block of Ruby and skips its parameters.
func (c *cursor) openBlock() {
	c.i++
	if c.is("|") {
		for c.i++; c.tok().Kind != lex.End && !c.is("|"); c.i++ {
		}
		c.i++
	}
}

// beginsValue are keywords before a value.
var beginsValue = wordset.Of("not await new typeof void delete lambda async yield")

// bareUnlink matches Perl's unlink without a name, which deletes $_. dirIndex matches Ruby's other way
// to write Dir.glob.
var (
	bareUnlink = lazyregexp.New(`\bunlink(\s*(?:[;}]|$|(?:while|for|foreach|if)\b))`)
	dirIndex   = lazyregexp.New(`\bDir\[\s*("[^"\]]*"|'[^'\]]*')\s*\]`)
)

// angleGlob matches a pattern of file names between angle brackets, which is Perl's other way to write
// glob: unlink <*.o>.
var angleGlob = lazyregexp.New(`<([\w~/.-]*[*?~][\w~/.*?-]*)>`)
