package selfprotect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/internal/glob"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
)

// If a call searches for files or processes, its effects do not have their names. The words of the
// search say which they are.

// settingsNames matches names of the folders and files of agents' settings in a search.
const settingsNames = `(?:\.(?:claude|codex|gemini|cursor|qwen|opencode|approver)\b|\*(?:claude|codex|gemini|cursor)` +
	`|settings(?:\*|\.local|\.\*)?\.json|PreToolUse)`

// settingsLookups match a program that lists files with such a name, a filter that keeps such names
// in a list, and code that lists such a folder.
var settingsLookups = [...]*regexp.Regexp{
	regexp.MustCompile(`\b(?:git\s+(?:ls-files|ls-tree|grep|diff)|find|fd|fdfind|rg|grep\s+-\w*[rlRL]\w*|ls)\b` +
		`[^|;&\n)]*?` + settingsNames),
	regexp.MustCompile(`\|\s*(?:rg|[ef]?grep)\s+(?:-\w+\s+)*['"]?[^'"|]*(?:claude|codex|gemini|cursor|settings\\?\.json)`),
	regexp.MustCompile(`(?:glob|Path|walk|listdir|scandir|readdirSync|readdir|Dir\[|find)\(?[^;|\n]*?['"][^'"]*` +
		settingsNames),
}

// leavesOut matches what removes names from a list, and their pattern.
var leavesOut = lazyregexp.New(`(?:-not\s+-\w+\s+|\s!\s+-\w+\s+|\\!\s+-\w+\s+|:(?:!|\^|\([\w,]*exclude[\w,]*\)):?` +
	`|--(?:glob-not|exclude(?:-dir)?|ignore(?:-dir)?)[=\s]+` +
	`|-path\s+(?:\S+\s+)-prune|\s-E\s+|(?:\s|[gl=])['"]?!)['"]?([^\s'"]*)`)

// pruned matches the folders that find skips.
var pruned = lazyregexp.New(`-(?:i?path|i?name)\s+['"]?([^\s'"]+)['"]?\s+\)?\s*\\?\)?\s*-prune`)

// looksForSettings reports whether the call searches for files with names of agents' settings.
// Options that exclude such names do not count, and a filter that removes them from the list makes
// the search harmless.
func looksForSettings(text string) bool {
	text = leavesOut().ReplaceAllString(pruned().ReplaceAllString(text, " "), " ")
	for _, re := range settingsLookups {
		for _, at := range re.FindAllStringIndex(text, 8) {
			if !withoutSettings(pipeline(text[at[0]:])) {
				return true
			}
		}
	}
	inFolder := settingsFolder().MatchString(text)
	return slices.ContainsFunc(listers().FindAllString(text, 8), func(found string) bool {
		return slices.ContainsFunc(strings.Fields(found), func(word string) bool {
			word = strings.Trim(word, `"'`)
			// *s.json matches files of any project, but in a folder of settings it matches these.
			return madeForSettings(word) && (inFolder || !glob.Name(word, "versions.json"))
		})
	})
}

// listers match a program that lists files by patterns, and its words.
var listers = lazyregexp.New(`\b(?:git\s+(?:ls-files|ls-tree|grep)|find|fd|fdfind|rg|ls)\b[^|;&\n)]*`)

// madeForSettings reports whether a pattern matches a settings file, and none of a few other names:
// set*.json, *cl*.
func madeForSettings(pattern string) bool {
	if len(pattern) > 64 || !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	pattern = strings.TrimPrefix(pattern, "./")
	finds := func(name string) bool { return glob.Name(pattern, name) } // through folders
	return slices.ContainsFunc(settingsSamples, finds) && !slices.ContainsFunc(otherSamples, finds)
}

// settingsSamples are names and paths of settings, and otherSamples are those of other files.
var (
	settingsSamples = strings.Fields(`settings.json .claude/settings.json x/.claude/settings.json .codex/config.toml
		.claude .codex`)
	otherSamples = strings.Fields(`package.json a.json src/a.json .github/a.json a.toml src/a.toml .git src/config.toml
		.eslintrc`)
)

// counted matches what curl replaces by a part of the URL.
var counted = lazyregexp.New(`#[0-9]+`)

// namedByPattern reports whether a file in the folder of an agent's settings gets its name from a
// pattern, as in rename x settings .claude/x.json or curl -o '.claude/#1.json'.
func namedByPattern(ef *effect.Effect) bool {
	dir, base := path.Split(ef.Target)
	folder := path.Base(dir)
	switch ef.By {
	case "rename", "prename", "file-rename", "perl-rename", "mmv":
		return protected.IsAgentFolder(folder)
	case "split", "csplit", "gsplit", "gcsplit": // .claude/settings and .json make one name
		return protected.IsAgentFolder(folder) || protected.IsAgentFolder(base)
	case "curl":
		return counted().MatchString(folder) && folder[0] == '.' ||
			counted().MatchString(base) && protected.IsAgentFolder(folder)
	}
	return false
}

// manyProcesses are names so different that only a pattern for all processes matches each of them.
var manyProcesses = [...]string{"a1", "zsh", "systemd", "Xorg", "q-0"}

