package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// People guard a delete against a variable that is empty: rm -rf "${DIR:?}"/*. What is
// not known of such a variable is something, so that the folder is not the root. It is
// a folder that nobody knows all the same, which is a question. ${DIR?} and set -u prove
// only that it is set.

// isFilled reports whether a variable was shown to be not empty, and got no value since.
func (in *interp) isFilled(name string) bool {
	return len(in.filled) > 0 && slices.Contains(in.filled, name)
}

// fill notes that a variable is not empty. The end of a branch, a subshell or a function
// forgets it.
func (in *interp) fill(name string) {
	if name != "" && len(in.filled) < 32 && syntax.ValidName(name) && !slices.Contains(in.filled, name) {
		in.filled = append(in.filled, name)
	}
}

// unfill forgets it of a variable that gets a value, or of all where its name is not known.
func (in *interp) unfill(name string) {
	for i := range in.filled {
		if in.filled[i] == name || !effect.IsKnown(name) {
			in.filled[i] = ""
		}
	}
}

// fills notes what a statement shows where it ended well, or badly, and returns how many
// were noted before.
func (in *interp) fills(s *syntax.Stmt, well bool) (before int) {
	before = len(in.filled)
	in.shows(s, well, 0)
	return before
}

// shows is fills for the statements in it as well.
func (in *interp) shows(s *syntax.Stmt, well bool, depth int) {
	if s == nil || s.Background || s.Coprocess || depth > 8 || len(in.aliases)+len(in.disabled) > 0 || len(in.funcs) > 0 && in.takes("[", "test", "exit", "return") {
		return
	}
	if s.Negated {
		well = !well
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt && well || c.Op == syntax.OrStmt && !well {
			if in.keepsValues(c.Y) { // [ -n "$X" ] && X=$Y
				in.shows(c.X, well, depth+1)
			}
			in.shows(c.Y, well, depth+1)
		}
	case *syntax.TestClause:
		in.showsTest(c.X, well, depth)
	case *syntax.CallExpr:
		in.showsWords(c.Args, well)
	}
}

// keepsValues reports whether a statement is one that changes no variable.
func (in *interp) keepsValues(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.BinaryCmd:
		return in.keepsValues(c.X) && in.keepsValues(c.Y)
	case *syntax.CallExpr:
		if len(c.Args) == 0 || len(c.Assigns) > 0 {
			return false
		}
		switch name := c.Args[0].Lit(); name {
		case "[", "test", "cd", "echo", "true", ":":
			return !in.takes(name)
		default:
			return name != "" && builtinOf(name) == nil && in.Table.Find(name) != nil && !in.takes(name)
		}
	}
	return false
}

// takes reports whether the text defines a function of one of these names.
func (in *interp) takes(names ...string) bool {
	return slices.ContainsFunc(in.funcs, func(f function) bool { return slices.Contains(names, f.name) })
}

// showsTest is shows for [[ ]], in which words need no quotes.
func (in *interp) showsTest(x syntax.TestExpr, well bool, depth int) {
	if depth > 8 {
		return
	}
	switch x := x.(type) {
	case *syntax.ParenTest:
		in.showsTest(x.X, well, depth+1)
	case *syntax.Word:
		if well {
			in.fill(variableOf(x, false))
		}
	case *syntax.UnaryTest:
		w, _ := x.X.(*syntax.Word)
		switch {
		case x.Op == syntax.TsNot:
			in.showsTest(x.X, !well, depth+1)
		case w != nil && (x.Op == syntax.TsEmpStr && !well || well && proves(x.Op.String())):
			in.fill(variableOf(w, false))
		}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest && well || x.Op == syntax.OrTest && !well {
			in.showsTest(x.X, well, depth+1)
			in.showsTest(x.Y, well, depth+1)
			return
		}
		left, _ := x.X.(*syntax.Word)
		if right, ok := x.Y.(*syntax.Word); ok && left != nil && (x.Op == syntax.TsNoMatch && well || (x.Op == syntax.TsMatch || x.Op == syntax.TsMatchShort) && !well) && isNothing(right) {
			in.fill(variableOf(left, false))
		}
	}
}

