package reflexcore

import (
	"path"
	"regexp"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// What a rebase is to do lies in a file, and its lines may be commands. Texts that a call
// writes there are read by package content; what it copies or edits there is judged here.

// todoFile is the name of that file.
const todoFile = "git-rebase-todo"

// putsExec finds what may make a command of a line, in words that edit it.
var putsExec = regexp.MustCompile(`exe|\bx\b|\\[xodc]|\by[/|,#]`)

var (
	// editorWord finds a call that gives an editor to a rebase, execLine what a script that is
	// one may write there.
	editorWord = regexp.MustCompile(`(?i)(?:EDITOR|VISUAL)=[\s\S]*rebase|SEQUENCE[._]EDITOR`)
	execLine   = regexp.MustCompile(`(?:^|[^\w-])(?:exec|x)(?:\s|/|\\|$)`)
)

// todos judges what a shell copies into what a rebase is to do, or edits there.
func (e *Engine) todos(w *work, place shell.Context) {
	if w.a.ToolCall.Command == "" {
		return
	}
	edits := editorWord.MatchString(w.a.Text)
	for i, n := 0, len(w.a.Effects); edits && i < n; i++ {
		if ef := w.a.Effects[i]; ef.Kind == effect.Exec && strings.HasPrefix(ef.Target, "/") {
			if text, _ := w.a.TextOf(ef.Target); execLine.MatchString(text) {
				w.a.Unseen(ef.Target)
			}
		}
	}
	for _, t := range w.a.Texts {
		if path.Base(t.Path) == ".git" && strings.Contains(t.Text, "gitdir:") {
			w.a.Unseen(t.Path)
		}
	}
	for i, n := 0, len(w.a.Effects); i < n; i++ {
		ef := w.a.Effects[i]
		if ef.Kind != effect.Write || ef.Bits&(effect.Remote|effect.Later) != 0 || path.Base(ef.Target) != todoFile {
			continue
		}
		if !e.todoKnown(w, &ef, n, place) {
			w.a.Unseen(ef.Target)
		}
	}
}

// todoKnown judges one such file; false if not all of it is known.
func (e *Engine) todoKnown(w *work, ef *effect.Effect, n int, place shell.Context) bool {
	words := w.a.Text
	for _, t := range w.a.Texts {
		if t.Path == ef.Target && effect.IsKnown(t.Text) {
			if !t.Part {
				return true
			}
			content.Payloads(ef.Target, t.Text, e.analyzer.Limits.Tools.Content, func(effect.Payload) {
				words = strings.ReplaceAll(words, strings.TrimSpace(t.Text), "") // judged with the texts
			})
		}
	}
	switch by, _, _ := strings.Cut(ef.By, " "); by {
	case "sed", "gsed":
		return !putsExec.MatchString(words)
	case "touch":
		return true
	}
	known := false
	for i := range n {
		r := w.a.Effects[i]
		if r.Kind != effect.Read || r.Bits&effect.Remote != 0 || r.Target == ef.Target {
			continue
		}
		text, ok := w.a.TextOf(r.Target)
		if !ok {
			return false
		}
		known = true
		content.Payloads(ef.Target, text, e.analyzer.Limits.Tools.Content, func(p effect.Payload) { w.a.Payload(p, place) })
	}
	return known
}
