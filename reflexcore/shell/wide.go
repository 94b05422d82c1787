package shell

import (
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// findsAll reports whether a pattern of pkill, or of killall -r, finds every process: it
// matches nothing at all, or the flag turns it around.
func (l *commandLine) findsAll(word int, pattern string) bool {
	name := programName(l.argv[0])
	if word < 1 || name != "pkill" && name != "killall" || len(pattern) > 64 || !effect.IsKnown(pattern) {
		return false
	}
	flag := func(letter byte, long string) bool {
		return slices.ContainsFunc(l.argv[1:], func(w string) bool {
			return w == long || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ToUpper(w) != w && strings.IndexByte(w, letter) > 0
		})
	}
	if name == "killall" && !flag('r', "--regexp") {
		return false
	}
	if name == "pkill" && (flag('v', "--inverse")) {
		return true
	}
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString("")
}

// resolved is the name of an agent whose program was looked up, and whose links are then
// followed: readlink -f "$(which codex)". What other paths lead to is not known.
func (l *commandLine) resolved(words []field) (data, bool) {
	if name := programName(l.argv[0]); name != "readlink" && name != "realpath" && name != "greadlink" && name != "grealpath" {
		return data{}, false
	}
	for i, w := range l.argv[1:] {
		if w == "" || w[0] == '-' || !effect.IsKnown(w) {
			continue
		}
		if (len(agentsNamed[packageName(w)]) > 0 || w == ownName) && inPath(w) {
			return data{w + "\n", words[1+i].taint}, true
		}
	}
	return data{}, false
}
