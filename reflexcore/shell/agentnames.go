package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// agentQuiet are the words with which an agent only says, fetches or stores something.
var agentQuiet = wordSet(`help version doctor update upgrade install uninstall login logout auth status mcp config configure completion completions models model list ls plugin plugins stats sessions whoami usage info cache feedback
	-h --help -help -v -V --version -version`)

// agentServes are the words behind a quiet one that start it all the same.
var agentServes = wordSet("serve server start run")

// agentRecords are the words for what agents have kept of their work, and agentLists those
// that then say or store something and start nothing.
var (
	agentRecords = wordSet("session sessions thread threads conversation conversations history")
	agentLists   = wordSet("list ls delete rm remove export show info search")
)

// agentsNamed are the agents by the names of their programs, in small letters.
var agentsNamed = func() map[string][]*agent {
	m := map[string][]*agent{}
	for i := range agentPrograms {
		a := &agentPrograms[i]
		for name := range strings.FieldsSeq(a.names) {
			m[name] = append(m[name], a)
		}
	}
	return m
}()

// AgentOf is the agent that a file is, by its path, if those words start it; empty: it is
// none, or is not started.
func AgentOf(file string, words []string) string {
	base := programName(file)
	args := make([]field, len(words))
	for i, w := range words {
		args[i].text = w
	}
	for _, a := range agentsNamed[base] {
		if elsewhere(a.id, args) {
			return "copy of " + a.id
		}
		if a.begins(args, false) {
			return a.id
		}
	}
	id := installedOf(file)
	if id == "" {
		id = versionOf(file)
	}
	if ClaudeInstalled(file) {
		id = "claude"
	}
	if elsewhere(id, args) {
		return "copy of " + id
	}
	if installedStarts(id, args) {
		return id
	}
	return ""
}

// installedStarts reports whether those words start an agent that is known by where it is
// installed, and not by a name that means other programs too.
func installedStarts(id string, args []field) bool {
	return slices.ContainsFunc(agentPrograms, func(a agent) bool {
		return a.id == id && a.starts == "" && (elsewhere(id, args) || a.begins(args, false))
	})
}

// IsAgent reports whether a program of that name is an agent, however it is started.
func IsAgent(name string) bool {
	return slices.ContainsFunc(agentsNamed[programName(name)], func(a *agent) bool { return a.starts == "" })
}

// MayBeAgent reports whether a file is an agent by its path, with some words.
func MayBeAgent(file string) bool {
	return len(agentsNamed[programName(file)]) > 0 || installedOf(file) != "" || versionOf(file) != ""
}

// moduleOf is the agent that a module of Python is, if those words start it.
func moduleOf(module string, args []field) string {
	module, _, _ = strings.Cut(module, ".")
	for _, a := range agentsNamed[strings.ReplaceAll(module, "_", "-")] {
		if a.begins(args, false) {
			return a.id
		}
	}
	return ""
}

// versionOf is the agent that keeps its programs in a folder of its own, by their
// versions: ~/.local/share/claude/versions/2.1.0.
func versionOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "versions" {
		return packageOf(path.Base(path.Dir(dir)))
	}
	return ""
}

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// begins reports whether the words behind an agent's name start it. Its input is what it
// is to do if it is fed.
func (a *agent) begins(args []field, fed bool) bool {
	if len(args) > 1 && agentRecords[args[0].text] && agentLists[args[1].text] {
		return false
	}
	if a.starts != "" {
		return a.beginsWith(args, fed)
	}
	if len(args) == 0 {
		return true
	}
	first := args[0].text
	if last := args[len(args)-1].text; len(args) == 2 && (last == "--help" || last == "-h" || last == "--version") {
		return false
	}
	if len(args) == 2 && contains(a.answers, first) && args[1].text != "" && args[1].known() && args[1].text[0] != '-' {
		return false
	}
	if len(args) > 1 && contains(a.quiet, first+":"+args[1].text) {
		return false
	}
	if (!agentQuiet[first] || contains(a.loud, first)) && !contains(a.quiet, first) {
		return true
	}
	if first != "" && first[0] == '-' {
		return len(args) > 1 && first != "--help" && first != "--version"
	}
	return len(args) > 1 && agentServes[args[1].text]
}

