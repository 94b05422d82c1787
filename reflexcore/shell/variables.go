package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// fix makes a variable readonly. word is its name, perhaps with a value.
func (vs *variables) fix(word string) {
	name, _, _ := strings.Cut(word, "=")
	if name = strings.TrimSuffix(name, "+"); !slices.Contains(vs.readonly, name) {
		vs.readonly = append(vs.readonly, name)
	}
}

// heldReadonly returns the readonly variables with their values before a command.
func (vs *variables) heldReadonly() []held {
	out := make([]held, 0, len(vs.readonly))
	for _, name := range vs.readonly {
		vs.rep.steps++
		if h := vs.hold(name); h.was {
			out = append(out, h)
		}
	}
	return out
}

// keepReadonly makes the earlier values of readonly variables one more possibility if a command
// changed them.
func (vs *variables) keepReadonly(before []held) {
	for _, h := range before {
		now := vs.find(h.name)
		if now == nil || now.text != h.text || now.unset != h.unset || now.array != h.array ||
			!slices.Equal(now.alts, h.alts) || !slices.Equal(now.list, h.list) {
			vs.merge(h.variable)
		}
	}
}

// associative makes a variable an associative array.
func (vs *variables) associative(name string) {
	if v := vs.slot(name); !v.assoc {
		*v = variable{name: v.name, array: true, assoc: true, integer: v.integer}
	}
}

// refer makes a variable a reference to the one that its value names or, if it has none, that its
// next value names: declare -n y; y=x.
func (vs *variables) refer(name string) {
	v := vs.slot(name)
	if d := v.data; d.known() && d.text != "" && !v.array {
		*v = standsFor(v.name, append([]data{d}, v.alts...))
		return
	}
	v.refers = true
}

// setLetterCase sets the letter case of a variable to letters, see [lettersOf]. word is its name,
// perhaps with a value.
func (vs *variables) setLetterCase(word string, letters byte) {
	name, _, _ := strings.Cut(word, "=")
	if name = strings.TrimSuffix(name, "+"); letters != 0 && effect.IsKnown(name) && name != "" {
		vs.slot(name).letters = letters
	}
}

// isArray reports whether a name is that of an array. An assignment without an index then changes
// only element 0.
func (vs *variables) isArray(name string) bool {
	v := vs.find(vs.referred(name))
	return v != nil && v.array
}

// unhold restores the held variables from index since on.
func (vs *variables) unhold(since int) {
	for len(vs.locals) > since {
		last := len(vs.locals) - 1
		if h := vs.locals[last]; !h.gone {
			vs.restore(h)
		}
		vs.locals = vs.locals[:last]
	}
}

// find returns the variable of a name, or nil.
func (vs *variables) find(name string) *variable {
	vs.rep.steps += len(vs.list) / 64 // a long search costs steps
	return vs.findSince(name, 0)
}

// isGiven reports whether the text or the environment sets a variable.
func (vs *variables) isGiven(name string) bool {
	_, ok := vs.ctx.Env[name]
	return ok || vs.find(name) != nil
}

// findSince returns the last variable of a name from index mark on, or nil.
func (vs *variables) findSince(name string, mark int) *variable {
	for i := len(vs.list) - 1; i >= mark; i-- {
		if vs.list[i].name == name {
			return &vs.list[i]
		}
	}
	return nil
}

// hold saves a variable for [variables.restore].
func (vs *variables) hold(name string) held {
	v := vs.find(name)
	if v == nil {
		return held{variable: variable{name: name}, mark: vs.mark}
	}
	vs.rep.steps += (len(v.list) + len(v.keys)) / 64 // for the copies
	h := held{variable: *v, was: true, mark: vs.mark}
	h.list, h.keys = slices.Clone(v.list), slices.Clone(v.keys)
	return h
}

// restore resets a variable to its saved state.
func (vs *variables) restore(h held) {
	switch v, last := vs.findSince(h.name, vs.mark), len(vs.list)-1; {
	case v == nil && h.was:
		vs.list = append(vs.list, h.variable)
	case v == nil:
	case h.was:
		*v = h.variable
	default:
		if *v = (variable{}); v == &vs.list[last] {
			vs.list = vs.list[:last]
		}
	}
}