// showsWords is shows for test and [, in which a word without quotes that is nothing is
// no word: [ -n $DIR ] is true.
func (in *interp) showsWords(args []*syntax.Word, well bool) {
	if len(args) == 0 {
		return
	}
	name := args[0].Lit()
	if name == "[" && args[len(args)-1].Lit() == "]" {
		args = args[:len(args)-1]
	} else if name != "test" {
		return
	}
	if args = args[1:]; len(args) > 1 && args[0].Lit() == "!" {
		args, well = args[1:], !well
	}
	switch len(args) {
	case 1:
		if well {
			in.fill(variableOf(args[0], true))
		}
	case 2:
		if op := args[0].Lit(); op == "-z" && !well || well && proves(op) {
			in.fill(variableOf(args[1], true))
		}
	case 3:
		if op := args[1].Lit(); (op == "!=" && well || (op == "=" || op == "==") && !well) && isNothing(args[2]) {
			in.fill(variableOf(args[0], true))
		}
	}
}

// proves reports whether a test of one word is false of nothing.
func proves(op string) bool {
	switch op {
	case "-n", "-d", "-e", "-f", "-r", "-w", "-x", "-s", "-L", "-h":
		return true
	}
	return false
}

// isNothing reports whether a word is a quoted nothing.
func isNothing(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.SglQuoted:
		return p.Value == ""
	case *syntax.DblQuoted:
		return len(p.Parts) == 0
	}
	return false
}

// variableOf is the name of the variable that a word is: "$DIR", "${DIR}", "${DIR:-}".
func variableOf(w *syntax.Word, quoted bool) string {
	if len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part, quoted = q.Parts[0], false
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || quoted || p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 {
		return ""
	}
	if p.Exp != nil && (p.Exp.Op != syntax.DefaultUnset && p.Exp.Op != syntax.DefaultUnsetOrNull || p.Exp.Word != nil && len(p.Exp.Word.Parts) > 0) {
		return ""
	}
	return p.Param.Value
}

// goesOn notes what holds behind a statement that leaves the script where something is
// empty: [ -n "$DIR" ] || exit, [ -z "$DIR" ] && exit, if [ -z "$DIR" ]; then exit; fi.
func (in *interp) goesOn(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if (c.Op == syntax.OrStmt || c.Op == syntax.AndStmt) && !s.Negated && !s.Background && in.leavesAtEnd(c.Y, 0) {
			in.fills(c.X, c.Op == syntax.OrStmt)
		}
	case *syntax.IfClause:
		if len(c.Cond) == 1 && c.Else == nil && !s.Background && in.allLeave(c.Then, 0) {
			in.fills(c.Cond[0], false)
		}
	}
}

// leavesAtEnd reports whether a statement ends by leaving the script or the function.
// Outside of a function return is an error, and the script goes on.
func (in *interp) leavesAtEnd(s *syntax.Stmt, depth int) bool {
	if s.Background || s.Negated || depth > 8 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return" && len(in.active) > 0)
	case *syntax.Block:
		return in.allLeave(c.Stmts, depth+1)
	}
	return false
}

// allLeave is leavesAtEnd for a list of them: none before the last one may leave a loop.
func (in *interp) allLeave(list []*syntax.Stmt, depth int) bool {
	if len(list) == 0 || !in.leavesAtEnd(list[len(list)-1], depth) {
		return false
	}
	for _, s := range list[:len(list)-1] {
		if !in.keepsValues(s) {
			return false
		}
	}
	return true
}

// standsFor is a value that is not empty: the shell ends where it would be.
func standsFor(d data) data {
	if d.text == "" {
		d.text = effect.Unknown
	}
	return d
}
