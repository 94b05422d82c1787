package fingerprint

import (
	"maps"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"

	"approver.example/reflexcore/effect"
)

// This file reads recipes: of make, and of just, whose files look alike enough.

// A makefile is what is read of one and what it includes: the values of its variables,
// where there is only one, the recipes of its targets and on which others these depend.
type makefile struct {
	vars     map[string]string
	given    map[string]string // what the command gives goes before
	rules    map[string]*rule
	first    string
	patterns []string // targets that are patterns, or not known
	other    []string // recipes of patterns, and what belongs to no target
	includes []string
	within   []string // variables that are being looked up
	spent    int      // values that were looked up
	short    bool     // something is not followed

	dir       string            // where it runs
	isFile    func(string) bool // a target that lies there, and is no folder
	lists     func(string) []string
	carried   map[string]string // the environment
	searched  []string          // folders of what it includes
	vpaths    []string          // folders of vpath
	env       map[string]string // what recipes are given; nil until it is known
	exported  map[string]bool
	exportAll bool
	oneShell  bool     // a recipe is one text
	plain     []string // lines that are no recipes
}

// Bounds of a makefile.
const (
	maxValues  = 10_000 // how often variables are replaced by others
	maxTargets = 4096   // targets that others need
)

type rule struct{ needs, lines []string }

// recipesOf are the recipes of targets and of what they need, and those that these may need
// where it is not known.
func (m *makefile) recipesOf(targets []string) (asked, maybe []string) {
	asked = m.joined(slices.Clone(m.other))
	if !slices.ContainsFunc(targets, func(t string) bool { return m.rules[t] != nil }) && m.first != "" {
		targets = append(targets, m.first)
	}
	if goal, ok := m.vars[".DEFAULT_GOAL"]; ok { // an unknown one may be any
		targets = append(targets, strings.Fields(m.expand(goal))...)
	}
	done, open := map[string]bool{}, false
	for n := 0; n < len(targets); n++ { // grows
		if n >= maxTargets {
			m.short = true
			break
		}
		open = open || !effect.IsKnown(targets[n])
		r := m.rules[targets[n]]
		if r == nil || done[targets[n]] {
			continue
		}
		done[targets[n]] = true
		asked = append(asked, m.joined(m.automatic(targets[n]))...)
		for _, need := range r.needs {
			if !done[need] {
				targets = append(targets, need)
			}
		}
	}
	if open {
		for _, name := range slices.Sorted(maps.Keys(m.rules)) {
			if !done[name] {
				maybe = append(maybe, m.joined(m.automatic(name))...)
			}
		}
	}
	return asked, maybe
}

// joined makes one text of a recipe for one shell.
func (m *makefile) joined(lines []string) []string {
	if !m.oneShell || len(lines) < 2 {
		return lines
	}
	return []string{strings.Join(lines, "\n")}
}

func newMakefile() *makefile {
	return &makefile{vars: map[string]string{}, given: map[string]string{}, rules: map[string]*rule{}, exported: map[string]bool{}}
}

// read reads a text line by line. What is conditional counts as there.
func (m *makefile) read(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	var now []*rule
	inRecipe, other := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		body := strings.TrimSpace(line)
		switch {
		case body == "" || body[0] == '#':
		case inRecipe && (line[0] == '\t' || line[0] == ' '):
			body = strings.TrimLeft(body, "@-+ ")
			for _, r := range now {
				r.lines = append(r.lines, body)
			}
			if other {
				m.other = append(m.other, body)
			}
		default:
			m.notes(body)
			now, other, inRecipe = m.line(body)
		}
	}
}

