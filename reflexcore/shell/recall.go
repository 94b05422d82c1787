package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

const (
	recallsLast recalls = 1 << iota // $_
	recallsName                     // FUNCNAME
)

// recalled notes what a text asks for.
func (hs *history) recalled(src string) {
	if hs.recalls&recallsLast == 0 && strings.IndexByte(src, '_') >= 0 && (strings.Contains(src, "$_") || strings.Contains(src, "{_") ||
		strings.Contains(src, "{!_")) {
		hs.recalls |= recallsLast
	}
	if strings.Contains(src, "FUNCNAME") {
		hs.recalls |= recallsName
	}
}

// lastWord adds the last word of a command to those that $_ may be when it has ended.
func (hs *history) lastWord(mark int, lasts []data) []data {
	if hs.recalls&recallsLast == 0 || len(lasts) > 4 {
		return lasts
	}
	d := data{}
	if len(lasts) == 4 {
		d = unknown
	} else if len(hs.in.exp.fields) > mark {
		d = hs.in.exp.fields[len(hs.in.exp.fields)-1].data
	}
	if slices.Contains(lasts, d) {
		return lasts
	}
	return append(lasts, d)
}

// recall makes one of the words $_. What runs in the background changes it for itself
// only.
func (hs *history) recall(words []data, background bool) {
	if hs.recalls&recallsLast == 0 || background || hs.in.rep.stopped() || len(words) == 0 {
		return
	}
	hs.in.assigner.assignAll("_", words)
}

// lastDeclared is the last word of a declaration.
func (hs *history) lastDeclared(c *syntax.DeclClause) data {
	if len(c.Args) == 0 {
		return data{}
	}
	switch a := c.Args[len(c.Args)-1]; {
	case a.Name == nil:
		return hs.in.exp.one(a.Value)
	case a.Naked:
		return data{text: a.Name.Value}
	case a.Array != nil || a.Index != nil:
		return unknown
	default:
		d := hs.in.exp.one(a.Value)
		return data{hs.in.arena.concat(a.Name.Value, "=", d.text), d.taint}
	}
}

// calledAs makes a function's name the first of FUNCNAME until the function ends.
func (hs *history) calledAs(name string) {
	if hs.recalls&recallsName == 0 {
		return
	}
	h := hs.in.vars.hold("FUNCNAME")
	hs.in.vars.locals = append(hs.in.vars.locals, h)
	list := append([]data{{text: name}}, h.list...)
	*hs.in.vars.slot("FUNCNAME") = variable{name: "FUNCNAME", array: true, list: list}
}

// printed is what printenv prints of one variable that the text or the environment sets.
func (a *applied) printed() (data, bool) {
	if len(a.line.argv) != 2 {
		return data{}, false
	}
	in, name := a.in, a.line.argv[1]
	if _, ok := in.ctx.Env[name]; !ok && in.vars.find(name) == nil {
		return data{}, false
	}
	d := in.par.valueOf(name)
	return data{d.text + "\n", d.taint | a.taint}, true
}

// baseOf is what basename prints of words that are known.
func (l *commandLine) baseOf(words []field, taint effect.Taint) (data, bool) {
	args := l.argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		return data{}, false
	}
	if len(args) == 0 || len(args) > 2 || !effect.IsKnown(args[0]) || args[0] == "" {
		return data{}, false
	}
	text := strings.TrimRight(args[0], "/")
	if text = text[strings.LastIndexByte(text, '/')+1:]; text == "" {
		text = "/"
	}
	if len(args) == 2 {
		if !effect.IsKnown(args[1]) {
			return data{}, false
		}
		if text != args[1] {
			text = strings.TrimSuffix(text, args[1])
		}
	}
	for _, f := range words {
		taint |= f.taint
	}
	return data{text + "\n", taint}, true
}
