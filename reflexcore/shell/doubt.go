package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
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

// changesShell reports whether a command may change what later ones mean.
func (df *definitions) changesShell(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.Subshell, *syntax.TestClause, *syntax.CoprocClause, nil:
		return false
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return true
		}
		switch name := c.Args[0].Lit(); name {
		case "exec", "echo", ":", "true", "false", "test", "[", "pwd", "type", "which", "exit", "return", "break", "continue", "wait", "jobs", "history":
			return false // a shell whose exec fails ends
		case "printf":
			return len(c.Args) > 1 && strings.HasPrefix(c.Args[1].Lit()+"-v", "-v")
		case "":
			return true
		default:
			return builtinOf(name) != nil || slices.ContainsFunc(df.funcs, func(f function) bool { return f.name == name }) ||
				slices.ContainsFunc(df.aliases, func(a alias) bool { return a.name == name })
		}
	}
	return true
}

// perhaps walks what may not happen: what it assigns is one more possibility. The folder
// that it enters counts, and the one before is kept beside.
func (ds *directories) perhaps(walk func()) {
	scope := ds.in.branch()
	walk()
	dir, may := ds.in.cwd.dir, ds.in.cwd.may
	ds.in.join(scope)
	if dir != scope.dir {
		ds.goesFrom(scope.dir)
		ds.in.cwd.dir, ds.in.cwd.may = dir, may
	}
}

// doubtful reports whether a builtin may not do what it is for: it was disabled, or it
// has flags with which it fails.
func (in *interp) doubtful(mark int) bool {
	args := in.exp.fields[mark:]
	if slices.Contains(in.def.disabled, args[0].text) {
		return true
	}
	letters := ""
	switch args[0].text {
	case "read":
		letters = "adeinNprsA"
	case "mapfile", "readarray":
		letters = "dnOstcC"
	case "printf":
		letters = "v"
	case "unset", "export", "readonly", "declare", "typeset":
		letters = "aAfgiIlnrtuxv"
	default:
		return false
	}
	for _, f := range args[1:] {
		if len(f.text) < 2 || f.text[0] != '-' || f.text == "--" {
			break
		}
		for i := 1; i < len(f.text); i++ {
			if strings.IndexByte(letters, f.text[i]) < 0 {
				return true
			}
			if args[0].text != "unset" && strings.IndexByte("adinNpvOcC", f.text[i]) >= 0 {
				break // what follows is a value
			}
		}
	}
	return false
}

// goesFrom notes the folder that cd leaves, where it stays if it fails. One of settings
// or of the system is kept longer.
func (ds *directories) goesFrom(dir string) {
	ds.in.cwd.before = dir
	if ds.isHidden(dir) {
		ds.in.cwd.beside = dir
	}
}

// isHidden reports whether a folder is one whose files change what a program or the
// system does.
func (ds *directories) isHidden(dir string) bool {
	if !effect.IsKnown(dir) || dir == "" || dir[0] != '/' {
		return false
	}
	for _, top := range [...]string{"/etc", "/boot", "/dev", "/usr", "/bin", "/sbin", "/lib", "/System", "/Library"} {
		if rest, ok := strings.CutPrefix(dir, top); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	if strings.HasPrefix(dir[strings.LastIndexByte(dir, '/')+1:], ".") {
		return true
	}
	rest, ok := strings.CutPrefix(dir, ds.in.ctx.Dir+"/")
	return ok && (strings.HasPrefix(rest, ".") || strings.Contains(rest, "/."))
}

// surely reports whether cd from one folder to another does not fail: to one in which the
// first is, or that every machine has.
func (ds *directories) surely(to, from string) bool {
	return to == "/" || to == "/tmp" || to == ds.in.par.valueOf("HOME").text || to == from || strings.HasPrefix(from, to+"/")
}

// vanishing pushes the words of a builtin without those that may be none, where what they
// mean depends on how many there are, and reports whether that is another reading.
func (ex *expander) vanishing(mark int) bool {
	if ex.in.readings.omits != omitsNothing && ex.in.readings.omits != omitsParts {
		return false
	}
	switch ex.fields[mark].text {
	case "cd", "pushd", "read", "printf", "mapfile", "readarray", "shift", "getopts", "hash":
	default:
		return false
	}
	n := len(ex.fields)
	for _, f := range ex.fields[mark:n] {
		if !f.vanishes() {
			ex.push(f)
		}
	}
	if kept := len(ex.fields) - n; kept < 2 || kept == n-mark {
		ex.fields = ex.fields[:n]
		return false
	}
	return true
}
