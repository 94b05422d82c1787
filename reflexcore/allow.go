package reflexcore

import (
	"fmt"
	"path"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/effect"
)

// An Allowance is an exception from a rule: within its scope, and up to its end,
// what the rule finds is dropped. The zero value allows nothing.
type Allowance struct {
	Scope `json:"scope"`
	// Expires is when it ends, by the time of the call.
	Expires time.Time `json:"expires"`
	// Reason says why, for people.
	Reason string `json:"reason"`
	// Where it stands.
	Where approver.Position `json:"where,omitzero"`
}

// A Scope says for which calls an exception is made: for those that are all that it
// names. The zero Scope is no call's.
type Scope struct {
	// Command is the whole command, word by word: * is any text without a slash, **
	// any text, and ** as the last word any more words. A command that does more
	// than run one program with plain words is never meant.
	Command string `json:"command,omitempty"`
	// Path is an absolute folder or file: what the rule found is there or below.
	Path string `json:"path,omitempty"`
	// Agent is the agent's name.
	Agent string `json:"agent,omitempty"`
	// Project is an absolute folder: the call works there or below.
	Project string `json:"project,omitempty"`
}

// String says why up to which day, and where that stands.
func (a *Allowance) String() string {
	return fmt.Sprintf("%s (%s, until %s)", a.Where, display.OneLine(a.Reason), a.Expires.Add(-time.Nanosecond).UTC().Format(time.DateOnly))
}

// past reports whether an end is over at a time. A call whose time is not known
// is past no end.
func past(end, now time.Time) bool { return !end.IsZero() && !now.IsZero() && !now.Before(end) }

// exception returns the exception that drops a finding, or nil.
func (w *work) exception(f *finding) *Allowance {
	for i := range f.rule.Allow {
		a := &f.rule.Allow[i]
		if !a.Expires.IsZero() && !w.call.At.IsZero() && w.call.At.Before(a.Expires) && w.within(a.Scope, f) {
			return a
		}
	}
	return nil
}

// excused drops with the finding of an exception also what rules that it outranks say
// of the same effect: most things are found by one rule that knows them and by others
// that are more general, and people made the exception for the thing.
func (w *work) excused() {
	for i := range w.findings {
		f := &w.findings[i]
		if f.allowed == nil || f.effect < 0 {
			continue
		}
		for j := range w.findings {
			g := &w.findings[j]
			if g.allowed == nil && g.effect == f.effect && !g.rule.Final() && g.rule.Layer != ProjectLayer && stricter(f, g) {
				g.allowed = f.allowed
			}
		}
	}
}

// within reports whether a finding is all that a scope names.
func (w *work) within(s Scope, f *finding) bool {
	return s != Scope{} &&
		(s.Command == "" || matchCommand(s.Command, w.call.Command)) &&
		(s.Path == "" || f.effect >= 0 && holdsAll(s.Path, &w.effects[f.effect])) &&
		(s.Agent == "" || s.Agent == w.call.Agent) &&
		(s.Project == "" || path.IsAbs(w.call.Dir) && below(path.Clean(w.call.Dir), s.Project))
}

// holdsAll reports whether all that an effect is about is certain to be a folder or
// something in it.
func holdsAll(folder string, e *effect.Effect) bool {
	t := e.Target
	wild := strings.ContainsAny(t, "*?[")
	// A wildcard never matches a slash, and .. only behind a dot.
	return e.Known() && path.IsAbs(t) && path.Clean(t) == strings.TrimSuffix(t, "/") && (!wild || !strings.Contains(t, "/.")) && below(path.Clean(t), folder)
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
func matchWord(glob, word string) bool {
	if !strings.Contains(glob, "*") {
		return glob == word
	}
	for part := range strings.SplitSeq(word, "/") {
		if part == ".." {
			return false
		}
	}
	return wildcard(glob, word)
}

// wildcard compares a word, with all places in the pattern at once.
func wildcard(glob, word string) bool {
	at := make([]bool, len(glob)+1)
	at[0] = true
	skip := func() {
		for i := range glob { // a star may be nothing
			at[i+1] = at[i+1] || at[i] && glob[i] == '*'
		}
	}
	skip()
	for j := range len(word) {
		next := make([]bool, len(glob)+1)
		for i := range glob {
			deep := i > 0 && glob[i-1] == '*' || i+1 < len(glob) && glob[i+1] == '*'
			switch {
			case !at[i]:
			case glob[i] == '*':
				next[i] = next[i] || deep || word[j] != '/'
			case glob[i] == word[j]:
				next[i+1] = true
			}
		}
		at = next
		skip()
	}
	return at[len(glob)]
}
