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

// gitSetting walks a setting that GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n give to git,
// as if it were given by -c. One whose name is not known may be any.
func (en *exporter) gitSetting(number string, value data) {
	key := en.in.par.valueOf("GIT_CONFIG_KEY_" + number)
	if en.in.rep.level >= en.in.rep.lim.Nesting {
		en.in.rep.over(overDepth)
		return
	}
	mark := len(en.in.exp.fields)
	for _, text := range [...]string{"git", "-c", key.text + "=" + value.text, "version"} {
		en.in.exp.push(field{data: data{text: text}})
	}
	en.in.exp.fields[mark+2].taint = key.taint | value.taint
	en.in.rep.level++
	en.in.programs.program(mark, &input{}, nil)
	en.in.rep.level--
	en.in.exp.fields = en.in.exp.fields[:mark]
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

// isLocalGit reports whether a command is one of git that only looks at the repository:
// GIT_SSH_COMMAND=./x git status. What the variable names counts as run all the same, as
// any program is: a repository of which only a part was fetched may fetch more.
func (df *definitions) isLocalGit(mark int) bool {
	words := df.in.exp.fields[mark:]
	if len(words) < 2 || words[0].text != "git" || len(df.funcs)+len(df.aliases) > 0 {
		return false
	}
	for _, w := range words {
		if !w.known() || w.splits || w.glob {
			return false
		}
	}
	switch words[1].text {
	case "remote":
		return len(words) == 2 || len(words) == 3 && (words[2].text == "-v" || words[2].text == "--verbose")
	case "status", "log", "diff", "show", "rev-parse", "rev-list", "ls-files", "describe", "blame", "shortlog", "for-each-ref", "show-ref", "cat-file", "merge-base", "--version", "version":
		return true
	}
	return false
}
