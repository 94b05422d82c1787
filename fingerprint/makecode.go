package fingerprint

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds the code that a makefile runs outside of its recipes, and what changes how
// recipes run: functions, the shell, and variables. Everything else is reported.

// opaqueCalls are functions of make that turn text into rules or other code.
var opaqueCalls = []string{"$(eval ", "${eval ", "$(guile ", "${guile ", "$(file ", "${file "}

// noteLine notes how a line outside of recipes changes the way in which recipes run.
func (m *makefile) noteLine(body string) {
	m.plain = append(m.plain, body)
	words := strings.Fields(body)
	switch {
	case strings.Contains(body, "MAKEFLAGS") && slices.ContainsFunc(words, readsMore):
		m.short = true
	case opaqueWords[words[0]], wordset.ContainsAny(body, opaqueCalls...):
		m.short = true
	case words[0] == "vpath" && len(words) > 2:
		m.vpaths = append(m.vpaths, strings.Join(words[2:], " "))
	case strings.HasPrefix(body, "[") && strings.ContainsAny(body, "]") && wordset.ContainsAny(body, justFolders...):
		m.short = true
	case words[0] == "export" && !strings.ContainsAny(body, "=:"):
		for _, name := range words[1:] {
			m.exported[name] = true
		}
		m.exportAll = m.exportAll || len(words) == 1
	case words[0] == "set" && len(words) > 1 &&
		!slices.Contains([]string{"positional-arguments", "export", "quiet", "fallback", "allow-duplicate-recipes",
			"allow-duplicate-variables", "ignore-comments", "dotenv-load", "unstable"}, words[1]):
		m.short = true // of just: another shell, another folder, other files
	}
}

// justFolders are attributes of a recipe of just that change where or how it runs.
var justFolders = []string{"working-directory", "no-cd", "script", "extension"}

// readsMore reports whether a word may be a flag that makes make read more rules.
func readsMore(word string) bool {
	return wordset.HasAnyPrefix(word, "-I", "-E", "-f", "--include-dir", "--eval", "--file", "--makefile")
}

// isSpecial notes how a special target changes all recipes.
func (m *makefile) isSpecial(target string) {
	switch target {
	case ".ONESHELL":
		m.oneShell = true
	case ".EXPORT_ALL_VARIABLES":
		m.exportAll = true
	case ".SECONDEXPANSION":
		m.short = true
	}
	if strings.ToUpper(target) == target && len(target) > 1 && target[1] >= 'A' &&
		!strings.ContainsAny(target[1:], "./") && !special[target] {
		m.short = true
	}
}

// automatic replaces the automatic variables in the recipe of a target.
func (m *makefile) automatic(target string) []string {
	r := m.rules[target]
	first, folder, base := effect.Unknown, path.Dir(target), path.Base(target)
	needs := make([]string, 0, len(r.needs))
	for _, need := range r.needs {
		needs = append(needs, m.locate(need))
	}
	all := strings.Join(needs, " ")
	if m.isFile != nil && m.isFile(target) { // what a rule makes is not bound
		target = effect.Unknown
	}
	if len(needs) > 0 {
		first = needs[0]
	}
	if slices.Contains(r.needs, "|") {
		all, first = effect.Unknown, effect.Unknown
	}
	put := strings.NewReplacer("$$", "$$", "$@", target, "$(@)", target, "${@}", target, "$(@D)", folder, "$(@F)", base,
		"$<", first, "$(<)", first, "${<}", first, "$^", all, "$(^)", all, "${^}", all, "$+", all, "$(+)", all)
	out := make([]string, 0, len(r.lines))
	for _, line := range r.lines {
		out = append(out, put.Replace(line))
	}
	return out
}

// locate is the place where make finds a prerequisite: its working folder, or the folders of VPATH
// and vpath. The patterns of vpath are ignored: all of its folders are searched.
func (m *makefile) locate(need string) string {
	search := m.setting("VPATH")
	if search == "" && len(m.vpaths) == 0 || path.IsAbs(need) || !effect.IsKnown(need) || m.isFile == nil ||
		m.isFile(need) {
		return need
	}
	for _, list := range append([]string{search}, m.vpaths...) {
		list = m.expand(list)
		if !effect.IsKnown(list) {
			return effect.Unknown
		}
		for _, dir := range splitAny(list, ": \t;") {
			if at := path.Join(dir, need); m.isFile(at) {
				return at
			}
		}
	}
	return need
}

var (
	shellFound = regexp.MustCompile(
		`^\$[({]shell\s+(?:which|command -v|type -[pP])\s+(?:ba|da|z|k)?sh(?:\s+2>\s*/dev/null)?\s*[)}]$`)
	shellFlag = regexp.MustCompile(
		`^(?:[-+][abefhkmnuvxBCEHPTo]*c?|-{0,2}(?:errexit|nounset|pipefail|xtrace|verbose|noglob|` +
			`errtrace|functrace|noprofile|norc|posix|inherit_errexit)|-O)$`)
)

// searchPlaces are the folders in which make searches prerequisites.
func (m *makefile) searchPlaces(dir string) []string {
	places := []string{dir}
	for _, list := range append([]string{m.setting("VPATH")}, m.vpaths...) {
		for _, at := range splitAny(m.expand(list), ": \t;") {
			at = filepath.Clean(abs(dir, at))
			if effect.IsKnown(at) && !slices.Contains(places, at) {
				if len(places) >= disk.MaxBases {
					m.short = true
					return places
				}
				places = append(places, at)
			}
		}
	}
	return places
}

// needsOnly reports whether each line of a text is "object: sources", with no rule of
// its own for a source.
func (m *makefile) needsOnly(text string) bool {
	for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		targets, needs, ok := strings.Cut(line, ":")
		if !ok || line[0] == '\t' || strings.ContainsAny(line, "$;=%#|&*?[") || strings.ContainsAny(needs, ":") {
			return false
		}
		for _, name := range strings.Fields(targets) {
			phony := sources[filepath.Ext(name)] && strings.TrimSpace(needs) == "" // of -MP
			if !phony && !objects[filepath.Ext(name)] || phony && m.makes(name) {
				return false
			}
		}
		for _, name := range strings.Fields(needs) {
			if !sources[filepath.Ext(name)] || m.makes(name) {
				return false
			}
		}
	}
	return true
}

// makes reports whether a makefile has a rule by which a file could be made.
func (m *makefile) makes(name string) bool {
	if r := m.rules[name]; r != nil && len(r.lines)+len(r.needs) > 0 {
		return true
	}
	return slices.ContainsFunc(m.patterns, func(pattern string) bool {
		before, after, _ := strings.Cut(pattern, "%")
		return strings.ContainsRune(pattern, 0) || pattern[0] == '.' && strings.HasSuffix(name, filepath.Ext(pattern)) ||
			strings.Contains(pattern, "%") && strings.HasPrefix(filepath.Base(name),
				before[strings.LastIndexByte(before, '/')+1:]) && strings.HasSuffix(name, after)
	})
}
