package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"

	"mvdan.cc/sh/v3/syntax"
)

// A declaration is what the words of export, declare, local, readonly and typeset say about the
// names that follow.
type declaration struct {
	variant                                                      string // the command
	exporting                                                    string // the command, or export after +x
	exports, fixed, ref, global, function, integer, array, assoc bool
	letters                                                      byte // the case of assigned values: l, u or 0
}

// declarationBy is the declaration that the name of the command makes by itself.
func declarationBy(variant string) declaration {
	return declaration{variant: variant, exporting: variant, exports: variant == "export", fixed: variant == "readonly"}
}

// takeFlag applies a word of flags, and reports whether it is one.
func (d *declaration) takeFlag(flag string) bool {
	switch {
	case flag == "":
		return false
	case flag[0] == '+' && strings.Contains(flag, "x"):
		d.exports, d.exporting = false, "export"
		return true
	case flag[0] != '-':
		return false
	}
	has := func(letter string) bool { return strings.Contains(flag, letter) }
	d.ref = d.ref || has("n") && d.variant != "export"
	d.letters = max(d.letters, lettersOf(flag))
	d.exports = d.exports && !has("n") || has("x")
	d.fixed = d.fixed || has("r")
	d.global = d.global || has("g")
	d.integer = d.integer || has("i")
	d.assoc = d.assoc || has("A")
	d.array = d.array || d.assoc || has("a")
	d.function = d.function || has("f") && (d.variant == "export" || has("x"))
	return true
}

// declClause walks export, declare, local, readonly and typeset.
func (as *assigner) declClause(c *syntax.DeclClause, sink *data) {
	if as.declarationFails(c) {
		defer as.in.join(as.in.enterBranch())
	}
	as.declarationPrints(c, sink)
	as.in.traps.beforeChange()
	outer := as.early
	as.early = as.expandedFirst(c.Args)
	defer func() { as.early = outer }()
	d := declarationBy(variantOf(c))
	for _, a := range c.Args {
		switch {
		case a.Name != nil:
			as.declareName(a, &d)
			if d.fixed {
				defer as.in.vars.fix(a.Name.Value)
			}
		case a.Value != nil && !d.takeFlag(a.Value.Lit()):
			as.in.readings.combinations(func() { as.declareWord(a.Value, &d) })
		}
	}
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked && !d.ref {
			as.in.env.affects(a.Name.Value, as.in.par.valueOf(a.Name.Value))
		}
		if a.Name != nil && d.exports {
			as.in.env.handsOver(a.Name.Value)
		}
	}
}

// expandedFirst returns what the words of a declaration are before it assigns anything: shells
// expand all of them first, so that the b of "declare a=1 b=$a" is the old a. bash expands braces
// in them too, to one assignment for each word.
func (as *assigner) expandedFirst(args []*syntax.Assign) map[*syntax.Word][]data {
	var out map[*syntax.Word][]data
	var names []string
	for _, a := range args {
		if a.Name == nil {
			continue
		}
		if a.Value != nil {
			var values []data
			if usesAny(a.Value, names) {
				values = as.in.readings.values(func() data { return as.wordOrLess(a.Value) })
			}
			if hasBrace(a.Value) {
				for _, w := range as.in.exp.braces(a.Value) {
					values = append(values, as.in.exp.oneWord(w))
				}
			}
			if values != nil && out == nil {
				out = map[*syntax.Word][]data{}
			}
			if values != nil {
				out[a.Value] = values
			}
		}
		names = append(names, a.Name.Value)
	}
	return out
}

// usesAny reports whether a word has the value of one of the variables.
func usesAny(w *syntax.Word, names []string) bool {
	found := false
	if len(names) > 0 {
		syntax.Walk(w, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			found = found || ok && p.Param != nil && slices.Contains(names, p.Param.Value)
			return !found
		})
	}
	return found
}

// variantOf is the command of a declaration.
func variantOf(c *syntax.DeclClause) string {
	if c.Variant == nil {
		return ""
	}
	return c.Variant.Value
}

// declarationPrints adds what a declaration without names prints.
func (as *assigner) declarationPrints(c *syntax.DeclClause, sink *data) {
	if len(c.Args) == 0 ||
		len(c.Args) == 1 && c.Args[0].Value != nil && (c.Args[0].Value.Lit() == "-p" || c.Args[0].Value.Lit() == "-x") {
		builtinCall{as.in, 0, nil, sink}.environs()
	}
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			if flags := a.Value.Lit(); strings.HasPrefix(flags, "-") && strings.ContainsAny(flags, "pfF") {
				sink.add(unknown) // it prints values, or functions
			}
		}
	}
}

