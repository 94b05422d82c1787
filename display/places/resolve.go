package places

import (
	"regexp"
	"strings"

	"approver.example/display/shape"
)

// resolve adds the values of the variables in places for credentials.
func (l *lexer) resolve() {
	l.spreadOut()
	l.referred()
	seen, references := map[want]bool{}, namerefs(l.text)
	for i := 0; i < len(l.wants); i++ {
		if i == MaxWants {
			l.hideAssigned()
			return
		}
		w := l.wants[i]
		base := Span{field: w.field}
		if w.base >= 0 {
			base = l.spans[w.base]
		}
		key := w
		key.base = int(base.Kind)
		if key.field = base.field; seen[key] {
			continue
		}
		seen[key] = true
		if base.Variable != "" {
			base.Kind = Credential
		}
		for _, v := range l.valuesOf(w.name) {
			if l.left--; l.left < 0 {
				return
			}
			if text := l.text[v.From:v.To]; (w.names || references[w.name]) && shape.Identifier().MatchString(text) {
				l.want(want{name: text, part: w.part, depth: w.depth, base: w.base, field: w.field})
				continue
			}
			l.holder = w.name
			if w.part != "" {
				l.value(w.part, l.text[v.From:v.To], v.From, w.depth)
			} else {
				l.held(Span{From: v.From, To: v.To, Kind: base.Kind, field: base.field}, w.name, w.depth)
			}
			l.holder = ""
		}
	}
}

// spreadOut reads the values of variables that are whole words as words of their commands.
func (l *lexer) spreadOut() {
	for _, s := range l.spreads {
		for _, v := range l.valuesOf(s.name) {
			if words := l.split(v); len(words) > 1 && l.left > 0 {
				l.arguments(s.flags, 0, words, max(s.depth, 1))
			}
		}
	}
}

// hideAssigned adds the values of all variables in the text, as Unclear.
func (l *lexer) hideAssigned() {
	note := func(s Span, _ piece) { l.held(Span{From: s.From, To: s.To, Kind: Unclear}, "", 0) }
	for _, m := range shape.Assignment().FindAllStringSubmatchIndex(l.text, -1) {
		if !l.variables.IsOperand(m[2]) {
			l.assignedPieces(m[1], note)
		}
	}
	for _, values := range l.bound {
		for _, s := range values {
			l.pieces(s.From, s.To, note)
		}
	}
}

// referred records the variables in places that do not depend on the program.
func (l *lexer) referred() {
	note := func(m []int, n int, field string) {
		l.want(want{name: l.text[m[2*n]:m[2*n+1]], base: -1, field: field})
	}
	each := func(pattern func() *regexp.Regexp, note func(m []int)) {
		for _, m := range pattern().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m)
		}
	}
	if strings.IndexByte(l.text, '$') >= 0 {
		each(referenceURL, func(m []int) {
			l.spans = append(l.spans, Span{From: m[2] - 1 - shape.Count(l.text[m[2]-1] == '{'), To: m[3], Kind: Credential})
			l.want(want{name: l.text[m[2]:m[3]], base: len(l.spans) - 1})
		})
		each(referenceUser, func(m []int) { note(m, 1, "token") })
		each(referenceAuth, func(m []int) { note(m, 1, "password") })
		each(referenceName, func(m []int) { note(m, 2, l.text[m[2]:m[3]]) })
	}
	if scripts().MatchString(l.text) {
		each(referenceAuth, func(m []int) { note(m, 1, "password") })
		each(referenceBare, func(m []int) { note(m, 2, "password") })
	}
}

// valuesOf returns the values of a variable in the text, as pieces: literal text and variables.
func (l *lexer) valuesOf(name string) (out []Span) {
	note := func(s Span, _ piece) { out = append(out, s) }
	if l.assignments == nil {
		l.assignments = shape.Assignment().FindAllStringSubmatchIndex(l.text, -1)
	}
	for _, m := range l.assignments {
		if l.text[m[2]:m[3]] == name && !l.variables.IsOperand(m[2]) {
			l.assignedPieces(m[1], note)
		}
	}
	for _, s := range l.bound[name] {
		l.pieces(s.From, s.To, note)
	}
	for _, m := range defaultValue().FindAllStringSubmatchIndex(l.text, MaxWants) {
		if l.text[m[2]:m[3]] == name && m[4] < m[5] {
			out = append(out, Span{From: m[4], To: m[5]})
		}
	}
	if len(name) == 1 && strings.Contains("0123456789@*", name) {
		l.positional(name[0], note)
	}
	return out
}

// assignedPieces passes to note the pieces of an assigned value, which may be a list in
// parentheses.
func (l *lexer) assignedPieces(at int, note func(Span, piece)) {
	to := len(l.text)
	if shape.ByteAt(l.text, at) != '(' {
		l.pieces(at, to, note)
		return
	}
	for at++; at < to && l.text[at] != ')'; {
		if next := l.pieces(at, to, note); next > at {
			at = next
			continue
		}
		if strings.IndexByte(" \t\r\n", l.text[at]) < 0 {
			return
		}
		at++
	}
}

// positional passes to note the arguments of the functions and shells in the text that become the
// positional parameter digit, or all of them for @ and *.
func (l *lexer) positional(digit byte, note func(Span, piece)) {
	functions := map[string]bool{}
	for _, m := range functionBegins().FindAllStringSubmatch(l.text, MaxWants) {
		functions[m[1]+m[2]] = true
	}
	for _, c := range l.segments {
		skip := 0
		switch {
		case c.Program == "sh" || c.Program == "bash" || c.Program == "zsh" || c.Program == "dash":
			skip = 3 // -c, the script and its name
		case !functions[c.Program] && c.Program != "set":
			continue
		}
		n := 0
		for at := c.Operands; at < c.To; {
			var found []Span
			next := l.pieces(at, c.To, func(s Span, _ piece) { found = append(found, s) })
			if next == at {
				at++
				continue
			}
			text := l.text[at:next]
			at = next
			if name := wholeReference(text); c.Program == "set" && shape.Identifier().MatchString(name) {
				for _, v := range l.valuesOf(name) {
					for _, w := range l.split(v) {
						if n++; digit == '@' || digit == '*' || n == int(digit-'0') {
							note(Span{From: w.from, To: w.to}, isLiteral)
						}
					}
				}
				continue
			}
			if c.Program == "set" && len(found) > 0 && strings.HasPrefix(l.text[found[0].From:found[0].To], "-") {
				continue
			}
			if n++; n <= skip || digit != '@' && digit != '*' && n-skip != int(digit-'0') {
				continue
			}
			for _, s := range found {
				if !strings.ContainsAny(l.text[s.From:s.To], " \t\n") {
					note(s, isLiteral)
				}
			}
		}
	}
}

// split splits a value at its blanks, as a shell does with an unquoted variable.
func (l *lexer) split(s Span) (out []word) {
	for at := s.From; at < s.To; {
		n := strings.IndexAny(l.text[at:s.To], " \t\n")
		if n < 0 {
			n = s.To - at
		}
		if n > 0 {
			out = append(out, word{at, at + n})
		}
		at += n + 1
	}
	l.left -= s.To - s.From
	return out
}

// namerefs returns the variables that are declared as references to other variables.
func namerefs(src string) map[string]bool {
	names := map[string]bool{}
	for _, m := range nameref().FindAllStringSubmatch(src, MaxWants) {
		names[m[1]] = true
	}
	return names
}

var nameref = shape.Pattern(`\b(?:declare|typeset|local)[ \t]+-[A-Za-z]*n[A-Za-z]*[ \t]+([A-Za-z_][A-Za-z0-9_]*)=`)
