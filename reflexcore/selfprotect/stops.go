package selfprotect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
)

// A process can be stopped by its name, by a pattern that matches it, or by its number. The call
// can find the number by the name of the process, or by its open files.

// ownProcess is the name of approver's process, and ownLine is its command line.
const ownProcess, ownLine = "approver", "approver serve"

// stops says whether an effect stops approver: Deny if it names approver, Ask if a wide pattern
// also matches approver.
func (c *Check) stops(ef *effect.Effect) approver.Decision {
	switch {
	case namesApprover(ef.Target):
		return approver.Deny
	case ef.By == "fuser" &&
		(c.isOwnFile(ef.Target) || c.Around.Home != "" && disk.Below(c.Around.Home+"/.approver", ef.Target)):
		return approver.Deny
	case ef.By == "pkill" && ef.Target == "app":
		return approver.Pass // what people call what they work on
	case ef.By != "pkill" && ef.By != "killall" && ef.By != "skill" || ef.Bits&effect.Bulk != 0:
		return approver.Pass
	}
	if ef.By == "killall" && !regexpFlag().MatchString(c.Text) {
		return approver.Pass // it takes whole names
	}
	line := ef.By == "pkill" && patternFinds(ef.Target, ownLine) && fullFlag().MatchString(c.Text)
	if line || patternFinds(ef.Target, ownProcess) {
		return approver.Ask
	}
	return approver.Pass
}

var (
	// regexpFlag matches a killall that takes patterns, and fullFlag a pkill or pgrep that compares
	// whole command lines.
	regexpFlag = lazyregexp.New(`\bkillall\b[^;&|\n]*\s(?:-\w*r\w*|--regexp)\b`)
	fullFlag   = lazyregexp.New(`\bp(?:kill|grep)\b[^;&|\n]*?\s(?:-\w*f\w*|--full)\b`)
)

// patternFinds reports whether a pattern matches a name or a line, but not the empty text. Other
// rules ask about patterns that match nearly everything.
func patternFinds(pattern, text string) bool {
	if len(pattern) < 2 || len(pattern) > 64 || !effect.IsKnown(pattern) {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(text) && !re.MatchString("")
}

// namesApprover reports whether the target of a kill is approver: by its name, or by a pattern that
// was made to match it.
func namesApprover(target string) bool {
	target = strings.ToLower(target)
	if strings.Contains(target, "approver") {
		return true
	}
	literal := strings.Trim(target, "^$.*+?[]()|\\/ ")
	if len(target) > 64 || !effect.IsKnown(target) || len(literal) < 4 ||
		!strings.ContainsAny(target, "[.*?") && !strings.HasPrefix("approver", target) {
		return false
	}
	if ok, err := path.Match(target, "approver"); ok && err == nil { // as PowerShell reads it
		return true
	}
	re, err := regexp.Compile(target)
	return err == nil && re.MatchString("approver") && !re.MatchString("app") && !re.MatchString("server")
}

// lookups matches programs that print the numbers of processes, or information about them.
var lookups = lazyregexp.New(`\b(pgrep|pidof|fuser|lsof|ps|systemctl|pid\w*|launchctl)\b`)

// intoProcess matches a program that attaches to a process, or takes resources from it, with a
// number from a search.
var intoProcess = lazyregexp.New(`\b(?:gdb|lldb|dlv|gcore|strace|ltrace|perf|rr|frida\S*|prlimit|renice|ionice` +
	`|chrt|taskset|reptyr|pyrasite\S*|kill\w*)\b[^;|\n]*(?:\$\(|` + "`" + `)\s*(?:pgrep|pidof)\s([^)` + "`" + `]*)`)

// attached matches a debugger with the program and the number of its process.
var attached = lazyregexp.New(`\b(?:gdb|lldb)\s[^;|\n]*approver\s+\d+`)

// stopsByLookup reports whether the call stops an unknown process after a search for approver: kill
// $(pgrep appro), for p in /proc/*, kill $(fuser FILE).
func (c *Check) stopsByLookup() bool {
	into := func(m []string) bool { return c.looksFor("pgrep", m[1]) }
	if (strings.Contains(c.Text, "pgrep") || strings.Contains(c.Text, "pidof")) &&
		slices.ContainsFunc(intoProcess().FindAllStringSubmatch(c.Text, 8), into) {
		return true
	}
	everyProcess := strings.Contains(c.Text, "process_iter") && stopsOne().MatchString(c.Text)
	if strings.Contains(c.Text, "approver") && attached().MatchString(c.Text) {
		return true
	}
	if !everyProcess && !slices.ContainsFunc(c.Effects, func(ef effect.Effect) bool {
		return ef.Kind == effect.Kill && !effect.IsPlain(ef.Target)
	}) {
		return false
	}
	text := c.Text
	for at := 0; ; {
		loc := lookups().FindStringSubmatchIndex(text[at:])
		if loc == nil {
			break
		}
		word := text[at+loc[2] : at+loc[3]]
		at += loc[1]
		after := text[at:]
		if end := strings.IndexAny(after, ";&\n)`"); end >= 0 {
			after = after[:end]
		}
		if c.looksFor(word, after) {
			return true
		}
	}
	return strings.Contains(text, "approver.pid") ||
		strings.Contains(text, "appro") && (strings.Contains(text, "/proc/") || everyProcess)
}

// stopsOne matches code that stops a process, in a loop over all of them.
var stopsOne = lazyregexp.New(`\.(?:kill|terminate|suspend|send_signal)\(`)

// filters matches the pattern of a filter for processes.
var filters = lazyregexp.New(`grep\s+(?:-\w+\s+)*['"]?([^'"|\s]+)|awk\s+['"]/([^/]+)/`)

// looksFor reports whether a program that searches for processes would find approver.
func (c *Check) looksFor(program, words string) bool {
	if strings.Contains(words, "approver") {
		return true
	}
	switch program {
	case "ps": // ps aux | grep '[a]ppr'
		return slices.ContainsFunc(filters().FindAllStringSubmatch(words, 8), func(m []string) bool {
			return patternFinds(m[1]+m[2], ownProcess) || patternFinds(m[1]+m[2], ownLine)
		})
	case "pgrep", "pidof":
		full := fullFlag().MatchString("pgrep " + words)
		for _, word := range strings.Fields(words) {
			if word[0] == '|' || word[0] == '>' {
				break
			}
			pattern := strings.Trim(word, `"'`)
			if word[0] != '-' && (patternFinds(pattern, ownProcess) || full && patternFinds(pattern, ownLine)) {
				return true
			}
		}
	case "fuser", "lsof":
		return slices.ContainsFunc(strings.Fields(words), func(word string) bool {
			return word == "-U" || word[0] != '-' && c.isOwnFile(strings.Trim(word, `"'`))
		})
	}
	return false
}

// isOwnFile reports whether a word of the call names one of approver's own files, under
// any name that it has on the disk.
func (c *Check) isOwnFile(word string) bool {
	if word == "" || strings.ContainsAny(word, "$:") {
		return false
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		word = c.Around.Home + "/" + rest
	}
	if word[0] != '/' {
		word = strings.TrimSuffix(c.ToolCall.Dir, "/") + "/" + word
	}
	ef := effect.Effect{Kind: effect.Write, Target: path.Clean(word)}
	return protected.IsOwn(ef.Target) || slices.ContainsFunc(c.Names.Others(&ef), protected.IsOwn)
}
