package reflexcore

import (
	"context"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/summary"
)

// This file says in words for people what a call would do. It is apart from the verdict, because only few calls are
// put before people.

// Sentences on why people are asked, beside those of rules.
const (
	whyComplex      = "it is too complex to be checked"
	whyIrreversible = "it does what cannot be taken back"
	whyPrecedent    = "people said no to a call like this on %s"
	whyNoPrecedents = "what people said no to before cannot be read"
	whyLoop         = "the agent does the same again and again"
	whyProject      = "A rule of the project says: %s"
)

// whyFlow are those of information flow, by where the data goes.
var whyFlow = map[flow.Sink]string{
	flow.External:       "%s data would leave this machine",
	flow.Exec:           "%s data would become code that runs",
	flow.Memory:         "%s data would get into the memory of an agent",
	flow.WorkspaceWrite: "%s data would be written to a file",
	flow.Read:           "%s data would come before the model",
}

// Sentences on how hard it is to undo a call, by score, with what is lost.
var undos = []struct {
	from                   uint8
	plain, copied, trashed string
}{
	{TypeFrom, "Cannot be undone: it %s", "Hard to undo: it %s, and copies it first",
		"Hard to undo: it %s, into a trash"},
	{AskFrom, "Hard to undo: it %s", "Hard to undo: it %s, and copies it first", "Hard to undo: it %s, into a trash"},
	{20, "May be hard to undo: it %s", "Can be undone: it %s, and copies it first",
		"Can be undone: it %s, into a trash"},
	{1, "Easy to undo: it %s", "Easy to undo: it %s, and copies it first", "Easy to undo: it %s, into a trash"},
}

// undoAgain is said of what can be made or started again, instead of the third of these.
const undoAgain = "Can be undone with some work: it %s"

// undoLater is said of what a call only writes down.
const undoLater = "Nothing is lost yet: once it runs, it %s"

// undoGit is said of what version control has.
const undoGit = "Easy to undo: git has a copy"

// whyOf returns the sentence of a rule, which a catalog can translate if it is approver's own.
func whyOf(r *Rule) display.Phrase {
	if r.Layer == ProjectLayer { // these are not approver's words
		return display.Phrase{Text: whyProject, Args: []string{display.OneLine(r.Reason)}}
	}
	return display.Sentence(r.Reason)
}

// Sum says in words for people what a call would do, whatever is decided about it. The verdict says why. A panic
// goes to the caller, which must block the call then: an answer holds for what was said, and nothing was.
func (e *Engine) Sum(call approver.ToolCall) display.Summary {
	j, v, ok := e.asked.take(call)
	if !ok {
		j = judgments.Get().(*judgment)
		j.call.Past = e.recall(context.Background(), call)
		v = e.run(j, call)
	}
	s := e.say(j, v)
	j.release()
	return s
}

// say returns what people read of a call, without the reason.
func (e *Engine) say(j *judgment, v approver.Verdict) (s display.Summary) {
	call := &j.call.ToolCall
	c := summary.Call{ToolCall: *call, Home: j.call.Around.Home, Effects: j.call.Effects, Places: j.places,
		About: j.about, Rule: v.Rule,
		Real: func(p string) (string, bool) { return j.call.Links.Real(e.analyzer.Files, p) }}
	if call.Command != "" {
		c.Pieces = shell.Pieces(call.Command, e.analyzer.Limits.Shell)
	}
	at := e.placeOf(j, c.Pieces)
	c.Rerouted, c.Push.Rewritten = reroutes(j), at.pushes != 1 || at.push.Rewritten
	if c.Push.Mapped = at.led; at.pushes == 1 && at.still {
		c.Push.Branch = at.push.Branch
	}
	s.Project, s.Branch = display.OneLine(e.projectOf(&at, &c)), display.OneLine(at.branch)
	if at.pushes == 1 && s.Project == "" {
		c.Push.Remote = at.push.Remote
	}
	if where := c.Elsewhere(); where != "" {
		s.Project = where
	}
	s.Title, s.More = c.Title()
	s.Does, s.Part = c.Does(), c.Part()
	s.Undo = undo(v.Irreversible)
	return s
}

// undo says how hard it is to undo a call; zero if nothing is lost.
func undo(i approver.Irreversibility) display.Phrase {
	lost := i.Why
	for _, m := range lossModifiers {
		lost, _, _ = strings.Cut(lost, ", "+m)
	}
	if i.Score == 0 || lost == "" {
		return display.Phrase{}
	}
	if lost == lossNone {
		return display.Phrase{Text: undoGit}
	}
	if strings.Contains(i.Why, ", "+lossLater) {
		return display.Phrase{Text: undoLater, Own: []string{lost}}
	}
	for _, u := range undos {
		if i.Score < u.from {
			continue
		}
		text := u.plain
		switch {
		case lost == lossUncommitted && !strings.Contains(i.Why, ", "+lossCopied):
			text = undos[0].plain
		case strings.Contains(i.Why, ", "+lossCopied):
			text = u.copied
		case strings.Contains(i.Why, ", "+lossTrashed):
			text = u.trashed
		case i.Score < AskFrom && (i.Score >= 20 || strings.HasPrefix(lost, lossStops)) && comesBack(lost):
			text = undoAgain // what ran had a state
		}
		return display.Phrase{Text: text, Own: []string{lost}}
	}
	return display.Phrase{}
}

// lossStops begins the losses of what is stopped.
const lossStops = "stops "

// comesBack reports whether a loss says itself how it is undone.
func comesBack(lost string) bool {
	return strings.Contains(lost, " again") || strings.Contains(lost, "reflog still") || strings.HasPrefix(lost, lossStops)
}

// Texts returns what the engine says to people beside the reasons of rules, for catalogs of
// translations: texts, and the words in them that are not the call's.
func Texts() []string {
	out := append(summary.Texts(), whyComplex, whyIrreversible, whyPrecedent, whyNoPrecedents, whyLoop, whyProject,
		undoGit, undoLater, undoAgain)
	for _, text := range whyFlow {
		out = append(out, text)
	}
	for _, u := range undos {
		out = append(out, u.plain, u.copied, u.trashed)
	}
	for i := range tripRules {
		out = append(out, tripRules[i].Reason)
	}
	out = append(out, lossTexts()...)
	slices.Sort(out)
	return slices.Compact(out)
}
