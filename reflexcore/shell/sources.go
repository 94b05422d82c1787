package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// A guard in the word, "${X:?}"/*, shows that the directory name is not empty, but not that the
// directory is not the root. If the call itself shows how it may be the root, the guard proves
// nothing: [ "$X" = / ], case $X in /), $(realpath /), X=$(cat f || echo /).

// maxTrees is how many texts are searched for that.
const maxTrees = 16

// A file of which nothing is known may be taken for a product of the project's own files only if
// nothing else in the call can have written it. The whole call is checked, not only what came
// before: a background job may write later than its position suggests.

// isPlainCall reports whether everything that was parsed so far is a list of commands without
// expansions, so that what each of them writes, and in which order, is known.
func (so *sources) isPlainCall() bool {
	if so.broken || len(so.trees) == 0 || len(so.trees) >= maxTrees {
		return false
	}
	for ; so.plainTrees < len(so.trees); so.plainTrees++ {
		if slices.ContainsFunc(so.trees[so.plainTrees].Stmts,
			func(s *syntax.Stmt) bool { return !so.isPlainStmt(s) }) {
			return false
		}
	}
	return true
}

// isPlainStmt reports whether a statement is such a list.
func (so *sources) isPlainStmt(s *syntax.Stmt) bool {
	so.rep.steps++
	if s.Background || s.Coprocess || s.Negated || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return isPlainCommand(c, s.Redirs)
	case *syntax.BinaryCmd:
		switch {
		case len(s.Redirs) > 0:
			return false
		case c.Op == syntax.AndStmt:
			return so.isPlainStmt(c.X) && so.isPlainStmt(c.Y)
		case c.Op == syntax.OrStmt: // the right side runs after a failure
			return isOneOf(c.Y, "true", ":", "echo", "exit") && so.isPlainStmt(c.X) && so.isPlainStmt(c.Y)
		case c.Op == syntax.Pipe:
			return isOneOf(c.Y, "head", "tail", "grep", "wc", "cat", "less") && len(c.Y.Redirs) == 0 &&
				so.isPlainStmt(c.X) && so.isPlainStmt(c.Y)
		}
	}
	return false
}

// isOneOf reports whether a statement calls one of the named commands.
func isOneOf(s *syntax.Stmt, names ...string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains(names, call.Args[0].Lit())
}

// isPlainCommand reports whether a command and its redirections are plain words. The words of
// echo, printf and tests may be anything if they go into no file. Commands that change how
// the shell writes, or whether a file is writable, are not plain.
func isPlainCommand(c *syntax.CallExpr, redirs []*syntax.Redirect) bool {
	if len(c.Assigns) > 0 || len(c.Args) == 0 || !arePlainRedirects(redirs) {
		return false
	}
	name, rest := c.Args[0].Lit(), c.Args[1:]
	switch name {
	case "echo", "printf", "[", "test":
		return len(redirs) == 0 &&
			!slices.ContainsFunc(rest, func(w *syntax.Word) bool { return name == "printf" && w.Lit() == "-v" })
	case "chmod":
		if len(rest) == 0 || !wordset.Has("+x u+x a+x ug+x 755 0755 700 0700", rest[0].Lit()) {
			return false
		}
	case "set", "shopt", "setopt", "unsetopt", "emulate", "exec", "eval", "trap", "alias", "enable", "command", "builtin",
		"chattr", "chown", "setfacl", "tee", "xargs", "parallel", "at", "batch", "nohup", "setsid", "ln":
		return false
	}
	for i, w := range c.Args {
		text, ok := verbatim(w)
		if ok && isPlain(text) {
			continue
		}
		if !ok || i == 0 || !isProgramOf(name, text) {
			return false
		}
	}
	return true
}

// isProgramOf reports whether a word that is not plain is a program for the named command that
// inserts nothing but a plain word, or a list of variable names.
func isProgramOf(name, word string) bool {
	switch name {
	case "sed":
		return word == "" || placeholder().MatchString(word) || plainEdit().MatchString(word)
	case "envsubst":
		return strings.Trim(word, "${} ,_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
	}
	return false
}

// arePlainRedirects reports whether redirections read and write only the files that they name.
func arePlainRedirects(redirs []*syntax.Redirect) bool {
	return !slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.DplOut, syntax.RdrAll:
		default:
			return true
		}
		if r.Word == nil || r.N != nil && (r.N.Value == "" || strings.Trim(r.N.Value, "0123456789") != "") {
			return true
		}
		text, ok := verbatim(r.Word)
		return !ok || !isPlain(text) || strings.HasPrefix(text, "/dev/") && text != "/dev/null"
	})
}

// parse is [parse] with a cache for the current judgment: the outermost text, which both walks
// parse, and payloads, which often repeat.
func (so *sources) parse(src string) read {
	if r := &so.outermost; so.rep.depth == 0 && r.file != nil && r.src == src {
		return *r
	}
	r, ok := so.ctx.Trees.of(src)
	if !ok {
		r = parse(src, so.rep.lim)
		so.ctx.Trees.keep(r)
	}
	if so.rep.depth == 0 {
		so.outermost = r
	}
	return r
}

