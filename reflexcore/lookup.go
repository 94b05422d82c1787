package reflexcore

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// Files and processes that a call looks up have no name in what it does with them. The
// words of the lookup say which they are.

// settingsNames are how the folders and files of agents' settings are written in a lookup.
const settingsNames = `(?:\.(?:claude|codex|gemini|cursor|qwen|opencode|approver)\b|\*(?:claude|codex|gemini|cursor)` +
	`|settings(?:\*|\.local|\.\*)?\.json|PreToolUse)`

// settingsLookups find a program that lists files by such a name, a filter that keeps such
// names of a list, and code that goes through such a folder.
var settingsLookups = [...]*regexp.Regexp{
	regexp.MustCompile(`\b(?:git\s+(?:ls-files|ls-tree|grep|diff)|find|fd|fdfind|rg|grep\s+-\w*[rlRL]\w*|ls)\b[^|;&\n)]*?` + settingsNames),
	regexp.MustCompile(`\|\s*(?:rg|[ef]?grep)\s+(?:-\w+\s+)*['"]?[^'"|]*(?:claude|codex|gemini|cursor|settings\\?\.json)`),
	regexp.MustCompile(`(?:glob|Path|walk|listdir|scandir|readdirSync|readdir|Dir\[|find)\(?[^;|\n]*?['"][^'"]*` + settingsNames),
}

// leavesOut finds what keeps a name out of a list.
var leavesOut = regexp.MustCompile(`-not\s|\s!\s|:!|--exclude|--invert|-prune|\sgrep\s+-\w*v|\s-E\s|[\s'"]!`)

// looksForSettings reports whether the call looks up files by the names that settings of
// agents have, and does not do so to leave them out.
func (w *work) looksForSettings() bool {
	for _, re := range settingsLookups {
		for _, found := range re.FindAllString(w.text, 8) {
			if !leavesOut.MatchString(" " + found) {
				return true
			}
		}
	}
	return false
}

// counted finds what curl puts a part of the address in the place of.
var counted = regexp.MustCompile(`#[0-9]+`)

// namedByPattern reports whether a file in the folder of an agent's settings gets its name from a
// pattern: rename x settings .claude/x.json, curl -o '.claude/#1.json'.
func namedByPattern(ef *effect.Effect) bool {
	dir, base := path.Split(ef.Target)
	folder := path.Base(dir)
	switch ef.By {
	case "rename", "prename", "file-rename", "perl-rename", "mmv":
		return isAgentFolder(folder)
	case "curl":
		return counted.MatchString(folder) && folder[0] == '.' ||
			counted.MatchString(base) && isAgentFolder(folder)
	}
	return false
}

// manyProcesses are names so different that only a pattern for all finds each of them.
var manyProcesses = [...]string{"a1", "zsh", "systemd", "Xorg", "q-0"}

// processLists find a list of processes, and the words of it.
var (
	grepped  = regexp.MustCompile("\\bpgrep\\s([^)`|;&\n]*)")
	psListed = regexp.MustCompile("\\bps\\s([^)`;&\n]*)")
	inProc   = regexp.MustCompile(`\bls\s+(?:-\w+\s+)*/proc/?\s*\|`)
	choosing = regexp.MustCompile(`grep|/|~|==|\bhead\b|\btail\b|\bfzf\b|\s-C|\s-[qpgstG]\s|--p?pid|--sid|--tty`)
	compared = regexp.MustCompile(`[=~]=?\s*["'/^]*appr`)
)

// stopsEveryone reports whether processes are stopped that were looked up, and the lookup
// finds all: kill $(pgrep .), ps -eo pid= | xargs kill.
func (w *work) stopsEveryone() bool {
	if !slices.ContainsFunc(w.effects, func(e effect.Effect) bool {
		return e.Kind == effect.Kill && e.Bits&effect.Remote == 0 && !effect.IsKnown(e.Target)
	}) {
		return false
	}
	for _, m := range grepped.FindAllStringSubmatch(w.text, 8) {
		for _, word := range strings.Fields(m[1]) {
			if word[0] != '-' && findsAll(strings.Trim(word, `"'`)) {
				return true
			}
		}
	}
	for _, m := range psListed.FindAllStringSubmatch(w.text, 8) {
		if !choosing.MatchString(" " + m[1] + " ") {
			return true
		}
	}
	return inProc.MatchString(w.text) || compared.MatchString(w.text)
}

func findsAll(pattern string) bool {
	if len(pattern) > 64 || !effect.IsKnown(pattern) || strings.HasPrefix(pattern, "$") && len(pattern) > 1 {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && !slices.ContainsFunc(manyProcesses[:], func(name string) bool { return !re.MatchString(name) })
}
