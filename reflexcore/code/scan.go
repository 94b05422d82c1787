package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// Scan says what src, code in lang, would do: one Found after the other, in no
// promised order, until yield returns false. A language that it does not know, and
// a source over the limits, are one Found that is opaque.
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
	m := newMachine(name, lim, yield)
	switch name {
	case "sed":
		newSed(m).run(src)
	case "awk":
		newAwk(m).run(src)
	case "powershell":
		p := psReader{m: m, src: src}
		p.block(0)
	case "cmd":
		newBatch(m).run(src)
	default:
		m.script(src)
	}
	m.programs.flushBare()
	if m.budget.over && !m.budget.stopped {
		yield(Found{Text: name + " code over the limits"})
	}
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
	if m.d.notebooks && strings.ContainsAny(src, "!%") {
		c := cells{out: &m.out, programs: &m.programs}
		if python := c.python(src); len(python) != len(src) {
			m.source(python) // besides the scan of all of it: a text of several lines may have such lines as well
			m.scope.vars = nil
			m.scope.variables(m.lim.Vars)
		}
	}
	if m.d.angleInput { // <> runs an operand that begins or ends with a bar
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
	m.flushLoose()
	m.programs.flushPipes()
}

// flushLoose judges the calls that are not resolved as calls of what is loose.
func (m *machine) flushLoose() {
	if len(m.loose.loose) == 0 {
		return
	}
	m.loose.judging = true
	for _, f := range m.loose.loose {
		for _, u := range m.loose.unresolved {
			if !m.budget.step() {
				return
			}
			m.call(value{kind: nameValue, s: f.path}, u.args)
		}
		if !f.whole && m.api.runs(f.path) || len(m.loose.unresolved) > maxUnresolved {
			m.out.found(Found{Op: Shell, Text: effect.Unknown, By: f.path})
		}
	}
	m.loose.judging = false
}
