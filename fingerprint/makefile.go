package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reads recipes: of make, and of just, whose files look alike enough.

// A makefile is what is read of one: the values of its variables, where there is only
// one, the recipes of its targets and on which others these depend.
type makefile struct {
	vars  map[string]string
	rules map[string]*rule
	first string
	other []string // recipes of patterns, and what belongs to no target
	spent int      // values that were looked up
}

// maxValues bounds how often variables are replaced by others.
const maxValues = 10_000

type rule struct{ needs, lines []string }

// recipes binds what the recipes run that a command asks for, and what they include.
func (p *pass) recipes(i int, file string) {
	text := p.text(file, "make ")
	if text == "" || p.depth >= maxFollowed {
		return
	}
	m := readMakefile(text)
	var targets []string
	for _, w := range p.Steps[i].Argv[1:] {
		if name, value, ok := strings.Cut(w, "="); ok && !strings.HasPrefix(w, "-") {
			m.vars[name] = value
		} else if operand(w) {
			targets = append(targets, w)
		}
	}
	dir := filepath.Dir(file)
	for _, line := range m.lines(targets) {
		word, rest, _ := strings.Cut(line, " ")
		if word == "include" || word == "-include" || word == "sinclude" || word == "import" {
			p.includes(i, dir, m.expand(rest))
			continue
		}
		call := p.call
		call.Dir, call.Args, call.Raw = dir, nil, nil
		// What is not known stays a variable that the shell does not know either.
		call.Command = strings.ReplaceAll(m.expand(line), effect.Unknown, "${__make__}")
		p.walk(call, scope{strict: p.strict, depth: p.depth + 1})
	}
}

func (p *pass) includes(i int, dir, names string) {
	for _, name := range strings.Fields(names) {
		name = strings.Trim(name, `"'`)
		if !effect.IsKnown(name) {
			p.named("the included %s", effect.Show(name))
			continue
		}
		for _, file := range p.both(abs(dir, name)) {
			if !p.visit(file, code) {
				p.recipes(i, filepath.Clean(file))
			}
		}
	}
}

// lines are the recipes of targets and of what they need, and the includes.
func (m *makefile) lines(targets []string) []string {
	out := slices.Clone(m.other)
	if !slices.ContainsFunc(targets, func(t string) bool { return m.rules[t] != nil }) && m.first != "" {
		targets = append(targets, m.first)
	}
	done := map[string]bool{}
	for n := 0; n < len(targets) && n < maxTree; n++ { // grows
		r := m.rules[targets[n]]
		if r == nil || done[targets[n]] {
			continue
		}
		done[targets[n]] = true
		out = append(out, r.lines...)
		targets = append(targets, r.needs...)
	}
	return out
}

// readMakefile reads a text line by line. What is conditional counts as there.
func readMakefile(text string) *makefile {
	m := &makefile{vars: map[string]string{}, rules: map[string]*rule{}}
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
			now, other, inRecipe = m.line(body)
		}
	}
	return m
}

// line reads a line that is no recipe, and returns the rules whose recipe follows.
func (m *makefile) line(body string) (now []*rule, other, inRecipe bool) {
	word, _, _ := strings.Cut(body, " ")
	if slices.Contains([]string{"include", "-include", "sinclude", "import"}, word) {
		m.other = append(m.other, body)
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
	for n, target := range strings.Fields(m.expand(body[:colon])) {
		if strings.ContainsAny(target, "%\x00") || target[0] == '.' {
			other = true
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
		r.needs = append(r.needs, strings.Fields(m.expand(needs))...)
		now = append(now, r)
		if recipe = strings.TrimSpace(recipe); recipe != "" {
			r.lines = append(r.lines, recipe)
		}
	}
	return now, other, true
}

// assign notes a value. One that is assigned twice, or by a program, is not known.
func (m *makefile) assign(body string, equals int) {
	name := strings.TrimSpace(strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(body[:equals], "export "), "override "), ":?+! \t"))
	value := strings.TrimSpace(body[equals+1:])
	if before, ok := m.vars[name]; ok && before != value || equals > 0 && (body[equals-1] == '+' || body[equals-1] == '!') {
		value = effect.Unknown
	}
	m.vars[name] = value
}

// standard are values that make has by itself.
var standard = map[string]string{"MAKE": "make", "CC": "cc", "CXX": "c++", "RM": "rm -f", "AR": "ar", "LD": "ld", "AS": "as", "SHELL": "/bin/sh", "CURDIR": "."}

// expand replaces variables; what is not known becomes effect.Unknown, and $$ a $.
func (m *makefile) expand(text string) string { return m.expanded(text, 0) }

func (m *makefile) expanded(text string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < maxText; i++ {
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
	value, ok := m.vars[name]
	if !ok {
		value, ok = standard[name]
	}
	if m.spent++; !ok || depth > 8 || m.spent > maxValues {
		return effect.Unknown
	}
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
