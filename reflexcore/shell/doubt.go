package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command that fails changes nothing: cd to a folder that does not exist, any statement
// whose redirection cannot be opened, a builtin that was disabled. Whether it fails is not
// known, so what it would change may also be as it was before.

// mayFail reports whether a statement changes the shell, and may not run because one of
// its redirections cannot be made.
func (dt *descriptorTable) mayFail(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, dt.mayNotOpen) && dt.in.def.changesShell(s.Cmd)
}

// mayNotOpen reports whether a redirection may fail.
func (dt *descriptorTable) mayNotOpen(r *syntax.Redirect) bool {
	if r.Word == nil {
		return false
	}
	word := r.Word.Lit()
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return false
	case syntax.DplIn, syntax.DplOut:
		if len(word) == 1 && word[0] > '2' && word[0] <= '9' {
			return dt.fds[word[0]-'0'] == ""
		}
		return word != "-" && word != "0" && word != "1" && word != "2"
	default:
	}
	switch word {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/zero":
		return false
	}
	return true
}

// surely reports whether cd from one folder to another does not fail: to one in which the
// first is, or that every machine has.
func (ds *directories) surely(to, from string) bool {
	return to == "/" || to == "/tmp" || to == ds.in.par.valueOf("HOME").text || to == from || strings.HasPrefix(from, to+"/")
}
