package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A program is unknown if its name is. "$GOPATH/bin/golangci-lint" has a name in a
// folder that is not known, which honest commands have every day; "$X", "./$X" and
// "$(cat f)/x", of which the first word may be anything, have none.

// places are programs that print where something is, with the words that ask it.
var places = table("places")

func isCalled(s *syntax.Stmt, name string) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == name
}

// substitutionIn is the command substitution that a word is, or nil.
func substitutionIn(w *syntax.Word) *syntax.CmdSubst {
	if w == nil {
		return nil
	}
	s, _ := onlyPart(w).(*syntax.CmdSubst)
	return s
}

// branches are the words with which git prints the name of the branch that is checked out.
// It begins with no + unless somebody made such a branch, which is asked about.
var branchQueries = []string{
	"branch --show-current", "rev-parse --abbrev-ref HEAD", "symbolic-ref --short HEAD",
	"symbolic-ref --short -q HEAD", "symbolic-ref -q --short HEAD",
}

// isOneOf reports whether the literals of words, with a blank between them, are one of the texts.
func (ex *expander) isOneOf(words []*syntax.Word, texts []string) bool {
	mark := len(ex.buf)
	for i, w := range words {
		if i > 0 {
			ex.buf = append(ex.buf, ' ')
		}
		ex.buf = append(ex.buf, w.Lit()...)
	}
	is := slices.ContainsFunc(texts, func(t string) bool { return string(ex.buf[mark:]) == t })
	ex.buf = ex.buf[:mark]
	return is
}

// setups are programs that print what a shell is to run when it starts, by the words
// that ask for it, * being any one word: their output is theirs, and no file's or
// anybody else's.
var setups = table("setups")

// sameWords compares words with those of a pattern.
func sameWords(pattern string, words []string) bool {
	list := strings.Fields(pattern)
	return slices.EqualFunc(list, words, func(p, w string) bool {
		start, any := strings.CutSuffix(p, "*")
		return p == w || any && strings.HasPrefix(w, start)
	})
}

// namesScript reports whether a word is "$0" or "${BASH_SOURCE[0]}".
func namesScript(w *syntax.Word) bool {
	p, ok := onlyPart(w).(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Exp != nil || p.Slice != nil || p.Repl != nil {
		return false
	}
	index, _ := p.Index.(*syntax.Word)
	return p.Param.Value == "0" && p.Index == nil ||
		p.Param.Value == "BASH_SOURCE" && (p.Index == nil || index != nil && index.Lit() == "0")
}

// asked says which folder a substitution asks for, if it is one of those that scripts
// enter first.
func (df *definitions) asked(stmts []*syntax.Stmt) askedFolder {
	c := onlyCall(stmts)
	if c == nil || len(c.Args) < 2 || len(c.Args) > 3 {
		return 0
	}
	name := c.Args[0].Lit()
	if df.defines(name) {
		return 0
	}
	last := c.Args[len(c.Args)-1]
	switch {
	case name == "git" && len(c.Args) == 3 && c.Args[1].Lit() == "rev-parse" &&
		(last.Lit() == "--show-toplevel" || last.Lit() == "--show-cdup"):
		return topFolder
	case name == "dirname" && len(c.Args) == 2 && namesScript(last):
		return ownFolder
	}
	return 0
}

// asksPlace reports whether a substitution prints where something is. The text must
// not have changed what the program says: by a variable of its own, or by taking its
// name.
func (df *definitions) asksPlace(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 || len(stmts[0].Redirs) > 0 {
		return false
	}
	if b, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt { // cd … && pwd
		return df.asksPlace([]*syntax.Stmt{b.Y}) && isCalled(b.X, "cd") && isCalled(b.Y, "pwd")
	}
	c := onlyCall(stmts)
	if c == nil {
		return false
	}
	name := c.Args[0].Lit()
	if _, ok := places[name]; !ok { // most
		return df.asked(stmts) != 0
	}
	for _, w := range c.Args {
		if lit := w.Lit(); lit == "" || !isLiteral(lit) {
			return df.asked(stmts) != 0
		}
	}
	if !df.in.exp.isOneOf(c.Args[1:], places[name]) &&
		(name != "brew" || len(c.Args) != 3 || c.Args[1].Lit() != "--prefix") {
		return df.asked(stmts) != 0
	}
	for i := range df.in.vars.list {
		if v := strings.ToLower(df.in.vars.list[i].name); strings.HasPrefix(v, name) ||
			name == "brew" && strings.HasPrefix(v, "homebrew") {
			return false
		}
	}
	return !df.replaced(name)
}

// asksBranch reports whether a substitution prints that name.
func (df *definitions) asksBranch(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if c == nil || len(c.Args) < 3 || c.Args[0].Lit() != "git" || df.in.vars.find("GIT_DIR") != nil {
		return false
	}
	return df.in.exp.isOneOf(c.Args[1:], branchQueries) && !df.replaced("git") && !df.in.dirs.configured
}

// setsUp reports whether a substitution is one of them, that the text did not put
// there itself.
func (df *definitions) setsUp(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if c == nil {
		return false
	}
	name := c.Args[0].Lit()
	if name = name[strings.LastIndexByte(name, '/')+1:]; setups[name] == nil { // most
		return false
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		if words[i] = w.Lit(); words[i] == "" || !isLiteral(strings.TrimPrefix(words[i], "~/")) {
			return false
		}
	}
	if name != words[0] && !strings.HasPrefix(words[0], "~/") &&
		(!strings.HasPrefix(words[0], "/") || !installed(words[0])) {
		return false
	}
	return slices.ContainsFunc(setups[name], func(pattern string) bool { return sameWords(pattern, words[1:]) }) &&
		!df.replaced(name)
}

// defines reports whether there is a function or an alias of that name.
func (df *definitions) defines(name string) bool {
	return slices.ContainsFunc(df.funcs, func(f function) bool { return f.name == name }) ||
		slices.ContainsFunc(df.aliases, func(a alias) bool { return a.name == name })
}

// replaced reports whether the text made something else of a program's name.
func (df *definitions) replaced(name string) bool {
	return df.in.vars.find("PATH") != nil || df.in.fs.created(name) != nil || df.defines(name)
}

// onlyCall is the command of statements that are one simple command which assigns nothing, or nil.
func onlyCall(stmts []*syntax.Stmt) *syntax.CallExpr {
	if len(stmts) != 1 {
		return nil
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return nil
	}
	return c
}
