package reflexcore

import (
	"path"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/internal/glob"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
)

// isExpired reports whether now is at or after end. Without an end, or without a time of the call,
// nothing is expired.
func isExpired(end, now time.Time) bool { return !end.IsZero() && !now.IsZero() && !now.Before(end) }

// exception returns the exception that drops a finding, or nil: one from its rule, or one from a
// heuristic that says the same of this call.
func (j *judgment) exception(f *finding) *Allowance {
	if a := j.exceptionFrom(f.rule, f); a != nil {
		return a
	}
	if f.rule.Layer != BuiltInLayer || f.rule.Final() || f.effect < 0 && f.layer >= 0 {
		return nil // what a layer wrote, and what was hidden in the text, no heuristic speaks for
	}
	for _, h := range j.sets[0].twins[f.rule.ID] {
		if a := j.exceptionFrom(h, f); a != nil && j.inTextOf(h.ID) {
			return a
		}
	}
	return nil
}

func (j *judgment) exceptionFrom(r *Rule, f *finding) *Allowance {
	for i := range r.Allow {
		if a := &r.Allow[i]; a.lasts(&j.call.ToolCall) && j.within(a.Scope, f) {
			return a
		}
	}
	return nil
}

// lasts reports whether the exception has not ended at the time of a call.
func (a *Allowance) lasts(call *approver.ToolCall) bool {
	return !a.Expires.IsZero() && !call.At.IsZero() && call.At.Before(a.Expires)
}

// inTextOf reports whether a heuristic finds something in the call.
func (j *judgment) inTextOf(id string) bool {
	if !j.looked && j.heuristics != nil {
		j.heard = j.heuristics(j.call.ToolCall)
	}
	j.looked = true
	return slices.Contains(j.heard, id)
}

// Excepts returns the exception from a heuristic that drops what it found in a call, or nil. An
// exception for a path is for an argument of a tool that is one; paths has all in which the heuristic
// found something, and is empty if it found something elsewhere.
func (r *Rule) Excepts(call *approver.ToolCall, paths []string) *Allowance {
	if r.Final() {
		return nil
	}
	for i := range r.Allow {
		if a := &r.Allow[i]; a.lasts(call) && a.covers(call) && (a.Path == "" || allBelow(paths, a.Path)) {
			return a
		}
	}
	return nil
}

// allBelow reports whether there are paths, and all are certain to be the folder or to lie in it.
func allBelow(paths []string, folder string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return !holdsAll(folder, &effect.Effect{Target: p})
	})
}

// found says of each rule that found something what became of it.
func (j *judgment) found() []approver.RuleFound {
	var out []approver.RuleFound
	for i := range j.findings {
		f := &j.findings[i]
		if l := f.rule.Layer; l != BuiltInLayer && l != "" {
			continue // what a layer wrote speaks for itself; the tripwire has no layer
		}
		at := slices.IndexFunc(out, func(r approver.RuleFound) bool { return r.Rule == f.rule.ID })
		if at < 0 {
			at, out = len(out), append(out, approver.RuleFound{Rule: f.rule.ID, Warned: true})
		}
		out[at].Warned = out[at].Warned && f.warns
		out[at].Counts = out[at].Counts || f.enforced()
		if f.allowed != nil {
			out[at].Allowed = f.allowed.String()
		}
	}
	return out
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
	return s.covers(&j.call.ToolCall) &&
		(s.Path == "" || f.effect >= 0 && holdsAll(s.Path, &j.call.Effects[f.effect]))
}

// covers reports whether a call matches a scope in all but the path.
func (s Scope) covers(call *approver.ToolCall) bool {
	return s != Scope{} &&
		(s.Command == "" || matchCommand(s.Command, call.Command)) &&
		(s.Agent == "" || s.Agent == call.Agent) &&
		(s.Project == "" || path.IsAbs(call.Dir) && disk.Below(path.Clean(call.Dir), s.Project))
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