// uncover removes a variable that belongs to a calling function, or that was set for this call
// alone, so that the variable that it hid is visible again. It returns false if there is none.
func (vs *variables) uncover(name string) bool {
	for i := len(vs.locals) - 1; i >= 0; i-- {
		if h := &vs.locals[i]; h.name == name && !h.gone {
			if i >= vs.frame { // the function's own variable stays, without a value
				return false
			}
			vs.restore(*h)
			h.gone = vs.mark == h.mark
			return true
		}
	}
	return false
}

// slot returns the variable to assign to, in the current scope. It copies it from an outer scope
// if necessary.
func (vs *variables) slot(name string) *variable {
	name = vs.referred(name)
	if v := vs.findSince(name, vs.mark); v != nil {
		return v
	}
	if len(vs.list) >= vs.rep.lim.Fields {
		vs.rep.over("variables")
	}
	v := variable{name: name}
	if outer := vs.find(name); outer != nil {
		v = *outer
		v.list, v.keys = append([]data(nil), outer.list...), append([]string(nil), outer.keys...)
	}
	vs.list = append(vs.list, v)
	return &vs.list[len(vs.list)-1]
}

// values returns all possible values of a variable that is not an array.
func (v *variable) values() []data {
	if v.alts == nil {
		return []data{v.data}
	}
	return v.alts
}

// cased returns a text in the letter case of a variable.
func cased(letters byte, text string) string {
	switch letters {
	case 'l':
		return strings.ToLower(text)
	case 'u':
		return strings.ToUpper(text)
	}
	return text
}

// lettersOf returns the letter case that flags of declare ask for: l, u, or 0 for none.
func lettersOf(flags string) byte {
	i := strings.LastIndexAny(flags, "lu")
	if i < 0 {
		return 0
	}
	return flags[i]
}

// unrefer turns a reference into an unset variable.
func (vs *variables) unrefer(name string) {
	gone := variable{name: name, unset: true}
	if v := vs.findSince(name, vs.mark); v != nil {
		*v = gone
		return
	}
	vs.list = append(vs.list, gone)
}

