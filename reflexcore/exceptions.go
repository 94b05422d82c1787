package reflexcore

import (
	"path"
	"strings"
	"time"

	"approver.example/internal/glob"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
)

// isExpired reports whether now is at or after end. Without an end, or without a time of the call,
// nothing is expired.
func isExpired(end, now time.Time) bool { return !end.IsZero() && !now.IsZero() && !now.Before(end) }

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

// widenExceptions extends each exception to the findings of weaker rules about the same effect. Most
// effects are found by a specific rule and by more general ones, and people made the exception for
// the effect.
func (j *judgment) widenExceptions() {
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

// within reports whether a finding matches a scope.
func (j *judgment) within(s Scope, f *finding) bool {
	return s != Scope{} &&
		(s.Command == "" || matchCommand(s.Command, j.call.ToolCall.Command)) &&
		(s.Path == "" || f.effect >= 0 && holdsAll(s.Path, &j.call.Effects[f.effect])) &&
		(s.Agent == "" || s.Agent == j.call.ToolCall.Agent) &&
		(s.Project == "" || path.IsAbs(j.call.ToolCall.Dir) && disk.Below(path.Clean(j.call.ToolCall.Dir), s.Project))
}

// holdsAll reports whether the target of an effect is certain to lie in a folder or to be it.
func holdsAll(folder string, e *effect.Effect) bool {
	t := e.Target
	wild := strings.ContainsAny(t, "*?[")
	// A shell wildcard matches no slash, and matches .. only after a literal dot.
	return e.Known() && path.IsAbs(t) && path.Clean(t) == strings.TrimSuffix(t, "/") &&
		(!wild || !strings.Contains(t, "/.")) && disk.Below(path.Clean(t), folder)
}

// shellCharacters are the characters that have a meaning in a shell.
const shellCharacters = "\"'`$;&|<>(){}[]*?~\\#!\n\r\x00"

// matchCommand compares a command with the command of a scope.
func matchCommand(scope, command string) bool {
	if strings.ContainsAny(command, shellCharacters) {
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

// matchWord compares one word. A wildcard never matches a word with .. in it.
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
