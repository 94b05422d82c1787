package shell

import (
	"slices"
	"strings"
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
