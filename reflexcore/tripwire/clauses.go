package tripwire

import (
	"slices"
	"strings"
)

// next reports whether what a line says is denied by what is above it, or by a mark before it.
func (d *denials) next(line string) bool {
	item := strings.HasPrefix(line, "-") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "|") ||
		line != "" && line[0] >= '0' && line[0] <= '9'
	denies := func() bool {
		return says(strings.ToLower(strings.ReplaceAll(line, "’", "'")), orderWords.neg) ||
			strings.Contains(strings.ToLower(line), "anti-pattern")
	}
	switch {
	case strings.HasPrefix(line, "#"):
		d.section, d.list = denies(), false
		return d.section
	case strings.HasSuffix(strings.TrimRight(line, "* _"), ":"):
		d.list = denies()
	case line != "" && !item:
		d.list = false
	}
	return d.section && item || d.list && item || strings.Contains(line, "❌") || strings.Contains(line, "🚫") ||
		strings.Contains(line, "⛔")
}

// clauses yields the sentences of a line.
func clauses(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(line); i++ {
			end := i+1 == len(line)
			stop := strings.IndexByte(".;!?", line[i]) >= 0 && (end || line[i+1] == ' ' || line[i+1] == '*') ||
				!end && (line[i] == ')' && line[i+1] == ',' || line[i] == ':' && line[i+1] == ' ')
			if (stop || end) && i+1 > from {
				if !yield(line[from : i+1]) {
					return
				}
				from = i + 1
			}
		}
	}
}

// wordsOf yields the words of a text in lower case.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := -1
		for i := 0; i <= len(text); i++ {
			in := i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9' ||
				text[i] >= 0x80 || from >= 0 && (text[i] == '-' || text[i] == '\''))
			switch {
			case in && from < 0:
				from = i
			case !in && from >= 0:
				if !yield(strings.TrimRight(text[from:i], "-'")) {
					return
				}
				from = -1
			}
		}
	}
}

// clauseOrder returns what a sentence orders.
func clauseOrder(clause string, denied bool) OrderKind {
	var room [48]uint64
	said, seen := room[:0], uint64(0)
	for w := range wordsOf(clause) {
		g, ok := orderWords.groups[w]
		if elided := strings.IndexByte(w, '\''); !ok && elided >= 0 {
			g = orderWords.groups[w[elided+1:]] // l'utilisateur
		}
		said, seen = append(said, g), seen|g
		if len(said) == maxClause {
			break
		}
	}
	said, seen = append(said, orderWords.end), seen|orderWords.end
	for i := range orderWords.phrases {
		p := &orderWords.phrases[i]
		if slices.ContainsFunc(p.steps, func(s phraseStep) bool { return s.groups&seen == 0 }) {
			continue
		}
		for at := range said {
			if said[at]&p.steps[0].groups == 0 || p.free && (denied || deniedAt(said, at)) ||
				p.order && !ordered(said, at) || p.start && at > 2 {
				continue
			}
			if p.followed(said, at, p.steps[1:]) {
				return p.kind
			}
		}
	}
	return NoOrder
}

// deniedAt reports whether a word before one denies it.
func deniedAt(said []uint64, at int) bool {
	for i := range at {
		if said[i]&orderWords.neg != 0 {
			return true
		}
	}
	return false
}

// ordered reports whether a word begins what is said, or stands behind a word that leads to an order.
func ordered(said []uint64, at int) bool { return at == 0 || said[at-1]&orderWords.lead != 0 }

// followed reports whether the steps come after a word.
func (p *phrase) followed(said []uint64, at int, steps []phraseStep) bool {
	if len(steps) == 0 {
		if p.kind == RightsOrder && slices.ContainsFunc(said[at:], func(g uint64) bool { return g&orderWords.narrow != 0 }) {
			return false
		}
		return p.kind != SecretOrder || at+1 == len(said) || said[at+1]&orderWords.to == 0
	}
	for j := at + 1; j < len(said) && j-at <= steps[0].gap && said[j]&orderWords.further == 0; j++ {
		if said[j]&steps[0].groups != 0 && p.followed(said, j, steps[1:]) {
			return true
		}
	}
	return false
}
