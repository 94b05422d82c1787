package gitruns

import (
	"path"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

// The todo list of a rebase is a file, and its lines may be commands. Package content reads what a
// call writes there; this file judges what a call copies or edits there.

// todoFile is the name of the todo list.
const todoFile = "git-rebase-todo"

// addsExec matches words of an edit that may make a line of the list a command.
var addsExec = lazyregexp.New(`exe|\bx\b|\\[xodc]|\by[/|,#]`)

var (
	// editorWord matches a call that gives a rebase an editor, and execLine what a script used as the
	// editor may write.
	editorWord = lazyregexp.New(`(?i)(?:EDITOR|VISUAL)=[\s\S]*rebase|SEQUENCE[._]EDITOR`)
	execLine   = lazyregexp.New(`(?:^|[^\w-])(?:exec|x)(?:\s|/|\\|$)`)
)

// Todos judges what a shell command copies into a todo list, or edits there.
func (g *Reader) Todos() {
	if g.ToolCall.Command == "" {
		return
	}
	edits := editorWord().MatchString(g.Text)
	for i, n := 0, len(g.Effects); edits && i < n; i++ {
		if ef := g.Effects[i]; ef.Kind == effect.Exec && strings.HasPrefix(ef.Target, "/") {
			if text, _ := g.TextOf(ef.Target); execLine().MatchString(text) {
				g.Unseen(ef.Target)
			}
		}
	}
	for _, t := range g.Texts {
		if path.Base(t.Path) == ".git" && strings.Contains(t.Text, "gitdir:") {
			g.Unseen(t.Path)
		}
	}
	for i, n := 0, len(g.Effects); i < n; i++ {
		ef := g.Effects[i]
		if ef.Kind != effect.Write || ef.Bits&(effect.Remote|effect.Later) != 0 || path.Base(ef.Target) != todoFile {
			continue
		}
		if !g.todoKnown(&ef, n) {
			g.Unseen(ef.Target)
		}
	}
}

// todoKnown judges one todo list; false if it is not fully known.
func (g *Reader) todoKnown(ef *effect.Effect, n int) bool {
	words := g.Text
	for _, t := range g.Texts {
		if t.Path == ef.Target && effect.IsKnown(t.Text) {
			if !t.Part {
				return true
			}
			content.Payloads(ef.Target, t.Text, g.Analyzer.Limits.Tools.Content, func(effect.Payload) {
				words = strings.ReplaceAll(words, strings.TrimSpace(t.Text), "") // judged with the texts
			})
		}
	}
	switch ef.Program() {
	case "sed", "gsed":
		return !addsExec().MatchString(words)
	case "touch":
		return true
	}
	known := false
	for i := range n {
		r := g.Effects[i]
		if r.Kind != effect.Read || r.Bits&effect.Remote != 0 || r.Target == ef.Target {
			continue
		}
		text, ok := g.TextOf(r.Target)
		if !ok {
			return false
		}
		known = true
		content.Payloads(ef.Target, text, g.Analyzer.Limits.Tools.Content,
			func(p effect.Payload) { g.Payload(p, g.Place) })
	}
	return known
}
