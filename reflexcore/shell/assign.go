package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// declClause is export, declare, local, readonly and typeset.
func (in *interp) declClause(c *syntax.DeclClause, sink *data) {
	if in.declarationFails(c) {
		scope := in.branch()
		defer in.join(scope)
	}
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
	in.settled()
	var ref, global, function, integer, array, assoc bool
	variant, exports := "", false
	var letters byte
	if c.Variant != nil {
		variant = c.Variant.Value
		exports = variant == "export"
	}
	fixed := variant == "readonly"
	exporting := variant // export if the words say whether it is exported
	for _, a := range c.Args {
		if a.Name != nil {
			if len(in.active) > 0 && !global && (variant == "local" || variant == "declare" || variant == "typeset") {
				in.locals = append(in.locals, in.hold(a.Name.Value))
			}
			if assoc {
				in.associative(a.Name.Value)
			}
			if letters != 0 && !ref {
				in.slot(a.Name.Value).letters = letters
			}
			if ref && a.Naked {
				in.refer(a.Name.Value)
			}
			if !a.Naked {
				in.assign(a)
			} else if function {
				in.exported(a.Name.Value)
			}
			if integer {
				in.slot(a.Name.Value).integer = true
				if !a.Naked && a.Array == nil {
					in.set(a.Name.Value, in.value(a.Name.Value))
				}
			}
			in.passes(a.Name.Value, exporting, exports)
			if fixed {
				defer in.fix(a.Name.Value)
			}
			if ref && a.Value != nil {
				in.injected(in.value(a.Name.Value))
				*in.slot(a.Name.Value) = variable{name: a.Name.Value, ref: in.value(a.Name.Value).text}
			}
			continue
		}
		if a.Value == nil {
			continue
		}
		if flag := a.Value.Lit(); flag != "" && flag[0] == '+' && strings.Contains(flag, "x") {
			exports, exporting = false, "export"
			continue
		} else if flag != "" && flag[0] == '-' {
			ref = ref || strings.Contains(flag, "n") && variant != "export"
			letters = max(letters, lettersOf(flag))
			exports = exports && !strings.Contains(flag, "n") || strings.Contains(flag, "x")
			fixed = fixed || strings.Contains(flag, "r")
			global = global || strings.Contains(flag, "g")
			integer = integer || strings.Contains(flag, "i")
			assoc = assoc || strings.Contains(flag, "A")
			array = array || assoc || strings.Contains(flag, "a")
			function = function || strings.Contains(flag, "f") && (variant == "export" || strings.Contains(flag, "x"))
			continue
		}
		// The word may itself expand to an assignment.
		mark := len(in.fields)
		in.word(a.Value)
		for _, f := range in.fields[mark:] {
			in.letter(f.text, letters)
			in.declared(f.data, array, assoc)
			in.passes(f.text, exporting, exports)
			if fixed {
				in.fix(f.text)
			}
		}
		in.fields = in.fields[:mark]
	}
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked && !ref {
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
	}
}

// refer makes a variable stand for the one that its value names, or that the next value
// names: declare -n y; y=x.
func (in *interp) refer(name string) {
	v := in.slot(name)
	if d := v.data; d.known() && d.text != "" && v.alts == nil && !v.array {
		*v = variable{name: v.name, ref: d.text}
		return
	}
	v.refers = true
}

// letter says of one word of a declaration, a name, perhaps with a value, in which letters
// its variable holds what it holds.
func (in *interp) letter(word string, letters byte) {
	name, _, _ := strings.Cut(word, "=")
	if name = strings.TrimSuffix(name, "+"); letters != 0 && effect.IsKnown(name) && name != "" {
		in.slot(name).letters = letters
	}
}

// assign makes an assignment.
func (in *interp) assign(a *syntax.Assign) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		in.combinations(func() { in.assignArray(a) })
	case a.Index != nil:
		in.combinations(func() { in.assignIndex(name, a) })
	case a.Append:
		if v := in.find(in.referred(name)); v != nil && v.array {
			more := in.one(a.Value)
			in.slot(name).each(func(v *variable) { v.more("0", more) })
			return
		}
		in.assignAll(name, in.values(func() data {
			old, more := in.value(name), in.one(a.Value)
			if v := in.lookup(name); v != nil && v.integer {
				return in.sum(old, more)
			}
			in.made(len(old.text) + len(more.text))
			return data{old.text + more.text, old.taint | more.taint}
		}))
	case in.isArray(name):
		more := in.one(a.Value)
		in.slot(name).each(func(v *variable) { v.putText("0", more) })
	default:
		in.assignAll(name, in.values(func() data { return in.one(a.Value) }))
		if in.ofPlace(a.Value) {
			in.slot(name).place = true
		}
	}
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
func (in *interp) isArray(name string) bool {
	v := in.find(in.referred(name))
	return v != nil && v.array
}
