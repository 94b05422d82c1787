package code

import "approver.example/reflexcore/effect"

// A machine evaluates tokens from left to right and yields what it finds. It
// follows no condition: everything that is written is taken to happen.
type machine struct {
	lim    *Limits
	insert func(string)
	yield  func(Found) bool
	lang   string
	d      *dialect
	api    *table

	src  string
	toks []token
	i    int

	vars      []binding
	joined    []string // names that are set in a branch or loop besides elsewhere
	joinAll   bool
	funcs     []*function
	connected bool     // a socket to another host was opened
	walked    []string // the folders of which all that is below them is gone through
	lineAt    int      // the lines of the input that were read
	record    *value   // awk's $0, where it is known
	shifted   int      // the operands that were taken from the front
	passed    []value  // what is left of the arguments of Perl's function
	within    int      // the functions that are being evaluated
	dir       string   // the folder that the code went to; empty: it stayed
	visits    []visit  // the folders to go back to, where blocks end
	shellRan  string   // a shell that reads what it is connected to
	pipes     []pipe   // into the programs that were started
	looseness
	bareness
	taint  effect.Taint
	result *value // what the function that is being evaluated returns

	left, steps, depth, maxSteps, maxDepth int
	paren                                  int      // inside brackets line ends do not count
	trailing                               bool     // the last list ended with a comma
	keys                                   []string // those of the last list of PHP, if all its elements have one
	quiet                                  bool     // what is found has been found before
	last                                   string   // the name that the last primary was, for an assignment
	base                                   string   // the name of which the last value is an element or a member
	over, stopped                          bool
}

type binding struct {
	name string
	value
}

// step counts one step of evaluation. It is false when it is time to end.
func (m *machine) step() bool {
	m.steps++
	if m.steps > m.maxSteps {
		m.over = true
	}
	return !m.over && !m.stopped
}

// deeper counts one level of nesting; the caller must call shallower.
func (m *machine) deeper() bool {
	m.depth++
	if m.depth > m.maxDepth {
		m.over = true
	}
	return !m.over && !m.stopped
}

func (m *machine) found(f Found) {
	if m.stopped {
		return
	}
	f.Taint |= m.taint
	if m.dir != "" {
		m.placed(&f)
	}
	m.stopped = !m.yield(f)
}

// script scans a language of the shared machinery.
func (m *machine) script(lang, src string) {
	m.d, m.api = dialects[lang], tableOf(lang)
	m.variables(m.lim.Vars)
	if lang == "python" {
		m.notebook(src)
	}
	if lang == "perl" {
		m.opensOperands()
	}
	m.source(src)
	for i := 0; i < len(m.funcs) && m.step(); i++ {
		if f := m.funcs[i]; !f.called {
			m.apply(f, nil)
		}
	}
	m.flushLoose()
	m.flushPipes()
}

// variables binds those that are set from outside.
func (m *machine) variables(vars map[string]string) {
	for name, s := range vars {
		m.bind(name, text(s, 0))
	}
}

// source evaluates a text of code among the variables that there are.
func (m *machine) source(src string) {
	defer m.enter(src)()
	if !m.deeper() {
		m.depth--
		return
	}
	m.findJoined(m.toks, m.d)
	m.run()
	m.depth--
}

// enter makes the tokens of src current; its result goes back.
func (m *machine) enter(src string) func() {
	oldSrc, oldToks, oldI, oldParen := m.src, m.toks, m.i, m.paren
	toks, ok := lex(m.d, src, make([]token, 0, max(0, min(len(src)/2+4, m.left))), m.left)
	m.over = m.over || !ok
	m.left -= len(toks)
	m.src, m.toks, m.i, m.paren = src, toks, 0, 0
	return func() { m.src, m.toks, m.i, m.paren = oldSrc, oldToks, oldI, oldParen }
}

// run evaluates statements to the end of the tokens.
func (m *machine) run() {
	for m.i < len(m.toks) && m.step() {
		before := m.i
		m.statement()
		if m.i == before {
			m.i++
		}
	}
}

var endToken = token{kind: tkEnd, nl: true}

func (m *machine) tok() *token { return m.ahead(0) }

func (m *machine) ahead(n int) *token {
	if m.i+n >= 0 && m.i+n < len(m.toks) && !m.over && !m.stopped {
		return &m.toks[m.i+n]
	}
	return &endToken
}

// is reports whether the current token is this operator.
func (m *machine) is(op string) bool {
	t := m.tok()
	return t.kind == tkOp && t.text == op
}

func (m *machine) isName(word string) bool {
	t := m.tok()
	return t.kind == tkName && t.text == word
}

func (m *machine) take(op string) bool {
	if m.is(op) {
		m.i++
		return true
	}
	return false
}

