package fingerprint

import (
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// A makefile is a parsed makefile with its includes: its variables, as far as they have only
// one value, and the recipes and prerequisites of its targets.
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

type rule struct{ needs, lines []string }

func newMakefile() *makefile {
	return &makefile{vars: map[string]string{}, given: map[string]string{}, rules: map[string]*rule{},
		exported: map[string]bool{}}
}

// standard are make's built-in values.
var standard = map[string]string{"MAKE": "make", "CC": "cc", "CXX": "c++", "RM": "rm -f", "AR": "ar", "LD": "ld",
	"AS": "as", "SHELL": "/bin/sh"}

// expand replaces variables; an unknown value becomes effect.Unknown, and $$ becomes $.
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

// setting is the value of a variable as written.
func (m *makefile) setting(name string) string {
	if value, ok := m.given[name]; ok {
		return strings.TrimSpace(value)
	}
	return strings.TrimSpace(m.vars[name])
}

// maxCalled bounds the length of a call of a function of make, in bytes.
const maxCalled = 16 << 10

// called are the arguments of a function of make in a text: "x" for $(shell x).
func (m *makefile) called(text, name string) (list []string) {
	for _, open := range []string{"$(" + name, "${" + name} {
		for at := 0; ; {
			n := strings.Index(text[at:], open)
			if n < 0 {
				break
			}
			start := at + n + 1
			at = start + 1
			near := text[:min(len(text), start+maxCalled)]
			end := skip(near, start)
			if m.spent++; end == len(near) && len(near) < len(text) || m.spent > maxValues {
				m.short = true
				return list
			}
			if body := text[start:end]; len(body) > len(open)-1 && strings.ContainsAny(body[len(open)-1:len(open)], " \t") {
				list = append(list, strings.TrimSpace(body[len(open)-1:]))
			}
		}
	}
	return list
}

// listOf is the value of $(wildcard src/*.c) and $(S:.c=.o).
func (m *makefile) listOf(name string, depth int) (list string, is bool) {
	if patterns, wild := strings.CutPrefix(name, "wildcard "); wild && m.lists != nil {
		var names []string
		for _, pattern := range strings.Fields(patterns) {
			names = append(names, m.lists(pattern)...)
		}
		return strings.Join(names, " "), true
	}
	of, ends, ok := strings.Cut(name, ":")
	from, to, also := strings.Cut(ends, "=")
	if !ok || !also || strings.Contains(from+to, "%") || strings.ContainsAny(of, " ,") {
		return "", false
	}
	words := strings.Fields(m.value(of, depth+1))
	for n, w := range words {
		if stem, has := strings.CutSuffix(w, from); has {
			words[n] = stem + to
		}
	}
	return strings.Join(words, " "), true
}

// Bounds of a makefile.
const (
	maxValues  = 10_000 // how often variables are replaced by others
	maxTargets = 4096   // targets that others need
)
