package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// wellKnown reports whether a name is that of a program or a builtin that later
// commands may mean by it.
func (a *Analyzer) wellKnown(name string) bool {
	return a.Table.Find(name) != nil || builtinOf(name) != nil
}

// harmless are words before a program that change nothing of what it does.
var harmless = map[string]bool{"sudo": true, "doas": true, "command": true, "builtin": true, "noglob": true, "nocorrect": true, "time": true, "nice": true}

// isCall reports whether a word calls the program of that name, by its path perhaps.
func isCall(word, name string) bool {
	return strings.TrimPrefix(word[strings.LastIndexByte(word, '/')+1:], `\`) == name
}

// traced looks at where the shell writes each command that it runs, while set -x is on.
func (dt *descriptorTable) traced() {
	if !dt.xtrace {
		return
	}
	fd := 2
	if v := dt.in.par.lookup("BASH_XTRACEFD"); v != nil {
		if fd = len(dt.fds) - 1; len(v.text) == 1 && v.text[0] >= '0' && v.text[0] <= '9' {
			fd = int(v.text[0] - '0')
		}
	}
	if covert(dt.in.fs.abs(dt.fds[fd])) {
		dt.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: "set -x"})
	}
}

// watchTyping looks at where script writes what is typed in the shell that it starts.
func (a *applied) watchTyping() {
	file := ""
	for i := range a.line.p.Uses {
		switch u := &a.line.p.Uses[i]; u.Role {
		case grammar.Shell, grammar.Argv:
			return // one command, of which nothing is typed
		case grammar.Write, grammar.Append:
			file = a.pathOf(u)
		default: // nothing of it is typed
		}
	}
	if covert(file) || strings.HasPrefix(path.Base(file), ".") && file != "" {
		a.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: a.line.by})
	}
}
