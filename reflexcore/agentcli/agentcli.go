// Package agentcli knows the command lines of coding agents: which program is an agent, by its
// name, its package, its image or where it is installed, and whether a command line starts it.
//
// agentcli.go says what a command starts. unhooked.go and claude.go say which flags and commands of
// Claude Code are harmless; a start with any other is a question. names.go parses the names of
// programs and packages, and table.go reads the list of agents, programs.txt.
package agentcli

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// quietWords are the words with which an agent only prints, fetches or stores something.
var quietWords = wordset.Of(`help version doctor update upgrade install uninstall login logout auth status mcp
	config configure completion completions models model list ls plugin plugins stats sessions whoami usage info
	cache feedback
	-h --help -help -v -V --version -version`)

// servingWords are the words that start an agent even after a quiet word.
var servingWords = wordset.Of("serve server start run")

// recordWords are the words for records of an agent's work, and listWords are the words after
// them that start nothing.
var (
	recordWords = wordset.Of("session sessions thread threads conversation conversations history")
	listWords   = wordset.Of("list ls delete rm remove export show info search")
)

// StartedBy returns the agent at a path, if these words start it; empty: it is no agent, or is not
// started.
func StartedBy(file string, words []string) string {
	for _, a := range named[ProgramName(file)] {
		if Unhooked(a.ID, words) {
			return "copy of " + a.ID
		}
		if a.Begins(words, false) {
			return a.ID
		}
	}
	id := InstalledOf(file)
	if id == "" {
		id = VersionOf(file)
	}
	if ClaudeInstalled(file) {
		id = "claude"
	}
	if Unhooked(id, words) {
		return "copy of " + id
	}
	if InstalledStarts(id, words) {
		return id
	}
	return ""
}

// InstalledStarts reports whether these words start an agent that is recognized by its folder, and
// not by a name that other programs have, too.
func InstalledStarts(id string, args []string) bool {
	return slices.ContainsFunc(programs, func(a Agent) bool {
		return a.ID == id && a.AnyWords() && (Unhooked(id, args) || a.Begins(args, false))
	})
}

// IsAgent reports whether a program with this name is an agent, however it is started.
func IsAgent(name string) bool {
	return slices.ContainsFunc(named[ProgramName(name)], func(a *Agent) bool { return a.AnyWords() })
}

// MayBeAgent reports whether the program at a path is an agent, at least with some words.
func MayBeAgent(file string) bool {
	return len(named[ProgramName(file)]) > 0 || InstalledOf(file) != "" || VersionOf(file) != ""
}

// ModuleOf returns the agent of a Python module, if these words start it.
func ModuleOf(module string, args []string) string {
	module, part, _ := strings.Cut(module, ".")
	if runsNoAgent(part[strings.LastIndexByte(part, '.')+1:]) {
		return ""
	}
	for _, a := range named[strings.ReplaceAll(module, "_", "-")] {
		if a.Begins(args, false) {
			return a.ID
		}
	}
	return ""
}

// runsNoAgent reports whether the name of a module inside of an agent's package says that it builds or shows
// something, and nothing else. Any other module of it may start the agent.
func runsNoAgent(part string) bool {
	says := false
	for word := range strings.SplitSeq(part, "_") {
		verb := wordset.Has("build visualize format export convert version stats schema", word)
		if says = says || verb; !verb && !wordset.Has(shownThings, word) {
			return false
		}
	}
	return says
}

// shownThings are what such modules build or show.
const shownThings = "runtime resolver output outputs result results report image images docker container data " +
	"dataset trajectory trajectories docs json csv html"

// Named returns the agents whose program, package or image has a name, which is in lower case.
func Named(name string) []*Agent { return named[name] }

// Names returns all of these names.
func Names() iter.Seq[string] { return maps.Keys(named) }

// Matching returns the agents whose program a pattern matches.
func Matching(pattern string) (out []*Agent) {
	for i := range programs {
		for name := range strings.FieldsSeq(programs[i].names) {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				out = append(out, &programs[i])
				break
			}
		}
	}
	return out
}

// Begins reports whether the words after an agent's name start it. If it is fed, its input says
// what to do.
func (a *Agent) Begins(args []string, fed bool) bool {
	if len(args) > 1 && recordWords[args[0]] && listWords[args[1]] {
		return false
	}
	if a.starts != "" {
		return a.beginsWith(args, fed)
	}
	if len(args) == 0 {
		return !wordset.Has(a.quiet, ".")
	}
	first := args[0]
	if last := args[len(args)-1]; len(args) == 2 && (last == "--help" || last == "-h" || last == "--version") {
		return false
	}
	if len(args) == 2 && wordset.Has(a.answers, first) && args[1] != "" && effect.IsKnown(args[1]) && args[1][0] != '-' {
		return false
	}
	if len(args) > 1 && wordset.Has(a.quiet, first+":"+args[1]) {
		return false
	}
	if (!quietWords[first] || wordset.Has(a.loud, first)) && !wordset.Has(a.quiet, first) {
		return true
	}
	if first != "" && first[0] == '-' {
		return len(args) > 1 && first != "--help" && first != "--version"
	}
	return len(args) > 1 && servingWords[args[1]]
}

// beginsWith is [Agent.Begins] for an agent whose name other programs have, too.
func (a *Agent) beginsWith(args []string, fed bool) bool {
	if len(args) == 0 {
		return wordset.Has(a.starts, ".") || fed && a.fed
	}
	first := args[0]
	if a.said && first != "" && (strings.Contains(first, " ") && first[0] != '-' || first[0] == '@') {
		return true
	}
	for i, f := range args {
		flag, _, _ := strings.Cut(f, "=")
		switch {
		case flag == "" || flag == ".":
		case i == 0 && flag[0] != '-' && wordset.Has(a.starts, flag): // gh agent-task list
			return len(args) == 1 || !wordset.Has(a.quiet, first+":"+args[1]) && (&Agent{quiet: a.quiet}).Begins(args[1:], fed)
		case flag[0] == '-' && wordset.Has(a.starts, flag), i == 0 && wordset.Has(a.starts, "^"+flag):
			return true
		}
	}
	return false
}
