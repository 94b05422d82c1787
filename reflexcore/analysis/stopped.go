package analysis

import (
	"path"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
)

// A process can be stopped by a number that the call looks up by a name: kill $(pgrep sshd), or a
// loop over what ps and grep print. It is the process of that name that is stopped, as with pkill.

// maxStopped limits the names that are taken from one call.
const maxStopped = 16

var (
	// lookups matches a program that finds processes, with all up to the end of its pipe.
	lookups = lazyregexp.New("\\b(?:pgrep|pidof|ps)\\s[^;&)`\\n]*")

	// filters match the pattern of a filter for the lines of ps.
	filters = lazyregexp.New(`\b[ef]?grep\s+(?:-[a-uw-zA-Z]+\s+)*['"]?([^'"\s]+)|[~ '"]/([^/]+)/` +
		`|==\s*\\?"([^"\\]+)|\s-C\s+(\S+)`)

	// numbered matches the file in which a service keeps its number.
	numbered = lazyregexp.New(`/run/(?:[\w.-]+/)*([\w.-]+?)\.pid\b`)

	// bracketed matches the letter by which a filter does not find itself: [s]shd.
	bracketed = lazyregexp.New(`\[(\w)\]`)
)

// stopsFound adds whose numbers a call looks up and stops.
func (a *Call) stopsFound() {
	by, text := "", a.ToolCall.Command
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == effect.Kill && e.Bits&effect.Remote == 0 && !effect.IsKnown(e.Target) {
			by = e.By
		}
	}
	if by == "" {
		return
	}
	var names []string
	for _, m := range numbered().FindAllStringSubmatch(text, maxStopped) {
		names = append(names, m[1])
	}
	for _, words := range lookups().FindAllString(text, maxStopped) {
		names = append(names, lookedFor(words)...)
	}
	for _, name := range names[:min(len(names), maxStopped)] {
		a.Effects = append(a.Effects, effect.Effect{Kind: effect.Kill, Target: name, Bits: effect.Partial, By: by, Step: -1})
	}
}

// lookedFor returns the names that a program which finds processes, and the filters behind it, look
// for.
func lookedFor(words string) []string {
	var names []string
	add := func(pattern string) {
		pattern = strings.Trim(bracketed().ReplaceAllString(pattern, "$1"), `"'^$\`)
		for name := range strings.SplitSeq(strings.ReplaceAll(pattern, `\|`, "|"), "|") {
			if name = strings.ToLower(path.Base(name)); len(name) > 1 {
				names = append(names, name)
			}
		}
	}
	if !strings.HasPrefix(words, "ps") {
		found, _, _ := strings.Cut(words, "|")
		for _, word := range strings.Fields(found)[1:] {
			if word[0] != '-' {
				add(word)
			}
		}
		return names
	}
	for _, m := range filters().FindAllStringSubmatch(words, maxStopped) {
		add(m[1] + m[2] + m[3] + m[4])
	}
	return names
}
