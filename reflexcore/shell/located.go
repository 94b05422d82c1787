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

// areOneOf reports whether the literals of words are one of the texts, in which a star ends a word
// that may go on.
func areOneOf(words []*syntax.Word, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.EqualFunc(strings.Fields(text), words, func(pattern string, w *syntax.Word) bool {
			start, open := strings.CutSuffix(pattern, "*")
			return pattern == w.Lit() || open && strings.HasPrefix(w.Lit(), start)
		})
	})
}

// setups are programs that print what a shell is to run when it starts, by the words
// that ask for it, * being any one word: their output is theirs, and no file's or
// anybody else's.
var setups = table("setups")

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
		return df.asksPlace([]*syntax.Stmt{b.Y}) && isOneOf(b.X, "cd") && isOneOf(b.Y, "pwd")
	}
	c := onlyCall(stmts)
	if c == nil {
		return false
	}
	name := c.Args[0].Lit()
	if places[name] == nil || !areLiterals(c.Args, "") || !areOneOf(c.Args[1:], places[name]) {
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
	return areOneOf(c.Args[1:], branchQueries) && !df.replaced("git") && !df.in.dirs.configured
}

// setsUp reports whether a substitution is one of them, that the text did not put
// there itself.
func (df *definitions) setsUp(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if c == nil {
		return false
	}
	file := c.Args[0].Lit()
	name := file[strings.LastIndexByte(file, '/')+1:]
	if setups[name] == nil || !areLiterals(c.Args, "~/") { // most
		return false
	}
	if name != file && !strings.HasPrefix(file, "~/") && (!strings.HasPrefix(file, "/") || !installed(file)) {
		return false
	}
	return areOneOf(c.Args[1:], setups[name]) && !df.replaced(name)
}

// areLiterals reports whether words are what is written there, behind a prefix that they may have.
func areLiterals(words []*syntax.Word, prefix string) bool {
	return !slices.ContainsFunc(words, func(w *syntax.Word) bool {
		return w.Lit() == "" || !isLiteral(strings.TrimPrefix(w.Lit(), prefix))
	})
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
