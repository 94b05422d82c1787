package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// helper walks what a program runs by itself because a setting of it says so, such as
// the ssh of git. The programs it names by a path are called helpers, unless this text
// wrote them: then what they do has been seen. So is code of which not even the program
// is known.
func (a *applied) helper(u *grammar.Use, out *data) {
	in := a.in
	plain := *u
	plain.Arg = ""
	before := len(in.rep.res.Effects)
	a.payload(&plain, out)
	for i := before; i < len(in.rep.res.Effects); i++ {
		e := &in.rep.res.Effects[i]
		if e.Kind == effect.Exec && (e.What == "any" || e.What == "" && strings.IndexByte(e.Target, '/') >= 0 && in.fs.fileAt(e.Target) == nil && (!in.env.local || !a.line.connects())) {
			e.What = "helper"
		}
	}
}

// aliased is what stands behind the alias where git is told of it and runs it at once,
// as in git -c alias.x='branch -D' x main.
func (l *commandLine) aliased(u *grammar.Use) (rest string) {
	name, _, _ := strings.Cut(l.argv[u.Word], "=")
	name = name[strings.LastIndexByte(name, '.')+1:]
	found := false
	for _, word := range l.argv[u.Word+1:] {
		if found {
			rest += " " + quote(word)
		}
		found = found || word == name
	}
	return rest
}

// connects reports whether a variable names what git starts only to speak to another
// machine.
func (l *commandLine) connects() bool {
	name, _, _ := strings.Cut(l.argv[len(l.argv)-1], "=")
	switch name {
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS":
		return true
	}
	return false
}
