package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// Names that mean a builtin, a function or a program of the tables to a later command.

// builtins are the names of all builtins that change what later words mean, or whose output
// is known. The methods for them are in builtins.go.
var builtins = wordset.Of(`echo printf read cd pushd popd set shift unset eval exec source . trap command builtin noglob
	nocorrect - type which alias mapfile readarray export readonly declare typeset local history fc
	enable bind complete pwd exit : true false umask shopt caller bg fg disown times ulimit unalias
	suspend logout compopt setopt unsetopt dirs test [ let wait return break continue getopts hash
	compgen jobs`)

// wellKnown reports whether a name is that of a program or a builtin that later
// commands may mean by it.
func (a *Analyzer) wellKnown(name string) bool {
	return a.Table.Find(name) != nil || builtins[name]
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
			return builtins[name] || slices.ContainsFunc(df.funcs, func(f function) bool { return f.name == name }) ||
				slices.ContainsFunc(df.aliases, func(a alias) bool { return a.name == name })
		}
	}
	return true
}
