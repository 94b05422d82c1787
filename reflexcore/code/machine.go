package code

// A machine evaluates tokens from left to right and yields what it finds. It
// follows no condition: everything that is written is taken to happen.
type machine struct {
	lang string
	d    *dialect
	api  *table
	lim  Limits

	budget    budget
	in        cursor
	scope     scope
	cwd       workdir
	out       report
	given     given
	programs  programs
	resources resources
	loose     looseness

	funcs  []*function
	passed []value // what is left of the arguments of Perl's function
	within int     // the functions that are being evaluated
	result *value  // what the function that is being evaluated returns

	trailing bool     // the last list ended with a comma
	keys     []string // those of the last list of PHP, if all its elements have one
	last     string   // the name that the last primary was, for an assignment
	base     string   // the name of which the last value is an element or a member
}

// newMachine makes a machine for code in a language that Scan knows.
func newMachine(lang string, lim Limits, yield func(Found) bool) *machine {
	m := &machine{lang: lang, lim: lim}
	if m.d = dialects[lang]; m.d != nil {
		m.api = tableOf(lang)
	}
	m.budget = budget{maxSteps: lim.Steps, maxDepth: lim.Depth}
	m.in = cursor{budget: &m.budget, d: m.d, left: lim.Tokens}
	m.scope = scope{budget: &m.budget}
	m.cwd = workdir{in: &m.in, d: m.d, lim: &m.lim}
	m.out = report{budget: &m.budget, cwd: &m.cwd, yield: yield, insert: lim.Insert}
	m.given = given{lim: &m.lim, in: &m.in, out: &m.out}
	m.programs = programs{lang: lang, d: m.d, out: &m.out}
	m.resources = resources{d: m.d, lim: &m.lim, in: &m.in, cwd: &m.cwd, out: &m.out, given: &m.given, programs: &m.programs}
	m.loose = looseness{d: m.d, api: m.api, in: &m.in, programs: &m.programs}
	return m
}

// script scans a language of the shared machinery.
func (m *machine) script(src string) {
	m.scope.variables(m.lim.Vars)
	if m.d.notebooks {
		m.notebook(src)
	}
	if m.d.angleInput {
		m.opensOperands()
	}
	m.source(src)
	for i := 0; i < len(m.funcs) && m.budget.step(); i++ {
		if f := m.funcs[i]; !f.called {
			m.apply(f, nil)
		}
	}
	m.flushLoose()
	m.programs.flushPipes()
}

// source evaluates a text of code among the variables that there are.
func (m *machine) source(src string) {
	defer m.in.enter(src)()
	if !m.budget.deeper() {
		m.budget.depth--
		return
	}
	m.scope.findJoined(m.in.toks, m.d)
	m.run()
	m.budget.depth--
}

// run evaluates statements to the end of the tokens.
func (m *machine) run() {
	for m.in.i < len(m.in.toks) && m.budget.step() {
		before := m.in.i
		m.statement()
		if m.in.i == before {
			m.in.i++
		}
	}
}

// set gives a variable its value. A value that is not followed through it is lost.
func (m *machine) set(name string, v value) {
	if !m.scope.set(name, v) {
		m.loose.used(v)
		m.loose.usedAt = -1
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// apply evaluates the body of a function with its parameters bound.
func (m *machine) apply(f *function, args []value) value {
	f.called = true
	if f.active || !m.budget.deeper() {
		m.loose.letLoose(args)
		m.budget.depth--
		return unknown(taints(args))
	}
	f.active = true
	src, toks, i, paren, vars, outer := m.in.src, m.in.toks, m.in.i, m.in.paren, len(m.scope.vars), m.result
	funcs := len(m.funcs)
	m.in.src, m.in.toks, m.in.i, m.in.paren = f.src, f.toks, f.start, 0
	m.bindParams(f.params, args)
	if f.names("arguments") || len(args) > len(f.params) && m.d.argumentList == "" && !f.rest() {
		m.loose.letLoose(args)
	}
	if m.d.argumentList != "" {
		m.scope.local(m.d.argumentList, list(args, 0))
	}
	passed := m.passed
	m.passed, m.within = args, m.within+1
	result := unknown(taints(args))
	if f.isExpr {
		m.in.paren = 1
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
	if vars <= len(m.scope.vars) {
		m.scope.vars = m.scope.vars[:vars]
	}
	m.in.src, m.in.toks, m.in.i, m.in.paren = src, toks, i, paren
	f.active = false
	m.budget.depth--
	return result
}