// beginsWith is begins of an agent whose name means other programs too.
func (a *agent) beginsWith(args []field, fed bool) bool {
	if len(args) == 0 {
		return contains(a.starts, ".") || fed && a.fed
	}
	first := args[0].text
	if a.said && strings.Contains(first, " ") && first[0] != '-' {
		return true
	}
	for i, f := range args {
		flag, _, _ := strings.Cut(f.text, "=")
		switch {
		case flag == "" || flag == ".":
		case i == 0 && flag[0] != '-' && contains(a.starts, flag): // gh agent-task list
			return len(args) == 1 || !contains(a.quiet, first+":"+args[1].text) && (&agent{quiet: a.quiet}).begins(args[1:], fed)
		case flag[0] == '-' && contains(a.starts, flag), i == 0 && contains(a.starts, "^"+flag):
			return true
		}
	}
	return false
}

// contains reports whether a list of words has a word.
func contains(list, word string) bool {
	if word == "" {
		return false
	}
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// programName is the name of a program without its folder, its version and its ending, in
// small letters.
func programName(word string) string {
	if isBare(word) { // most
		return word
	}
	word = strings.ToLower(word[max(strings.LastIndexByte(word, '/'), strings.LastIndexByte(word, '\\'))+1:])
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	if strings.IndexByte(word, '.') < 0 && strings.IndexByte(word, '-') < 0 { // most
		return word
	}
	for _, ending := range [...]string{".exe", ".cmd", ".ps1", ".bat", ".js", ".mjs", ".cjs", ".git"} {
		word = strings.TrimSuffix(word, ending)
	}
	for _, machine := range [...]string{"-x86_64", "-aarch64", "-arm64", "-linux", "-darwin", "-macos"} {
		if plain, _, ok := strings.Cut(word, machine); ok && len(agentsNamed[plain]) > 0 {
			return plain // codex-x86_64-unknown-linux-musl
		}
	}
	return word
}

// isBare reports whether a word has small letters, digits and underscores only.
func isBare(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// unnumbered is a program's name without the version at its end, as in python3.11.
func unnumbered(name string) string {
	for name != "" && (name[len(name)-1] == '.' || name[len(name)-1] >= '0' && name[len(name)-1] <= '9') {
		name = name[:len(name)-1]
	}
	return name
}

// packageName is a name with its scope, without a version, in small letters.
func packageName(word string) string {
	word = strings.ToLower(word)
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	return word
}

// packageOf is the agent of a package; empty: it is none.
func packageOf(word string) string {
	for _, key := range [...]string{packageName(word), programName(word)} {
		for _, a := range agentsNamed[key] {
			if a.starts == "" {
				return a.id
			}
		}
	}
	return ""
}

// imageOf is the agent of a container's image; its tag may name it.
func imageOf(word string) string {
	image, tag, _ := strings.Cut(word[strings.LastIndexByte(word, '/')+1:], ":")
	image, _, _ = strings.Cut(image, "@")
	if owner := strings.TrimSuffix(word[:strings.LastIndexByte(word, '/')+1], "/"); owner != "" {
		if id := packageOf(owner[strings.LastIndexByte(owner, '/')+1:] + "/" + image); id != "" {
			return id
		}
	}
	if id := packageOf(image); id != "" {
		return id
	}
	return packageOf(tag)
}

// inPath reports whether a word is a program as which prints it, or lies where programs do.
func inPath(word string) bool {
	dir, base := path.Split(word)
	if strings.HasSuffix(dir, "bin/") && strings.HasSuffix(base, "js") {
		return true
	}
	return !strings.Contains(base, ".") && (dir == "" || strings.HasSuffix(path.Base(dir), "bin"))
}

// installedOf is the agent of which a file is installed.
func installedOf(word string) string {
	parts := strings.Split(word, "/")
	for i, part := range parts {
		if id := packageOf(strings.ReplaceAll(part, "_", "-")); id != "" && i > 0 && (strings.HasSuffix(parts[i-1], "-packages") || parts[i-1] == "node_modules" || parts[i-1] == ".bin" || strings.HasPrefix(parts[i-1], "@") || parts[i-1] == effect.Unknown && i+2 < len(parts)) {
			return id
		}
	}
	return ""
}