// declareName declares a name that is written literally.
func (as *assigner) declareName(a *syntax.Assign, d *declaration) {
	name := a.Name.Value
	if len(as.in.def.active) > 0 && !d.global &&
		(d.variant == "local" || d.variant == "declare" || d.variant == "typeset") {
		as.in.vars.locals = append(as.in.vars.locals, as.in.vars.hold(name))
	}
	if d.assoc {
		as.in.vars.associative(name)
	}
	if d.letters != 0 && !d.ref {
		as.in.vars.slot(name).letters = d.letters
	}
	if d.ref && a.Naked {
		as.in.vars.refer(name)
	}
	if d.integer {
		as.in.vars.slot(name).integer = true
	}
	if as.listed(a, d) {
		return
	}
	if !a.Naked {
		as.assignment(a)
	} else if d.function {
		as.in.def.walkExported(name)
	}
	if d.integer && !a.Naked && a.Array == nil {
		as.setVariable(name, as.in.par.valueOf(name))
	}
	as.exportsWord(name, d.exporting, d.exports)
	if d.ref && a.Value != nil {
		as.in.math.injected(as.in.par.valueOf(name))
		v := as.in.vars.slot(name)
		*v = standsFor(name, append([]data{v.data}, v.alts...))
	}
}

// listed assigns an array that a declaration gives as one text: a list in parentheses, which
// shells expand even though it was quoted. It is false for any other value.
func (as *assigner) listed(a *syntax.Assign, d *declaration) bool {
	name := a.Name.Value
	if a.Naked && d.array && len(as.lists) < as.in.rep.lim.Alternatives {
		as.lists = append(as.lists, name)
	}
	if a.Naked || a.Array != nil || a.Value == nil || d.ref ||
		!d.array && !as.in.vars.isArray(name) && !slices.Contains(as.lists, name) {
		return false
	}
	values := slices.DeleteFunc(slices.Clone(as.in.readings.values(func() data { return as.in.exp.oneWord(a.Value) })),
		func(v data) bool {
			return !strings.HasPrefix(v.text, "(") || !strings.HasSuffix(v.text, ")")
		})
	if len(values) == 0 {
		return false
	}
	sign := "="
	if a.Append {
		sign = "+="
	}
	assign := func(v data) {
		as.in.payloads.payload(data{as.in.arena.concat(name, sign, v.text), v.taint}, "declare", &input{}, nil)
	}
	assign(values[0])
	for _, v := range values[1:] {
		as.in.inBranch(func() { assign(v) })
	}
	as.exportsWord(name, d.exporting, d.exports)
	return true
}

// declareWord declares what a word expands to, which may itself be an assignment.
func (as *assigner) declareWord(w *syntax.Word, d *declaration) {
	mark := len(as.in.exp.fields)
	as.in.exp.expandWord(w)
	for _, f := range as.in.exp.fields[mark:] {
		as.declareField(f.data, d)
	}
	as.in.exp.fields = as.in.exp.fields[:mark]
}

// declareField declares a word after expansion.
func (as *assigner) declareField(word data, d *declaration) {
	as.in.vars.setLetterCase(word.text, d.letters)
	as.declared(word, d.array, d.assoc)
	as.exportsWord(word.text, d.exporting, d.exports)
	if d.fixed {
		as.in.vars.fix(word.text)
	}
}

// assignment makes an assignment.
func (as *assigner) assignment(a *syntax.Assign) {
	name := a.Name.Value
	if a.Array != nil || a.Index != nil {
		as.defined(a)
	}
	switch {
	case a.Array != nil:
		as.assignEither(a, func() { as.assignArray(a) })
	case a.Index != nil:
		as.assignEither(a, func() { as.assignIndex(name, a) })
	case a.Append:
		if v := as.in.vars.find(as.in.vars.referred(name)); v != nil && v.array {
			more := as.in.exp.oneWord(a.Value)
			as.in.vars.slot(name).each(func(v *variable) { v.appendAt("0", more) })
			return
		}
		if as.hasOptions(name) {
			as.in.vars.slot(name).data = data{} // what is in force already
		}
		as.assignAll(name, as.in.readings.values(func() data {
			old, more := as.in.par.valueOf(name), as.wordOrLess(a.Value)
			if v := as.in.par.lookup(name); v != nil && v.integer {
				return as.in.math.sum(old, more)
			}
			as.in.rep.made(len(old.text) + len(more.text))
			return data{old.text + more.text, old.taint | more.taint}
		}))
	case as.in.vars.isArray(name):
		more := as.in.exp.oneWord(a.Value)
		as.in.vars.slot(name).each(func(v *variable) { v.putText("0", more) })
	default:
		if as.extends(name, a.Value) {
			as.in.vars.slot(name).data = data{} // what is in force already
		}
		as.assignAll(name, as.valuesOf(a.Value))
		if s := substitutionIn(a.Value); s != nil { // the value is only a substitution
			if as.in.def.asksPlace(s.Stmts) {
				as.in.vars.slot(name).place = true
			}
			if as.in.def.asksBranch(s.Stmts) {
				as.in.vars.slot(name).branch = true
			}
			if as.in.def.makesBox(s.Stmts) {
				as.in.vars.slot(name).box = true
			}
		}
	}
}

// extends reports whether a word extends the options that a program has from the environment, as
// NODE_OPTIONS="$NODE_OPTIONS --max-old-space-size=4096" does. Only what it adds is new.
func (as *assigner) extends(name string, w *syntax.Word) bool {
	if w == nil || !as.hasOptions(name) {
		return false
	}
	own := false
	for _, part := range w.Parts {
		parts := []syntax.WordPart{part}
		if q, ok := part.(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
		for _, p := range parts {
			switch x := p.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
			case *syntax.ParamExp:
				if x.Param == nil || x.Param.Value != name || !isPlainExpansion(x) {
					return false
				}
				own = true
			default:
				return false
			}
		}
	}
	return own
}

