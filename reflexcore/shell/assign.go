package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// A declaration is what the words of export, declare, local, readonly and typeset say of
// the names behind them.
type declaration struct {
	variant                                                      string // the command
	exporting                                                    string // export if the words say whether it is exported
	exports, fixed, ref, global, function, integer, array, assoc bool
	letters                                                      byte // in which it holds what it is given
}

// flag takes in a word of flags, and reports whether it is one.
func (d *declaration) flag(flag string) bool {
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

// declClause is export, declare, local, readonly and typeset.
func (in *interp) declClause(c *syntax.DeclClause, sink *data) {
	if in.declarationFails(c) {
		scope := in.branch()
		defer in.join(scope)
	}
	in.declarationPrints(c, sink)
	in.settled()
	var d declaration
	if c.Variant != nil {
		d.variant = c.Variant.Value
	}
	d.exporting, d.exports, d.fixed = d.variant, d.variant == "export", d.variant == "readonly"
	for _, a := range c.Args {
		switch {
		case a.Name != nil:
			in.declareName(a, &d)
			if d.fixed {
				defer in.vars.fix(a.Name.Value)
			}
		case a.Value != nil && !d.flag(a.Value.Lit()):
			in.combinations(func() { in.declareWord(a.Value, &d) })
		}
	}
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked && !d.ref {
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
		if a.Name != nil && d.exports {
			in.handsOver(a.Name.Value)
		}
	}
}

// declarationPrints adds what a declaration without names prints.
func (in *interp) declarationPrints(c *syntax.DeclClause, sink *data) {
	if len(c.Args) == 0 || len(c.Args) == 1 && c.Args[0].Value != nil && (c.Args[0].Value.Lit() == "-p" || c.Args[0].Value.Lit() == "-x") {
		in.environs(0, nil, sink)
	}
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			if flags := a.Value.Lit(); strings.HasPrefix(flags, "-") && strings.ContainsAny(flags, "pfF") {
				sink.append(unknown) // it prints values, or functions
			}
		}
	}
}

// declareName declares a name that is written as one.
func (in *interp) declareName(a *syntax.Assign, d *declaration) {
	name := a.Name.Value
	if len(in.active) > 0 && !d.global && (d.variant == "local" || d.variant == "declare" || d.variant == "typeset") {
		in.vars.locals = append(in.vars.locals, in.vars.hold(name))
	}
	if d.assoc {
		in.vars.associative(name)
	}
	if d.letters != 0 && !d.ref {
		in.vars.slot(name).letters = d.letters
	}
	if d.ref && a.Naked {
		in.vars.refer(name)
	}
	if d.integer {
		in.vars.slot(name).integer = true
	}
	if in.listed(a, d) {
		return
	}
	if !a.Naked {
		in.assign(a)
	} else if d.function {
		in.exported(name)
	}
	if d.integer {
		if !a.Naked && a.Array == nil {
			in.set(name, in.value(name))
		}
	}
	in.passes(name, d.exporting, d.exports)
	if d.ref && a.Value != nil {
		in.injected(in.value(name))
		v := in.vars.slot(name)
		*v = standsFor(name, append([]data{v.data}, v.alts...))
	}
}

// listed assigns what a declaration gives an array as one text: a list in brackets, that
// is expanded like any other although it was quoted. It is false for any other value.
func (in *interp) listed(a *syntax.Assign, d *declaration) bool {
	name := a.Name.Value
	if a.Naked && d.array && len(in.lists) < in.rep.lim.Alternatives {
		in.lists = append(in.lists, name)
	}
	if a.Naked || a.Array != nil || a.Value == nil || d.ref || !d.array && !in.vars.isArray(name) && !slices.Contains(in.lists, name) {
		return false
	}
	values := slices.DeleteFunc(slices.Clone(in.values(func() data { return in.one(a.Value) })), func(v data) bool {
		return !strings.HasPrefix(v.text, "(") || !strings.HasSuffix(v.text, ")")
	})
	if len(values) == 0 {
		return false
	}
	sign := "="
	if a.Append {
		sign = "+="
	}
	for i, v := range values {
		scope := scope{}
		if i > 0 {
			scope = in.branch()
		}
		in.payload(data{in.arena.concat(name, sign, v.text), v.taint}, "declare", &input{}, nil)
		if i > 0 {
			in.join(scope)
		}
	}
	in.passes(name, d.exporting, d.exports)
	return true
}

// declareWord declares what a word expands to, which may itself be an assignment.
func (in *interp) declareWord(w *syntax.Word, d *declaration) {
	mark := len(in.fields)
	in.word(w)
	for _, f := range in.fields[mark:] {
		in.vars.letter(f.text, d.letters)
		in.declared(f.data, d.array, d.assoc)
		in.passes(f.text, d.exporting, d.exports)
		if d.fixed {
			in.vars.fix(f.text)
		}
	}
	in.fields = in.fields[:mark]
}