// ends reports whether the expression ends before the current token because its
// line has ended.
func (m *machine) ends() bool {
	t := m.tok()
	return t.kind == tkEnd || t.nl && m.d.lineEnds && m.paren == 0
}

// match returns the index of the token that closes the bracket at i, or the end.
func (m *machine) match(i int) int {
	depth := 0
	for ; i < len(m.toks); i++ {
		if m.toks[i].kind != tkOp {
			continue
		}
		switch m.toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(m.toks)
}

// get returns a variable's value, the innermost first.
func (m *machine) get(name string) (value, bool) {
	for i := len(m.vars) - 1; i >= 0; i-- {
		if m.vars[i].name == name {
			return m.vars[i].value, true
		}
	}
	return value{}, false
}

// maxVars bounds the variables, which are searched one after the other.
const maxVars = 256

// set gives a variable its value. One that is set in a branch or loop as well as
// elsewhere has no known value, only where its values came from.
func (m *machine) set(name string, v value) {
	if m.joinAll || contains(m.joined, name) {
		old, _ := m.get(name)
		if v.fn == nil {
			m.used(v)
			m.usedAt = -1
			v = unknown(v.taint | old.taint)
		}
	}
	m.bind(name, v)
}

func (m *machine) bind(name string, v value) {
	for i := len(m.vars) - 1; i >= 0; i-- {
		if m.vars[i].name == name {
			m.vars[i].value = v
			return
		}
	}
	if len(m.vars) >= maxVars {
		m.over = true
		return
	}
	m.vars = append(m.vars, binding{name, v})
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func isAssign(t *token) bool {
	if t.kind != tkOp {
		return false
	}
	switch t.text {
	case "=", "+=", ".=", ":=", "||=", "??=", "//=", "&&=", "-=", "*=", "|=", "%=", "/=":
		return true
	}
	return false
}

// findJoined looks for names that are set more than once, and at least once in a
// branch, a loop or a function.
func (m *machine) findJoined(toks []token, d *dialect) {
	type seen struct {
		name   string
		times  int
		nested bool
	}
	var buf [16]seen
	names, nest, line, last := buf[:0], 0, false, -1
	for i := range toks {
		t := &toks[i]
		if t.nl && !d.braces {
			line = t.col > 0
		}
		switch {
		case t.kind == tkOp && d.braces && t.text == "{":
			nest++
		case t.kind == tkOp && d.braces && t.text == "}":
			nest--
		case t.kind != tkName:
		case t.text == "for", t.text == "while", t.text == "if", t.text == "elif", t.text == "else", t.text == "unless", t.text == "until", t.text == "try", t.text == "each", t.text == "do", t.text == "foreach":
			line = true
			if last >= 0 && !t.nl { // x = 1 if y
				names[last].nested = true
			}
		case i+1 < len(toks) && isAssign(&toks[i+1]):
			at := len(names)
			for j := range names {
				if names[j].name == t.text {
					at = j
				}
			}
			if at == len(names) {
				if at == 64 {
					m.joinAll = true
					return
				}
				names = append(names, seen{name: t.text})
			}
			names[at].times++
			last = at
			names[at].nested = names[at].nested || nest > 0 || line
		}
		if t.kind == tkOp && t.text == ";" {
			line, last = line && !d.braces, -1
		}
	}
	for _, n := range names {
		if n.times > 1 && n.nested {
			m.joined = append(m.joined, n.name)
		}
	}
}

// apply evaluates the body of a function with its parameters bound.
func (m *machine) apply(f *function, args []value) value {
	f.called = true
	if f.active || !m.deeper() {
		m.letLoose(args)
		m.depth--
		return unknown(taints(args))
	}
	f.active = true
	src, toks, i, paren, vars, outer := m.src, m.toks, m.i, m.paren, len(m.vars), m.result
	funcs := len(m.funcs)
	m.src, m.toks, m.i, m.paren = f.src, f.toks, f.start, 0
	m.bindParams(f.params, args)
	if f.names("arguments") || len(args) > len(f.params) && m.d.name != "perl" && !f.rest() {
		m.letLoose(args)
	}
	if m.d.name == "perl" {
		m.local("@_", list(args, 0))
	}
	passed := m.passed
	m.passed, m.within = args, m.within+1
	result := unknown(taints(args))
	if f.isExpr {
		m.paren = 1
		result = m.expr(0)
	} else {
		m.result = nil
		m.run()
		if m.result != nil {
			result = *m.result
		}
	}
	m.escapes(f, vars, funcs)
	m.passed, m.within = passed, m.within-1
	m.result = outer
	if vars <= len(m.vars) {
		m.vars = m.vars[:vars]
	}
	m.src, m.toks, m.i, m.paren = src, toks, i, paren
	f.active = false
	m.depth--
	return result
}
