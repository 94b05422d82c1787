package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// rebaseTodo is what a rebase is to do, which git hands to an editor. Lines of it are commands.
const rebaseTodo = ".git/rebase-merge/git-rebase-todo"

// editsTodo walks the editors that the text gives to a rebase with the file that git appends
// to their words. An editor of everything counts only where a rebase is, that of rebases
// everywhere: an alias may start one.
func (a *applied) editsTodo() {
	in := a.in
	if a.line.by != "git" && !strings.HasPrefix(a.line.by, "git ") {
		return
	}
	variables, settings := []string{"GIT_SEQUENCE_EDITOR"}, []string{"sequence.editor="}
	switch a.line.by {
	case "git rebase", "git pull":
		variables = append(variables, "GIT_EDITOR", "VISUAL", "EDITOR")
		settings = append(settings, "core.editor=")
	case "git config", "git config set":
		i := slices.IndexFunc(a.line.argv, func(w string) bool { return strings.EqualFold(w, "sequence.editor") })
		if i > 0 && i+1 < len(a.line.argv) {
			a.editTodo(a.in.exp.fields[a.mark+i+1].data)
		}
	}
	for _, name := range variables {
		if in.vars.find(name) != nil {
			a.editTodo(in.par.valueOf(name))
		}
	}
	for i, w := range a.line.argv {
		w = strings.TrimPrefix(w, "-c")
		for _, setting := range settings {
			if len(w) > len(setting) && strings.EqualFold(w[:len(setting)], setting) {
				a.editTodo(data{w[len(setting):], in.exp.fields[a.mark+i].taint})
			}
		}
	}
}

// editTodo walks one editor.
func (a *applied) editTodo(editor data) {
	in := a.in
	switch editor.text {
	case "", ":", "true", "false", "none":
		return
	}
	if in.rep.stopped() || in.rep.level >= in.rep.lim.Nesting {
		return
	}
	in.rep.level++
	in.separately(false, func() {
		in.payloads.payload(data{editor.text + " " + rebaseTodo, editor.taint}, "git rebase", &input{}, nil)
	})
	in.rep.level--
}

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

// behindAlias is what stands behind the alias where git is told of it and runs it at once,
// as in git -c alias.x='branch -D' x main.
func (l *commandLine) behindAlias(u *grammar.Use) (rest string) {
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