// line reads a line that is no recipe, and returns the rules whose recipe follows.
func (m *makefile) line(body string) (now []*rule, other, inRecipe bool) {
	if words := strings.Fields(body); slices.Contains([]string{"include", "-include", "sinclude", "import"}, words[0]) {
		m.includes = append(m.includes, strings.Join(words[1:], " "))
		return nil, false, false
	}
	colon, equals := strings.IndexByte(body, ':'), strings.IndexByte(body, '=')
	if equals >= 0 && (colon < 0 || equals < colon || equals == colon+1 || strings.HasPrefix(body[colon:], "::=")) {
		m.assign(body, equals)
		return nil, false, false
	}
	if colon < 0 {
		return nil, false, false
	}
	needs, recipe, _ := strings.Cut(strings.TrimLeft(body[colon:], ":"), ";")
	pattern, static := "", false
	if before, after, ok := strings.Cut(needs, ":"); ok && strings.Contains(before, "%") { // a b: %: t/%.sh
		pattern, needs, static = strings.TrimSpace(m.expand(before)), after, true
	}
	for n, target := range strings.Fields(m.expand(body[:colon])) {
		if strings.ContainsAny(target, "%\x00") || target[0] == '.' {
			other = true
			m.isSpecial(target)
			m.patterns = append(m.patterns, target)
			continue
		}
		if n > 0 && m.rules[target] == nil && strings.Contains(target, "=") { // a parameter of just
			continue
		}
		r := m.rules[target]
		if r == nil {
			r = &rule{}
			m.rules[target] = r
		}
		if m.first == "" {
			m.first = target
		}
		for _, need := range strings.Fields(m.expand(needs)) {
			if static {
				need = strings.Replace(need, "%", stemOf(target, pattern), 1)
			}
			r.needs = append(r.needs, need)
		}
		now = append(now, r)
		if recipe = strings.TrimSpace(recipe); recipe != "" {
			r.lines = append(r.lines, recipe)
		}
	}
	return now, other, true
}

// stemOf is what % stands for in a static pattern rule.
func stemOf(target, pattern string) string {
	before, after, _ := strings.Cut(pattern, "%")
	rest, begins := strings.CutPrefix(target, before)
	rest, ends := strings.CutSuffix(rest, after)
	if !begins || !ends {
		return effect.Unknown
	}
	return rest
}

// assign notes a value. One that is assigned twice, or by a program, is not known.
func (m *makefile) assign(body string, equals int) {
	name := strings.TrimRight(body[:equals], ":?+! \t")
	for words := strings.Fields(name); len(words) > 1; words = words[1:] {
		m.exported[words[len(words)-1]] = m.exported[words[len(words)-1]] || words[0] == "export"
		name = words[len(words)-1]
	}
	value := strings.TrimSpace(body[equals+1:])
	if before, ok := m.vars[name]; ok && before != value || equals > 0 && (body[equals-1] == '+' || body[equals-1] == '!') {
		value = effect.Unknown
	}
	m.vars[name] = value
}

// standard are values that make has by itself.
var standard = map[string]string{"MAKE": "make", "CC": "cc", "CXX": "c++", "RM": "rm -f", "AR": "ar", "LD": "ld", "AS": "as", "SHELL": "/bin/sh"}

// expand replaces variables; what is not known becomes effect.Unknown, and $$ a $.
func (m *makefile) expand(text string) string { return m.expanded(text, 0) }

func (m *makefile) expanded(text string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if b.Len() >= disk.MaxText {
			m.short = true
			return b.String() + effect.Unknown
		}
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		end := map[byte]string{'(': ")", '{': "}"}[text[i]]
		switch {
		case text[i] == '$':
			b.WriteByte('$')
		case end == "": // $@ and its like
			b.WriteString(effect.Unknown)
		default:
			close := strings.IndexAny(text[i+1:], "(){}")
			if close < 0 || text[i+1+close:i+2+close] != end {
				b.WriteString(effect.Unknown) // one in another
				i = skip(text, i)
				continue
			}
			b.WriteString(m.value(text[i+1:i+1+close], depth))
			i += 1 + close
		}
	}
	return b.String()
}

func (m *makefile) value(name string, depth int) string {
	value, ok := m.given[name]
	if !ok {
		value, ok = m.vars[name]
	}
	if !ok {
		value, ok = standard[name]
	}
	if list, is := m.listOf(name, depth); !ok && is {
		return list
	}
	if !ok && m.dir != "" && slices.Contains([]string{"CURDIR", "shell pwd", "abspath .", "realpath ."}, name) {
		return m.dir
	}
	if !ok && m.carried[name] != "" {
		return m.carried[name]
	}
	if within := slices.Contains(m.within, name); within && m.carried[name] != "" {
		return m.carried[name]
	} else if !ok || within { // F := $(F) -g takes what was there before
		return effect.Unknown
	}
	if m.spent++; depth > disk.MaxNested || m.spent > maxValues {
		m.short = true
		return effect.Unknown
	}
	m.within = append(m.within, name)
	defer func() { m.within = m.within[:len(m.within)-1] }()
	return m.expanded(value, depth+1)
}

// skip returns where the bracket at i ends.
func skip(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}