// These match programs that list processes, with their words.
var (
	grepped   = lazyregexp.New(`\bpgrep\s`)
	psListed  = lazyregexp.New("\\bps\\s([^)`;&\n]*)")
	openFiles = lazyregexp.New("\\blsof\\s([^)`;&\n]*)")
	inProc    = lazyregexp.New(`\bls\s+(?:-\w+\s+)*/proc/?\s*\||/proc/(?:\[[^\]\s]*\]|\*|\?)`)
	choosing  = lazyregexp.New(`grep|/|~|==|\bhead\s+-(?:n\s*)?1\b|\btail\s+-(?:n\s*)?1\b|\bfzf\b|\s-C` +
		`|\s-[qpgstG]\s|--p?pid|--sid|--tty`)
	inverting = lazyregexp.New(`\b[ef]?grep\s+(?:-\w+\s+)*(?:-\w*v\w*|--invert-match)\s+(?:-\w+\s+)*` +
		`(?:'[^']*'|"[^"]*"|[^\s|]+)`)
	compared = lazyregexp.New(`[=~]=?\s*["'/^]*appr`)
)

// pgrepChooses are the flags of pgrep that choose processes by their next word, and not by the
// owner.
const pgrepChooses = "PgGstFr"

// stopsEveryone reports whether the call stops processes that it searches for, and the search finds
// all, or all of one user, as in kill $(pgrep .) or ps -eo pid= | xargs kill.
func (c *Check) stopsEveryone() bool {
	if !slices.ContainsFunc(c.Effects, func(e effect.Effect) bool {
		return e.Kind == effect.Kill && e.Bits&effect.Remote == 0 &&
			(!effect.IsKnown(e.Target) || strings.Contains(e.Target, "["))
	}) {
		return false
	}
	greps := func(at []int) bool { return pgrepFindsAll(wordsAt(c.Text, at[1])) }
	lists := func(m []string) bool { return !chooses(m[1]) }
	opens := func(m []string) bool { return lsofFindsAll(m[1]) }
	return slices.ContainsFunc(grepped().FindAllStringIndex(c.Text, 8), greps) ||
		slices.ContainsFunc(psListed().FindAllStringSubmatch(c.Text, 8), lists) ||
		slices.ContainsFunc(openFiles().FindAllStringSubmatch(c.Text, 8), opens) ||
		inProc().MatchString(c.Text) && !procChosen(c.Text) || compared().MatchString(c.Text)
}

// chooses reports whether the words of a list of processes, or of a filter after it, select only
// some.
func chooses(words string) bool {
	return choosing().MatchString(" " + inverting().ReplaceAllString(words, " ") + " ")
}

// pgrepFindsAll reports whether these words of pgrep find all processes: a pattern for all, an inverted
// pattern, or only an owner.
func pgrepFindsAll(words []string) bool {
	chosen, whose := false, false
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], `"'`)
		switch {
		case word == "" || word[0] != '-' || word == "-":
			if findsAll(word) || slices.ContainsFunc(substituted(word), findsAll) {
				return true
			}
			chosen = true
		case strings.HasPrefix(word, "--inv"), word[1] != '-' && strings.Contains(word, "v"):
			return true
		case strings.HasPrefix(word, "--eui"), strings.HasPrefix(word, "--uid"):
			whose = true
			if !strings.Contains(word, "=") {
				i++
			}
		case word[1] == '-':
			chosen = chosen || slices.Contains([]string{"--pa", "--te", "--se", "--pg"}, word[:min(4, len(word))])
			if !strings.Contains(word, "=") && strings.HasPrefix(word, "--p") {
				i++
			}
		case strings.ContainsAny(word, pgrepChooses):
			chosen = true
			if strings.ContainsAny(word[len(word)-1:], pgrepChooses) {
				i++
			}
		case strings.ContainsAny(word, "uU"):
			whose = true
			if strings.ContainsAny(word[len(word)-1:], "uU") {
				i++
			}
		case word[len(word)-1] == 'd':
			i++
		}
	}
	return whose && !chosen
}

// lsofFindsAll reports whether these words of lsof list all processes, or those whose name begins like
// approver's.
func lsofFindsAll(words string) bool {
	words, filter, piped := strings.Cut(words, "|")
	list := strings.Fields(words)
	chosen := false
	for i := 0; i < len(list); i++ {
		word := strings.Trim(list[i], `"'`)
		flags, name, commands := strings.Cut(word, "c")
		switch {
		case word == "" || word[0] != '-':
			chosen = true
		case word == "-u":
			i++
		case commands && !strings.ContainsAny(flags, "iupgd"):
			if i++; name == "" && i < len(list) {
				name = strings.Trim(list[i], `"'`)
			}
			if name != "" && (strings.HasPrefix(ownProcess, name) ||
				name[0] == '/' && patternFinds(strings.Trim(name, "/"), ownProcess)) {
				return true
			}
			chosen = chosen || name != "" && name[0] != '^'
		case strings.ContainsAny(word, "ipUdgD") && !strings.HasPrefix(word, "-u"):
			chosen = true
		}
	}
	return !chosen && (!piped || !chooses(filter))
}

func findsAll(pattern string) bool {
	if len(pattern) > 64 || !effect.IsKnown(pattern) || strings.HasPrefix(pattern, "$") && len(pattern) > 1 {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && !slices.ContainsFunc(manyProcesses[:], func(name string) bool { return !re.MatchString(name) })
}