// hasOptions reports whether a variable has options that the environment gives to a program.
func (as *assigner) hasOptions(name string) bool {
	return !as.in.vars.clobbered && !as.in.vars.isGiven(name) && as.in.Table.Variable(name) &&
		(strings.HasSuffix(name, "OPTIONS") || strings.HasSuffix(name, "OPTS") || strings.HasSuffix(name, "OPT") ||
			strings.HasSuffix(name, "FLAGS"))
}

// isPlainExpansion reports whether an expansion is the value itself: $x, ${x}, ${x-}, ${x:-} or
// ${x:+$x }.
func isPlainExpansion(x *syntax.ParamExp) bool {
	if x.Exp != nil && (x.Exp.Op == syntax.AlternateUnset || x.Exp.Op == syntax.AlternateUnsetOrNull) {
		return x.Exp.Word != nil && !slices.ContainsFunc(x.Exp.Word.Parts, func(part syntax.WordPart) bool {
			if lit, ok := part.(*syntax.Lit); ok {
				return strings.TrimSpace(lit.Value) != ""
			}
			own, ok := part.(*syntax.ParamExp)
			return !ok || own.Param == nil || own.Param.Value != x.Param.Value || own.Exp != nil || !isPlainExpansion(own)
		})
	}
	if x.Exp != nil {
		return (x.Exp.Op == syntax.DefaultUnset || x.Exp.Op == syntax.DefaultUnsetOrNull) &&
			(x.Exp.Word == nil || len(x.Exp.Word.Parts) == 0)
	}
	return !x.Length && !x.Width && !x.Excl && x.Slice == nil && x.Repl == nil && x.Index == nil && x.Names == 0
}

// valuesOf returns all values that an assigned word may have.
func (as *assigner) valuesOf(w *syntax.Word) []data {
	values := as.in.readings.values(func() data { return as.wordOrLess(w) })
	for _, d := range as.early[w] {
		if !slices.Contains(values, d) {
			values = append(values, d)
		}
	}
	return values
}

// assignEither assigns to the elements of an array each value that they may have.
func (as *assigner) assignEither(a *syntax.Assign, assign func()) {
	if a.Append { // either would append twice
		as.in.readings.combinations(assign)
		return
	}
	as.in.readings.either(assign)
}

// declarationFails reports whether a declaration changes nothing in some shell: local outside a
// function, or flags that only print or do not exist.
func (as *assigner) declarationFails(c *syntax.DeclClause) bool {
	if variantOf(c) == "local" && len(as.in.def.active) <= as.in.def.apart.active {
		return true
	}
	return slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool {
		if a.Name != nil || a.Value == nil {
			return false
		}
		flag := a.Value.Lit()
		return len(flag) > 1 && flag[0] == '-' && flag != "--" && strings.Trim(flag[1:], "aAgilnrtux") != ""
	})
}

// unsetElement walks unset 'name[index]'.
func (as *assigner) unsetElement(base, index string) {
	if index == "@" || index == "*" {
		v := as.in.vars.slot(base)
		*v = variable{name: v.name, array: true, assoc: v.assoc}
		return
	}
	index = as.in.par.indexText(base, index)
	v := as.in.vars.slot(base)
	if !v.array {
		if index != "0" { // an unknown array, or not an element
			v.data = data{effect.Unknown, v.taint}
			return
		}
		*v = variable{name: v.name, unset: true}
		return
	}
	v.each(func(v *variable) { v.drop(index) })
}

// assignAll gives a variable all the values that it may have.
func (as *assigner) assignAll(name string, values []data) {
	if v := as.in.vars.find(name); v != nil && v.refers && len(values) > 1 {
		v = as.in.vars.slot(name)
		*v = standsFor(v.name, values)
		return
	}
	as.setVariable(name, values[0])
	if v := as.in.vars.find(name); v != nil && v.refs != nil || !effect.IsKnown(as.in.vars.referred(name)) {
		for _, d := range values[1:] {
			as.setVariable(name, d)
		}
		return
	}
	if v := as.in.vars.slot(name); len(values) > 1 {
		for _, d := range values[1:] {
			if v.integer {
				as.in.math.countElement(v, d) // which may run something
			}
		}
		v = as.in.vars.slot(name)
		for i := range values {
			values[i].text = cased(v.letters, values[i].text)
		}
		v.alts = values
	}
}

// exportsWord applies export and similar commands to one word, a name with or without a value: the
// variable is exported from now on, or no longer certainly exported.
func (as *assigner) exportsWord(word, command string, exports bool) {
	if !exports && command != "export" {
		return
	}
	name, _, _ := strings.Cut(word, "=")
	if name = as.in.vars.referred(strings.TrimSuffix(name, "+")); as.in.vars.find(name) != nil {
		as.in.vars.slot(name).passed = exports && as.in.branches == 0
	}
}