// mayRoot reports whether a text of the call names the root or the home directory, or asks for
// the parent of a directory. It is true if there are too many texts to search.
func (so *sources) mayRoot() bool {
	for ; so.searched < len(so.trees) && !so.rooted; so.searched++ {
		syntax.Walk(so.trees[so.searched], func(n syntax.Node) bool {
			so.rep.steps++
			switch n := n.(type) {
			case *syntax.Word:
				so.rooted = so.rooted || namesRoot(n)
			case *syntax.CmdSubst:
				so.rooted = so.rooted || asksAbove(n)
			case *syntax.ParamExp:
				so.rooted = so.rooted || n.Slice != nil || n.Length // ${PWD:0:1} is the root, ${#X} may test for it
			}
			return !so.rooted
		})
	}
	return so.rooted || so.broken || len(so.trees) >= maxTrees
}

// namesRoot reports whether a word is the root, the home directory or a pattern for the root.
func namesRoot(w *syntax.Word) bool {
	if isHome(w) {
		return true
	}
	text, ok := asWritten(w)
	return ok && (text == "~" || text == "~/" || isRootText(text))
}

// isRootText reports whether a text is the root directory in any spelling.
func isRootText(text string) bool {
	text = strings.Trim(text, "^$*") // of a pattern or an expression
	return text != "" && text[0] == '/' && strings.Trim(path.Clean(text), "/") == ""
}

// isHome reports whether a word is $HOME alone.
func isHome(w *syntax.Word) bool {
	p, ok := onlyPart(w).(*syntax.ParamExp)
	return ok && p.Param != nil && p.Param.Value == "HOME" && p.Exp == nil && p.Slice == nil && p.Repl == nil
}

// asksAbove reports whether a substitution may print the root directory without being given it:
// it goes up, takes the parent of a directory near the root, asks for a mount point, or runs code
// that contains a slash.
func asksAbove(s *syntax.CmdSubst) (found bool) {
	above, top := false, false
	for _, stmt := range s.Stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			w, ok := n.(*syntax.Word)
			if !ok {
				return !found
			}
			text, ok := asWritten(w)
			switch {
			case !ok:
			case text == "..", strings.HasSuffix(text, "/.."), strings.HasSuffix(text, "../"):
				found = true
			case text == "dirname", text == "cut", text == "sed", text == "awk":
				above = true
			case strings.HasPrefix(text, "/") && strings.Count(path.Clean(text), "/") < 3:
				top = true
			case mountWords[text], strings.ContainsAny(text, "'\"(") && strings.Contains(text, "/"):
				found = true
			}
			return !found
		})
	}
	return found || above && top
}

// mountWords are programs that print mount points, and flags that ask for one.
var mountWords = wordset.Of(section("mounts"))

// A program is unknown if its name is. In "$GOPATH/bin/golangci-lint", only the directory is
// unknown, which is common in harmless commands. In "$X", "./$X" and "$(cat f)/x", nothing is
// known that identifies the program.

// places are programs that print the location of something, with the arguments that ask for it.
var places = table("places")

// substitutionIn returns the command substitution that is the whole word, or nil.
func substitutionIn(w *syntax.Word) *syntax.CmdSubst {
	if w == nil {
		return nil
	}
	s, _ := onlyPart(w).(*syntax.CmdSubst)
	return s
}

// branchQueries are the arguments with which git prints the name of the current branch. That name
// begins with no + unless somebody created such a branch, which leads to a question.
var branchQueries = []string{
	"branch --show-current", "rev-parse --abbrev-ref HEAD", "symbolic-ref --short HEAD",
	"symbolic-ref --short -q HEAD", "symbolic-ref -q --short HEAD",
}

// areOneOf reports whether the literals of words equal one of the texts. A star at the end of a
// word of a text matches any rest.
func areOneOf(words []*syntax.Word, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		for _, w := range words {
			pattern, rest, _ := strings.Cut(text, " ")
			start, open := strings.CutSuffix(pattern, "*")
			if lit := w.Lit(); text == "" || lit != pattern && (!open || !strings.HasPrefix(lit, start)) {
				return false
			}
			text = rest
		}
		return text == ""
	})
}

// setups are programs that print initialization code for a shell, with the arguments that ask for
// it; * matches any one word. Their output is their own and does not come from a file.
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

// programPaths are programs that print where a program is, with the arguments that ask for it.
var programPaths = table("program paths")

// areLiterals reports whether words are literals without special characters, apart from a prefix
// that they may have.
func areLiterals(words []*syntax.Word, prefix string) bool {
	return !slices.ContainsFunc(words, func(w *syntax.Word) bool {
		return w.Lit() == "" || !isLiteral(strings.TrimPrefix(w.Lit(), prefix))
	})
}

// defines reports whether the text defines a function or an alias of that name.
func (df *definitions) defines(name string) bool {
	return slices.ContainsFunc(df.funcs, func(f function) bool { return f.name == name }) ||
		slices.ContainsFunc(df.aliases, func(a alias) bool { return a.name == name })
}

// replaced reports whether the text may have replaced the program of that name.
func (df *definitions) replaced(name string) bool {
	return df.in.vars.find("PATH") != nil || df.in.fs.created(name) != nil || df.defines(name)
}

// onlyCall returns the command of statements that are one simple command without assignments, or
// nil.
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
