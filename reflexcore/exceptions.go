package reflexcore

import (
	"path"
	"strings"
	"time"

	"approver.example/internal/glob"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
)

// expired reports whether an end is over at a time. A call whose time is not known
// is past no end.
func expired(end, now time.Time) bool { return !end.IsZero() && !now.IsZero() && !now.Before(end) }

// exception returns the exception that drops a finding, or nil.
func (j *judgment) exception(f *finding) *Allowance {
	for i := range f.rule.Allow {
		a := &f.rule.Allow[i]
		if !a.Expires.IsZero() && !j.call.ToolCall.At.IsZero() && j.call.ToolCall.At.Before(a.Expires) &&
			j.within(a.Scope, f) {
			return a
		}
	}
	return nil
}

// excused drops with the finding of an exception also what rules that it outranks say
// of the same effect: most things are found by one rule that knows them and by others
// that are more general, and people made the exception for the thing.
func (j *judgment) excused() {
	for i := range j.findings {
		f := &j.findings[i]
		if f.allowed == nil || f.effect < 0 {
			continue
		}
		for k := range j.findings {
			g := &j.findings[k]
			if g.allowed == nil && g.effect == f.effect && !g.rule.Final() && g.rule.Layer != ProjectLayer && stricter(f, g) {
				g.allowed = f.allowed
			}
		}
	}
}

// within reports whether a finding is all that a scope names.
func (j *judgment) within(s Scope, f *finding) bool {
	return s != Scope{} &&
		(s.Command == "" || matchCommand(s.Command, j.call.ToolCall.Command)) &&
		(s.Path == "" || f.effect >= 0 && holdsAll(s.Path, &j.call.Effects[f.effect])) &&
		(s.Agent == "" || s.Agent == j.call.ToolCall.Agent) &&
		(s.Project == "" || path.IsAbs(j.call.ToolCall.Dir) && disk.Below(path.Clean(j.call.ToolCall.Dir), s.Project))
}

// holdsAll reports whether all that an effect is about is certain to be a folder or
// something in it.
func holdsAll(folder string, e *effect.Effect) bool {
	t := e.Target
	wild := strings.ContainsAny(t, "*?[")
	// A wildcard never matches a slash, and .. only behind a dot.
	return e.Known() && path.IsAbs(t) && path.Clean(t) == strings.TrimSuffix(t, "/") &&
		(!wild || !strings.Contains(t, "/.")) && disk.Below(path.Clean(t), folder)
}

// notPlain are the characters that make more of a word than it says.
const notPlain = "\"'`$;&|<>(){}[]*?~\\#!\n\r\x00"

// matchCommand compares a command with the words of a scope.
func matchCommand(scope, command string) bool {
	if strings.ContainsAny(command, notPlain) {
		return false
	}
	want, have := strings.Fields(scope), strings.Fields(command)
	for i, w := range want {
		if w == "**" && i == len(want)-1 {
			return true
		}
		if i >= len(have) || !matchWord(w, have[i]) {
			return false
		}
	}
	return len(want) > 0 && len(want) == len(have)
}

// matchWord compares a word. A wildcard stands for no way up.
func matchWord(pattern, word string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == word
	}
	for part := range strings.SplitSeq(word, "/") {
		if part == ".." {
			return false
		}
	}
	return glob.Word(pattern, word)
}
