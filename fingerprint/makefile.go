package fingerprint

import (
	"maps"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reads makefiles, and justfiles, which are similar enough.

// recipesOf are the recipes of targets and of their prerequisites. maybe are all others, if a
// prerequisite is unknown.
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

// joined makes one text of a recipe if .ONESHELL is set.
func (m *makefile) joined(lines []string) []string {
	if !m.oneShell || len(lines) < 2 {
		return lines
	}
	return []string{strings.Join(lines, "\n")}
}

// read reads a text line by line. Conditional lines always count.
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
			m.noteLine(body)
			now, other, inRecipe = m.line(body)
		}
	}
}

// line reads a line outside of recipes, and returns the rules whose recipe follows.
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

// stemOf is the text that % matches in a static pattern rule.
func stemOf(target, pattern string) string {
	before, after, _ := strings.Cut(pattern, "%")
	rest, begins := strings.CutPrefix(target, before)
	rest, ends := strings.CutSuffix(rest, after)
	if !begins || !ends {
		return effect.Unknown
	}
	return rest
}

// assign notes the value of a variable. After two different assignments, or one by a
// program, it is unknown.
func (m *makefile) assign(body string, equals int) {
	name := strings.TrimRight(body[:equals], ":?+! \t")
	for words := strings.Fields(name); len(words) > 1; words = words[1:] {
		m.exported[words[len(words)-1]] = m.exported[words[len(words)-1]] || words[0] == "export"
		name = words[len(words)-1]
	}
	value := strings.TrimSpace(body[equals+1:])
	if before, ok := m.vars[name]; ok && before != value || equals > 0 &&
		(body[equals-1] == '+' || body[equals-1] == '!') {
		value = effect.Unknown
	}
	m.vars[name] = value
}
