package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// asked returns which directory a substitution asks for, if it is one that scripts usually change
// to first.
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

// asksPlace reports whether a substitution prints the location of something. It is false if the
// text may have changed the output of the program, by setting a variable of the program or by
// replacing it.
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
	return !df.steered(name)
}

// alwaysPrints reports whether the program of a substitution has a location to print in any case: Go
// has folders of its own if nobody sets others.
func alwaysPrints(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	return c != nil && len(c.Args) == 3 && c.Args[0].Lit() == "go" && c.Args[1].Lit() == "env" &&
		wordset.Has("GOPATH GOROOT GOTOOLDIR", c.Args[2].Lit())
}

// steered reports whether the text may have replaced a program, or set a variable of it.
func (df *definitions) steered(name string) bool {
	for i := range df.in.vars.list {
		if v := strings.ToLower(df.in.vars.list[i].name); strings.HasPrefix(v, name) ||
			name == "brew" && strings.HasPrefix(v, "homebrew") {
			return true
		}
	}
	return df.replaced(name)
}

// asksProgram is the program whose path a substitution prints: tests for $(cabal list-bin tests).
func (df *definitions) asksProgram(stmts []*syntax.Stmt) string {
	c := onlyCall(stmts)
	if c == nil {
		return ""
	}
	name := c.Args[0].Lit()
	if programPaths[name] == nil || !areLiterals(c.Args, "") || !areOneOf(c.Args[1:], programPaths[name]) ||
		df.steered(name) {
		return ""
	}
	return c.Args[len(c.Args)-1].Lit()
}

// asksBranch reports whether a substitution prints the name of the current branch.
func (df *definitions) asksBranch(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if c == nil || len(c.Args) < 3 || c.Args[0].Lit() != "git" || df.in.vars.find("GIT_DIR") != nil {
		return false
	}
	return areOneOf(c.Args[1:], branchQueries) && !df.replaced("git") && !df.in.dirs.configured
}

// makesBox reports whether a substitution makes a container, and prints its id.
func (df *definitions) makesBox(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if c == nil || len(c.Args) < 3 || !wordset.Has(boxPrograms, c.Args[0].Lit()) ||
		df.steered(c.Args[0].Lit()) {
		return false
	}
	rest := c.Args[1:]
	if rest[0].Lit() == "container" {
		rest = rest[1:]
	}
	return rest[0].Lit() == "create" || rest[0].Lit() == "run" && slices.ContainsFunc(rest[1:], func(w *syntax.Word) bool {
		return wordset.Has("-d --detach -dit -itd -td -dt -id -di", w.Lit())
	})
}

// setsUp reports whether a substitution runs one of [setups] that the text did not replace by
// another program.
func (df *definitions) setsUp(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	return isSetup(c) && !df.replaced(path.Base(c.Args[0].Lit()))
}

// isSetup reports whether a command, which may be nil, runs one of [setups].
func isSetup(c *syntax.CallExpr) bool {
	if c == nil {
		return false
	}
	file := c.Args[0].Lit()
	name := file[strings.LastIndexByte(file, '/')+1:]
	if setups[name] == nil || !areLiterals(c.Args[:1], "~/") { // the common case
		return false
	}
	if slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool {
		return (w.Lit() == "" || !isLiteral(w.Lit())) && (name != "gimme" || !isOneValue(w)) && !isOwnShell(w)
	}) {
		return false
	}
	if name != file && !strings.HasPrefix(file, "~/") && (!strings.HasPrefix(file, "/") || !installed(file)) {
		return false
	}
	return areOneOf(c.Args[1:], setups[name])
}

// isOwnShell reports whether a word is $SHELL, perhaps without the folder: what a program prints for another shell
// is its own, too.
func isOwnShell(w *syntax.Word) bool {
	p, ok := onlyPart(w).(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Param.Value != "SHELL" {
		return false
	}
	return isWhole(p) || p.Exp != nil && p.Exp.Op == syntax.RemLargePrefix && p.Exp.Word.Lit() == "*/" &&
		!p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil
}

// isOneValue reports whether a word is a variable for a version in quotes, as in "$GO_VERSION".
func isOneValue(w *syntax.Word) bool {
	_, quoted := w.Parts[0].(*syntax.DblQuoted)
	return quoted && isPlainVariable(onlyPart(w), "VERSION")
}

// shownBy is the file that a statement only shows, as in cat FILE | psql. It is empty if there is none.
func (df *definitions) shownBy(s *syntax.Stmt) string {
	c := onlyCall([]*syntax.Stmt{s})
	if c == nil || len(s.Redirs) > 0 {
		return ""
	}
	if len(c.Args) != 2 || c.Args[0].Lit() != "cat" || !areLiterals(c.Args, "") ||
		strings.HasPrefix(c.Args[1].Lit(), "-") || df.replaced("cat") {
		return df.filledBy(c)
	}
	return c.Args[1].Lit()
}