// refer makes a variable stand for the one that its value names, or that the next value
// names: declare -n y; y=x.
func (vs *variables) refer(name string) {
	v := vs.slot(name)
	if d := v.data; d.known() && d.text != "" && !v.array {
		*v = standsFor(v.name, append([]data{d}, v.alts...))
		return
	}
	v.refers = true
}

// letter says of one word of a declaration, a name, perhaps with a value, in which letters
// its variable holds what it holds.
func (vs *variables) letter(word string, letters byte) {
	name, _, _ := strings.Cut(word, "=")
	if name = strings.TrimSuffix(name, "+"); letters != 0 && effect.IsKnown(name) && name != "" {
		vs.slot(name).letters = letters
	}
}

// assign makes an assignment.
func (in *interp) assign(a *syntax.Assign) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		in.assignEither(a, func() { in.assignArray(a) })
	case a.Index != nil:
		in.assignEither(a, func() { in.assignIndex(name, a) })
	case a.Append:
		if v := in.vars.find(in.vars.referred(name)); v != nil && v.array {
			more := in.one(a.Value)
			in.vars.slot(name).each(func(v *variable) { v.more("0", more) })
			return
		}
		in.assignAll(name, in.values(func() data {
			old, more := in.value(name), in.wordOrLess(a.Value)
			if v := in.lookup(name); v != nil && v.integer {
				return in.sum(old, more)
			}
			in.rep.made(len(old.text) + len(more.text))
			return data{old.text + more.text, old.taint | more.taint}
		}))
	case in.vars.isArray(name):
		more := in.one(a.Value)
		in.vars.slot(name).each(func(v *variable) { v.putText("0", more) })
	default:
		in.assignAll(name, in.values(func() data { return in.wordOrLess(a.Value) }))
		if in.ofPlace(a.Value) {
			in.vars.slot(name).place = true
		}
		if in.ofBranch(a.Value) {
			in.vars.slot(name).branch = true
		}
	}
}

// wordOrLess is the text of a word that is assigned. What a command within it prints of words of
// which nothing is known is not there if these are none: "r" for $(echo r $@), and no space.
// That is one more value.
func (in *interp) wordOrLess(w *syntax.Word) data {
	d := in.one(w)
	if d.known() || !in.alt.choose || !slices.ContainsFunc(w.Parts, substitutes) {
		return d
	}
	set := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(d.text, " "+effect.Unknown, ""), effect.Unknown+" ", ""))
	if set == "" || !effect.IsKnown(set) || in.alt.pick(in.arena.concat("none ", d.text), 2) == 0 {
		return d
	}
	return data{set, d.taint}
}

// substitutes reports whether a part of a word is what a command prints.
func substitutes(part syntax.WordPart) bool {
	if q, ok := part.(*syntax.DblQuoted); ok {
		return slices.ContainsFunc(q.Parts, substitutes)
	}
	_, ok := part.(*syntax.CmdSubst)
	return ok
}

// assignEither assigns to elements of an array what they may be.
func (in *interp) assignEither(a *syntax.Assign, assign func()) {
	if a.Append { // which would be done twice
		in.combinations(assign)
		return
	}
	in.either(assign)
}

// declarationFails reports whether a declaration changes nothing, in one shell or another:
// local outside of a function, and flags that only print, or that there are not.
func (in *interp) declarationFails(c *syntax.DeclClause) bool {
	variant := ""
	if c.Variant != nil {
		variant = c.Variant.Value
	}
	if variant == "local" && len(in.active) <= in.apart.active {
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

// isArray reports whether a name is that of an array: what is assigned to it then is its
// element 0, and the others stay.
func (vs *variables) isArray(name string) bool {
	v := vs.find(vs.referred(name))
	return v != nil && v.array
}

// assignAll gives a variable all the values that it may have.
func (in *interp) assignAll(name string, values []data) {
	if v := in.vars.find(name); v != nil && v.refers && len(values) > 1 {
		v = in.vars.slot(name)
		*v = standsFor(v.name, values)
		return
	}
	in.set(name, values[0])
	if v := in.vars.find(name); v != nil && v.refs != nil || !effect.IsKnown(in.vars.referred(name)) {
		for _, d := range values[1:] {
			in.set(name, d)
		}
		return
	}
	if v := in.vars.slot(name); len(values) > 1 {
		for _, d := range values[1:] {
			if v.integer {
				in.counted(v, d) // which may run something
			}
		}
		v = in.vars.slot(name)
		for i := range values {
			values[i].text = cased(v.letters, values[i].text)
		}
		v.alts = values
	}
}