// referred returns the name of the variable or element that a name refers to.
func (vs *variables) referred(name string) string {
	for range 8 {
		v := vs.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	return name
}

// merge makes the value that a branch assigned one more possible value.
func (vs *variables) merge(v variable) {
	old := vs.find(v.name)
	if v.array || v.ref != "" || v.forms != nil || old != nil && (old.array || old.forms != nil) {
		vs.mergeArray(old, v)
		return
	}
	var alts []data
	if old != nil {
		alts = slices.Clone(old.values())
	} else {
		alts = append(alts, vs.environment(v.name))
	}
	for _, d := range v.values() {
		if v.unset && v.name == "IFS" {
			d.text = " \t\n" // the default; "" would separate nothing
		}
		if i := slices.IndexFunc(alts, func(have data) bool { return have.text == d.text }); i >= 0 {
			alts[i].taint |= d.taint
		} else {
			alts = append(alts, d)
		}
	}
	slot := vs.slot(v.name)
	*slot = variable{name: slot.name, data: alts[0], settled: slot.settled, letters: max(slot.letters, v.letters),
		passed: slot.passed && v.passed, clobbered: slot.clobbered || v.clobbered}
	if len(alts) > vs.rep.lim.Alternatives {
		slot.data = anyOf(alts)
		return
	}
	if len(alts) > 1 {
		slot.alts = alts
	}
}

// mergeArray makes the array that a branch assigned one more possible array. If the branch only
// appended, the new array replaces the old one.
func (vs *variables) mergeArray(old *variable, v variable) {
	var forms []variable
	if old != nil {
		grew := old.array && v.array && len(v.list) >= len(old.list) && slices.Equal(old.list, v.list[:len(old.list)]) &&
			sameKeys(old, &v)
		switch {
		case grew && v.forms == nil:
		case old.forms != nil:
			forms = append(forms, old.forms...)
		default:
			forms = append(forms, *old)
		}
	}
	if v.forms != nil {
		forms = append(forms, v.forms...)
	} else if len(forms) > 0 {
		forms = append(forms, v)
	}
	slot := vs.slot(v.name)
	*slot = v
	if slot.forms = nil; len(forms) > 1 && len(forms) <= vs.rep.lim.Alternatives {
		slot.forms = forms
	}
}

// widen makes variables unknown that get more values with each round of a loop. It reports
// whether there was such a variable.
func (vs *variables) widen() (any bool) {
	for i := range vs.list {
		v := &vs.list[i]
		if len(v.alts) <= max(v.settled, 2) {
			continue
		}
		any = true
		d := data{text: "1" + effect.Unknown}
		for _, a := range v.alts {
			d.taint |= a.taint
			if _, err := strconv.Atoi(a.text); err != nil {
				d.text = effect.Unknown
			}
		}
		v.data, v.alts = d, nil
	}
	return any
}

// standsFor returns a variable that is a reference to one of several others: declare -n y=$x.
func standsFor(name string, names []data) variable {
	v := variable{name: name}
	for _, d := range names {
		if !slices.Contains(v.refs, d.text) {
			v.refs = append(v.refs, d.text)
		}
	}
	if v.ref = v.refs[0]; len(v.refs) == 1 {
		v.refs = nil
	}
	return v
}

// substitutes reports whether a part of a word is or contains a command substitution.
func substitutes(part syntax.WordPart) bool {
	if q, ok := part.(*syntax.DblQuoted); ok {
		return slices.ContainsFunc(q.Parts, substitutes)
	}
	_, ok := part.(*syntax.CmdSubst)
	return ok
}

// environment returns the value of a variable that the text did not assign.
func (vs *variables) environment(name string) data {
	switch name {
	case "PWD":
		return data{text: vs.cwd.dir}
	case "BASH":
		return data{text: "/bin/bash"} // the shell sets it, whatever the environment has
	case "BASH_COMMAND":
		vs.rep.typed = true
		return unknown
	case "_":
		return unknown // the shell's own path, or a word of the command before this text
	case "DIRSTACK":
		return data{text: vs.cwd.dir}
	case unknownName:
		return data{effect.Unknown, vs.unknownTaint}
	}
	if v, ok := vs.ctx.Env[name]; ok {
		return data{text: v}
	}
	if vs.ctx.Unset {
		return data{}
	}
	switch name {
	case "TMPDIR": // the default of programs if it is unset
		return data{text: "/tmp"}
	case "USER", "LOGNAME", "USERNAME": // the home of a user has the same name
		if home := vs.ctx.Env["HOME"]; len(home) > 1 && vs.ctx.Env["USER"] == "" {
			return data{text: path.Base(home)}
		}
	case "SHELL":
		return data{text: "/bin/bash"} // or another one that takes -c
	}
	if secretName(name) {
		return data{text: effect.Unknown, taint: effect.Secret}
	}
	return unknown
}

// credentialParts are parts of the names of variables that hold credentials.
var credentialParts = strings.Fields("SECRET TOKEN PASSWORD PASSWD API_KEY APIKEY PRIVATE_KEY ACCESS_KEY CREDENTIAL")

// secretName reports whether a variable of that name probably holds a credential.
func secretName(name string) bool {
	return wordset.ContainsAny(strings.ToUpper(name), credentialParts...)
}

// unknownWord expands a variable, unknownName, that nobody can set. It stands for unknown text in
// a text that is parsed again.
const unknownName, unknownWord = "__unknown__", "${__unknown__}"

// tools are variables that name a program, and that people set to another one than the default in
// a command: ${PYTHON:-python3}. The value is the program that is meant without a default.
var tools = table("tools")

// fixed reports whether an unknown variable is still known to hold a location: it is inherited,
// so that no command chose it, or the output of a program that prints a location.
func (vs *variables) fixed(name string) bool {
	if name == unknownName || !syntax.ValidName(name) {
		return name == unknownName && vs.unknownPlace
	}
	v := vs.find(name)
	return v == nil || v.place
}

// isTool reports whether a variable is one of [tools] and comes from the environment, with an
// unknown value.
func (vs *variables) isTool(name string) bool {
	if tools[name] == nil || vs.find(name) != nil {
		return false
	}
	_, ok := vs.ctx.Env[name]
	return !ok
}

// prefixed returns the sorted names of the known variables that ${!prefix*} expands to.
func (vs *variables) prefixed(prefix string) (names []data) {
	for i := range vs.list {
		v := &vs.list[i]
		if v.name != "" && strings.HasPrefix(v.name, prefix) && vs.find(v.name) == v && !v.unset {
			names = append(names, data{text: v.name})
		}
	}
	for name := range vs.ctx.Env {
		if strings.HasPrefix(name, prefix) && vs.find(name) == nil {
			names = append(names, data{text: name})
		}
	}
	slices.SortFunc(names, func(a, b data) int { return strings.Compare(a.text, b.text) })
	return names
}
