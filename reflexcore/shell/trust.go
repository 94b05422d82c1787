package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A file of which nothing is known may be taken for what the project made of its own files
// only where nothing else in the call can have reached it. That is asked of the whole call
// and not of what came before: a job in the background writes later than it stands.

// isPlainCall reports whether all that was read so far is a list of commands written out
// word for word, so that what each of them writes, and in which order, is known.
func (so *sources) isPlainCall() bool {
	if len(so.trees) == 0 || len(so.trees) >= maxTrees {
		return false
	}
	for ; so.plainTrees < len(so.trees); so.plainTrees++ {
		if !so.arePlain(so.trees[so.plainTrees].Stmts) {
			return false
		}
	}
	return true
}

func (so *sources) arePlain(list []*syntax.Stmt) bool {
	return !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !so.isPlainStmt(s, false) })
}

// isPlainStmt reports whether a statement is such a list. Fed is that it has the output of
// another one for its input.
func (so *sources) isPlainStmt(s *syntax.Stmt, fed bool) bool {
	so.rep.steps++
	if s.Background || s.Coprocess || s.Negated || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return isPlainCommand(c, s.Redirs, fed)
	case *syntax.BinaryCmd:
		switch {
		case len(s.Redirs) > 0:
			return false
		case c.Op == syntax.AndStmt:
			return so.isPlainStmt(c.X, false) && so.isPlainStmt(c.Y, false)
		case c.Op == syntax.OrStmt: // what comes behind a command that failed
			return isOneOf(c.Y, "true", ":", "echo", "exit") && so.isPlainStmt(c.X, false) && so.isPlainStmt(c.Y, false)
		case c.Op == syntax.Pipe:
			return isOneOf(c.Y, "head", "tail", "grep", "wc", "cat", "less") && len(c.Y.Redirs) == 0 && so.isPlainStmt(c.X, false) && so.isPlainStmt(c.Y, true)
		}
	}
	return false
}

// isOneOf reports whether a statement is one of these commands.
func isOneOf(s *syntax.Stmt, names ...string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains(names, call.Args[0].Lit())
}

// isPlainCommand reports whether a command is plain words, and where it writes is too. What
// echo and tests say goes to nobody: their words may be any. What changes how the shell
// writes, or whether a file can be written, may be no part of such a call.
func isPlainCommand(c *syntax.CallExpr, redirs []*syntax.Redirect, fed bool) bool {
	if len(c.Assigns) > 0 || len(c.Args) == 0 || !arePlainRedirects(redirs) {
		return false
	}
	name, rest := c.Args[0].Lit(), c.Args[1:]
	switch name {
	case "echo", "printf", "[", "test":
		return len(redirs) == 0 && !slices.ContainsFunc(rest, func(w *syntax.Word) bool { return name == "printf" && w.Lit() == "-v" })
	case "chmod":
		if len(rest) == 0 || !slices.Contains([]string{"+x", "u+x", "a+x", "ug+x", "755", "0755", "700", "0700"}, rest[0].Lit()) {
			return false
		}
	case "set", "shopt", "setopt", "unsetopt", "emulate", "exec", "eval", "trap", "alias", "enable", "command", "builtin", "chattr", "chown", "setfacl", "tee", "xargs", "parallel", "at", "batch", "nohup", "setsid", "ln":
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

// isProgramOf reports whether a word that is not plain is a program of a command that puts in
// no more than a plain word, or names of variables.
func isProgramOf(name, word string) bool {
	switch name {
	case "sed":
		return word == "" || placeholder.MatchString(word) || plainEdit.MatchString(word)
	case "envsubst":
		return strings.Trim(word, "${} ,_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
	}
	return false
}

// arePlainRedirects reports whether redirections read and write only what they name.
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
