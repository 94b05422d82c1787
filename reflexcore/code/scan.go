package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// Scan yields what src, code in lang, would do, one Found at a time in no particular order, until
// yield returns false. An unknown language, or a source over the limits, yields one opaque Found.
func Scan(lang, src string, lim Limits, yield func(Found) bool) {
	lim.defaults()
	name := Language(lang)
	switch {
	case name == "":
		yield(Found{Text: "code in " + lang})
		return
	case len(src) > lim.Bytes:
		yield(Found{Text: name + " code over the limits"})
		return
	}
	m := newMachine(name, &lim, yield)
	m.version2 = strings.HasPrefix(lang, "python2")
	switch name {
	case "sed":
		(&sedScript{machine: m}).run(src)
	case "awk":
		(&awkScript{machine: m}).run(src)
	case "powershell":
		(&psReader{machine: m, src: src}).block(0)
	case "cmd":
		(&batch{m}).run(src)
	default:
		m.script(src)
	}
	m.programs.judgeBare()
	if m.budget.over && !m.budget.stopped {
		yield(Found{Text: name + " code over the limits"})
	}
}

// newMachine makes a machine for code in a language that Scan knows.
func newMachine(lang string, lim *Limits, yield func(Found) bool) *machine {
	m := &machine{lim: *lim}
	if d, ok := dialects[lang]; ok {
		m.d, m.api, m.begin = d, tableOf(lang), keywordStatements[lang]
		m.in.d, m.cwd.d, m.programs.d, m.resources.d, m.escapes.d, m.escapes.api = d, d, d, d, d, m.api
	}
	m.budget.steps, m.budget.maxDepth = lim.Steps, lim.Depth
	m.in.budget, m.in.left = &m.budget, lim.Tokens
	m.scope.budget = &m.budget
	m.cwd.in, m.cwd.lim = &m.in, &m.lim
	m.out.budget, m.out.cwd, m.out.yield, m.out.insert = &m.budget, &m.cwd, yield, lim.Insert
	m.inputs.lim, m.inputs.in, m.inputs.out = &m.lim, &m.in, &m.out
	m.programs.out = &m.out
	m.resources.out, m.resources.inputs, m.resources.programs = &m.out, &m.inputs, &m.programs
	m.escapes.in, m.escapes.programs = &m.in, &m.programs
	return m
}

// script evaluates a language of the machine.
func (m *machine) script(src string) {
	m.scope.preset(m.lim.Vars)
	if m.d.library.notebooks && strings.ContainsAny(src, "!%") {
		c := cells{m}
		if python := c.python(src); len(python) != len(src) {
			m.source(python) // all of it is scanned, too, because a multi-line text may have such lines
			m.scope.vars = nil
			m.scope.preset(m.lim.Vars)
		}
	}
	if m.d.expressions.angleInput { // <> runs an operand that begins or ends with a bar
		for _, a := range m.lim.Args {
			m.programs.opensOperand(text(a, 0))
		}
	}
	m.source(src)
	for i := 0; i < len(m.funcs) && m.budget.step(); i++ {
		if f := m.funcs[i]; !f.called {
			m.apply(f, nil)
		}
	}
	m.judgeEscaped()
	m.programs.flushPipes()
}

// judgeEscaped judges unresolved calls as calls of the escaped functions.
func (m *machine) judgeEscaped() {
	if len(m.escapes.functions) == 0 {
		return
	}
	m.escapes.judging = true
	for _, f := range m.escapes.functions {
		for _, u := range m.escapes.unresolved {
			if !m.budget.step() {
				return
			}
			m.call(value{kind: nameValue, s: f.path}, u.args)
		}
		if !f.whole && m.api.runs(f.path) || len(m.escapes.unresolved) > maxUnresolved {
			m.out.found(Found{Op: Shell, Text: effect.Unknown, By: f.path})
		}
	}
	m.escapes.judging = false
}
