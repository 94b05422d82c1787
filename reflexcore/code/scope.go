package code

import (
	"cmp"
	"slices"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A scope has the variables of the code, the innermost last.
type scope struct {
	budget  *budget
	vars    []binding
	fields  []binding // of the object that the methods are of: self.dir
	joined  []string  // names that are set in a branch or loop and also elsewhere
	joinAll bool
}

type binding struct {
	name string
	value
}

// get returns a variable's value, the innermost first.
func (s *scope) get(name string) (value, bool) {
	if i := s.indexOf(name); i >= 0 {
		return s.vars[i].value, true
	}
	if fieldOf(name) != "" {
		for i := range s.fields {
			if s.fields[i].name == name {
				return s.fields[i].value, true
			}
		}
	}
	return value{}, false
}

// fieldOf returns the name of a member of the object that a method is of: dir of self.dir.
func fieldOf(name string) string {
	object, field, ok := strings.Cut(name, ".")
	if !ok || object != "self" && object != "this" || strings.Contains(field, ".") {
		return ""
	}
	return field
}

// setField sets a member of the object that a method is of, which other methods find.
func (s *scope) setField(name string, v value) {
	for i := range s.fields {
		if s.fields[i].name == name {
			s.fields[i].value = v
			return
		}
	}
	if len(s.fields) < maxVars {
		s.fields = append(s.fields, binding{name, v})
	}
}

// indexOf returns the index of the innermost variable with a name, or -1.
func (s *scope) indexOf(name string) int {
	i := len(s.vars) - 1
	for i >= 0 && s.vars[i].name != name {
		i--
	}
	return i
}

// maxVars bounds the variables, which are searched one after the other.
const maxVars = 256

func (s *scope) bind(name string, v value) {
	if i := s.indexOf(name); i >= 0 {
		s.vars[i].value = v
		return
	}
	s.add(name, v)
}

// local binds a new variable that hides others with its name.
func (s *scope) local(name string, v value) {
	if name != "" {
		s.add(name, v)
	}
}

func (s *scope) add(name string, v value) {
	if len(s.vars) >= maxVars {
		s.budget.over = true
		return
	}
	s.vars = append(s.vars, binding{name, v})
}

// preset binds variables that are set from outside.
func (s *scope) preset(vars map[string]string) {
	for name, v := range vars {
		s.bind(name, text(v, 0))
	}
}

// forgetValue removes the value of a list that is changed, from every name that has it.
func (s *scope) forgetValue(base string) {
	old, ok := s.get(base)
	if !ok || old.kind != listValue {
		return
	}
	for j := range s.vars {
		if b := &s.vars[j]; same(b.value, old) {
			b.value = unknown(old.taint)
		}
	}
}

// sentMembers are members of the options of a request that say what it sends, and not where.
var sentMembers = wordset.Of("headers body data json params payload timeout method")

// forgetMember forgets what a map has under a name that is written out, such as the headers of the options of
// a request; the rest of the map stays as it is. Other values, and all of a map if the name is not known,
// are forgotten whole.
func (s *scope) forgetMember(base, member string, taint effect.Taint) {
	old, ok := s.get(base)
	if !ok || old.kind != listValue || old.keys == nil || !sentMembers[member] || len(old.list) == 0 {
		s.forgetValue(base)
		return
	}
	now := old
	now.taint |= taint
	now.keys, now.list = slices.Clone(old.keys), slices.Clone(old.list)
	at := slices.Index(now.keys, member)
	if at < 0 {
		at = len(now.keys)
		now.keys, now.list = append(now.keys, member), append(now.list, value{})
	}
	now.list[at] = unknown(now.list[at].taint | taint)
	for j := range s.vars {
		if b := &s.vars[j]; same(b.value, old) {
			b.value = now
		}
	}
}

// findJoined finds names that are set more than once, at least once in a branch, a loop or a
// function.
func (s *scope) findJoined(toks []lex.Token, d *dialect) {
	type seen struct {
		name   string
		times  int
		nested bool
	}
	var buf [16]seen
	names, nest, line, last := buf[:0], 0, false, -1
	for i := range toks {
		t := &toks[i]
		if t.NewLine && !d.statements.braces {
			line = t.Col > 0
		}
		switch {
		case t.Kind == lex.Op && d.statements.braces && t.Text == "{":
			nest++
		case t.Kind == lex.Op && d.statements.braces && t.Text == "}":
			nest--
		case t.Kind != lex.Name:
		case t.Text == "setattr", t.Text == "__setattr__", t.Text == "__dict__",
			t.Text == "this" && i > 1 && toks[i-2].IsName("assign"): // Object.assign(this, …) sets members by any name
			s.joinAll = true
			return
		case t.Text == "for", t.Text == "while", t.Text == "if", t.Text == "elif", t.Text == "else",
			t.Text == "unless", t.Text == "until", t.Text == "try", t.Text == "each", t.Text == "do",
			t.Text == "foreach":
			line = true
			if last >= 0 && !t.NewLine { // x = 1 if y
				names[last].nested = true
			}
		case isCleared(toks, i): // a = None: there is no value to keep apart from another one
		case i+1 < len(toks) && (isAssign(&toks[i+1]) || d.statements.letDeclares && isTyped(toks, i)):
			at := slices.IndexFunc(names, func(n seen) bool { return n.name == t.Text })
			if at < 0 {
				if at = len(names); at == 64 {
					s.joinAll = true
					return
				}
				names = append(names, seen{name: t.Text})
			}
			names[at].times++
			last = at
			names[at].nested = names[at].nested || nest > 0 || line
		}
		if t.IsOp(";") {
			line, last = line && !d.statements.braces, -1
		}
	}
	for _, n := range names {
		if n.times > 1 && n.nested {
			s.joined = append(s.joined, n.name)
		}
	}
}

// isCleared reports whether the name at i is set to nothing.
func isCleared(toks []lex.Token, i int) bool {
	if i+2 >= len(toks) || !toks[i+1].IsOp("=") || toks[i+2].Kind != lex.Name ||
		!wordset.Has("None null undefined nil", toks[i+2].Text) {
		return false
	}
	return i+3 == len(toks) || toks[i+3].NewLine || toks[i+3].IsOp(";")
}

// isTyped reports whether the name at i is declared with a type and a value: let a: string = v.
func isTyped(toks []lex.Token, i int) bool {
	if i == 0 || !toks[i+1].IsOp(":") || !wordset.Has("let const var", toks[i-1].Text) {
		return false
	}
	end := typeEnds(toks, i+1) + 1
	return end < len(toks) && toks[end].IsOp("=")
}

// same reports whether two values are the same list.
func same(a, b value) bool {
	if a.kind != listValue || b.kind != listValue || len(a.list) == 0 || len(b.list) == 0 {
		return a.kind == b.kind && len(a.list) == len(b.list)
	}
	return &a.list[0] == &b.list[0]
}

// set binds a variable, and reports whether it is followed. One that findJoined found has no known
// value, only the taints of its values.
func (s *scope) set(name string, v value) (followed bool) {
	field := fieldOf(name)
	joined := v.fn == nil && (s.joinAll || slices.Contains(s.joined, cmp.Or(field, name)))
	if joined {
		old, _ := s.get(name)
		v = unknown(v.taint | old.taint)
	}
	if field != "" && s.indexOf(name) < 0 {
		s.setField(name, v)
	} else {
		s.bind(name, v)
	}
	return !joined
}

// bindAll binds every function in the table that is directly in a module.
func (s *scope) bindAll(api *table, module string) {
	for path := range api.rows {
		if name, ok := strings.CutPrefix(path, module+"."); ok && !strings.Contains(name, ".") {
			if _, known := s.get(name); !known && len(s.vars) < maxVars {
				s.bind(name, value{kind: nameValue, s: path})
			}
		}
	}
}
