package places

import (
	"strings"

	"approver.example/display/shape"
)

// This file follows variables. What a variable was given is a credential where the
// variable stands in the place of one: in K=…; echo $K | docker login --password-stdin h.

// A want is a variable in a place for a credential.
type want struct {
	name  string // of the variable, or the number of a positional parameter
	part  string // which part of its value the place takes; "" is all of it
	depth int
	base  int    // the place, in the lexer's spans; -1 if the whole flag's value is the variable
	field string // of a place that has no span
	names bool   // its value is the name of the variable
}

// MaxWants bounds the variables that are followed, and through which others. In a text
// with more, all that any variable is given is hidden, and unclear.
const MaxWants = 64

// want adds a variable in a place for a credential.
func (l *lexer) want(w want) {
	if len(l.wants) > MaxWants {
		return
	}
	l.wants = append(l.wants, w)
}

// builtins put what they are given into variables.
var builtins = map[string]bool{"read": true, "mapfile": true, "readarray": true, "printf": true, "for": true, "select": true, "set": true}

var (
	reference      = shape.Pattern(`^\$\{?[!#]?([A-Za-z_][A-Za-z0-9_]*|[0-9@*])`)
	wholeRef       = shape.Pattern(`^\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9])|\{([A-Za-z_][A-Za-z0-9_]*|[0-9])(?:\[[^\]]*\])?(?::?[-+?=][^}]*)?\})$`)
	defaultValue   = shape.Pattern(`\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9])(?:\[[^\]]*\])?:?[-+=]([^}]*)\}`)
	functionBegins = shape.Pattern(`(?:^|[\s;&|{(])(?:function[ \t]+)?([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\(\)|\bfunction[ \t]+([A-Za-z_][A-Za-z0-9_-]*)`)
	scripts        = shape.Pattern(`\b(?:python[0-9.]*|node|deno|bun|ruby|perl|php)\b`)

	// the places of credentials that need no known program
	referenceURL  = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://[^\s:/@"'?#\\]*:\$\{?([a-z_][a-z0-9_]*)\}?@`)
	referenceUser = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://\$\{?([a-z_][a-z0-9_]*)\}?@`)
	referenceAuth = shape.Pattern(`(?i)authorization\\*["']?[ \t]*[:=,][ \t]*["'\\\x60]{0,4}(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?(?:"[ \t]*[+.][ \t]*|\{)?\$?\{?([a-z_][a-z0-9_]*)`)
	referenceName = shape.Pattern(`(?i)(` + shape.NameWords + `)(?:=|\\*["']=|\\*["']?[ \t]*=>?[ \t]*|\\*["']?[ \t]*:[ \t]*|["']?[ \t]+|["'],[ \t]*)["'\\]{0,4}\$\{?([a-z_][a-z0-9_]*)`)
	// in other languages variables have no sign before them
	referenceBare = shape.Pattern(`(?i)(` + shape.NameWords + `|\bauth=\([^,()]*,|\binput|["']-p["'],)["']?[ \t]*[=:,]?[ \t]*(?:(?:os\.)?(?:environ(?:\.get)?|getenv|process\.env|env)[\[(.]\\*["']?)?\b([a-z_][a-z0-9_]*)\b`)
)

// wholeReference is the variable that a text is the value of, and nothing else.
func wholeReference(text string) string {
	if !strings.HasPrefix(text, "$") {
		return ""
	}
	m := wholeRef().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// mayRefer is a quick look for places that need no known program.
func mayRefer(s string) bool {
	if strings.IndexByte(s, '$') < 0 {
		return strings.Contains(s, " -c ") && scripts().MatchString(s)
	}
	lower := strings.ToLower(s)
	return shape.ContainsAny(lower, shape.NameHints) || strings.Contains(s, "://") && strings.IndexByte(s, '@') > 0 || strings.Contains(lower, "authorization")
}

// wanted notes a variable that is all that a flag is given, of which a part is the
// credential.
func (l *lexer) wanted(part, text string, at, depth int) {
	if name := wholeReference(text); name != "" {
		l.spans = append(l.spans, Span{From: at, To: at + len(text), Carrier: true})
		l.want(want{name: name, part: part, depth: depth, base: -1})
	}
}

// follow notes the variables in a place, and adds what is printed into it.
func (l *lexer) follow(at, depth int) {
	s := l.spans[at]
	if !strings.ContainsAny(l.text[s.From:s.To], "$`") {
		return
	}
	to := s.To
	if l.text[to-1] == '$' && shape.ByteAt(l.text, to) == '(' { // the word goes on behind the parenthesis
		to = len(l.text)
	}
	l.pieces(s.From, to, func(p Span, how piece) {
		switch text := l.text[p.From:p.To]; how {
		case isVariable:
			if m := reference().FindStringSubmatch(text); m != nil {
				l.want(want{name: m[1], depth: depth, base: at, names: strings.HasPrefix(text, "${!")})
			}
			if m := defaultValue().FindStringSubmatchIndex(text); m != nil {
				l.held(Span{From: p.From + m[4], To: p.From + m[5], Kind: s.Kind, field: s.field}, text[m[2]:m[3]], depth)
			}
		case isLiteral: // a part of the place itself
		case isPrinted:
			l.held(Span{From: p.From, To: p.To, Kind: min(s.Kind, p.Kind), field: s.field}, "", depth)
		}
	})
}

// held adds what a variable holds.
func (l *lexer) held(s Span, holder string, depth int) {
	s.Holder, s.Followed = holder, true
	l.add(s, depth)
}

// resolve adds what the variables in places for credentials were given.
func (l *lexer) resolve() {
	l.spreadOut()
	l.referred()
	seen := map[want]bool{}
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
			if text := l.text[v.From:v.To]; (w.names || isNameref(l.text, w.name)) && shape.Identifier().MatchString(text) {
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

// hideAssigned adds all that variables are given in the text, as what may be a credential.
func (l *lexer) hideAssigned() {
	note := func(s Span, _ piece) { l.held(Span{From: s.From, To: s.To, Kind: Unclear}, "", 0) }
	for _, m := range shape.Assignment().FindAllStringSubmatchIndex(l.text, -1) {
		if !l.variables.IsOperand(m[2]) {
			l.given(m[1], note)
		}
	}
	for _, values := range l.bound {
		for _, s := range values {
			l.pieces(s.From, s.To, note)
		}
	}
}

// referred notes the variables in places that need no known program.
func (l *lexer) referred() {
	note := func(m []int, n int, field string) {
		l.want(want{name: l.text[m[2*n]:m[2*n+1]], base: -1, field: field})
	}
	if strings.IndexByte(l.text, '$') >= 0 {
		for _, m := range referenceURL().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			l.spans = append(l.spans, Span{From: m[2] - 1 - shape.Count(l.text[m[2]-1] == '{'), To: m[3], Kind: Credential})
			l.want(want{name: l.text[m[2]:m[3]], base: len(l.spans) - 1})
		}
		for _, m := range referenceUser().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m, 1, "token")
		}
		for _, m := range referenceAuth().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m, 1, "password")
		}
		for _, m := range referenceName().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m, 2, l.text[m[2]:m[3]])
		}
	}
	if scripts().MatchString(l.text) {
		for _, m := range referenceAuth().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m, 1, "password")
		}
		for _, m := range referenceBare().FindAllStringSubmatchIndex(l.text, MaxWants+1) {
			note(m, 2, "password")
		}
	}
}

// valuesOf finds what a variable is given in the text: the literal pieces, and the
// variables among them.
func (l *lexer) valuesOf(name string) (out []Span) {
	note := func(s Span, _ piece) { out = append(out, s) }
	if l.assignments == nil {
		l.assignments = shape.Assignment().FindAllStringSubmatchIndex(l.text, -1)
	}
	for _, m := range l.assignments {
		if l.text[m[2]:m[3]] == name && !l.variables.IsOperand(m[2]) {
			l.given(m[1], note)
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

// given finds the pieces of an assigned value, which may be a list in parentheses.
func (l *lexer) given(at int, note func(Span, piece)) {
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

// positional finds what is given to the functions and shells of the text as the
// parameter of a number.
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

// binding notes what a builtin of the shell puts into variables.
func (l *lexer) binding(name string, given []word, p *pipeline) {
	var names []string
	var values []Span
	for i, w := range given {
		text, at := w.bare(l.text)
		switch {
		case name == "read" || name == "mapfile" || name == "readarray":
			if shape.Identifier().MatchString(text) {
				names = append(names, text)
			}
			if open := strings.IndexByte(l.text[w.to:p.to], '('); text == "<" && i == len(given)-1 && open == 0 {
				values = append(values, l.printed(w.to+1, p.to)...)
			}
		case name == "printf" && len(given) > 2 && i == 1:
			names = append(names, text)
		case name == "printf" && i < 2:
			if l.text[given[0].from:given[0].to] != "-v" {
				return
			}
		case (name == "for" || name == "select") && i == 0:
			names = append(names, text)
		case (name == "for" || name == "select") && i == 1: // in
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "%"):
			values = append(values, Span{From: at, To: at + len(text)})
		}
	}
	if name == "read" || name == "mapfile" || name == "readarray" {
		values = append(values, hereTexts(l.text, given, p)...)
		values = append(values, l.files.read(redirects(l.text, given, "<"))...)
		if len(values) == 0 && !p.piped { // the text may stand behind the loop
			l.unread = append(l.unread, names...)
		}
		if p.piped {
			values = append(values, p.writes...)
		}
	}
	for _, n := range names {
		if l.bound == nil {
			l.bound = map[string][]Span{}
		}
		l.bound[n] = append(l.bound[n], values...)
	}
}

// A piece says what a stretch of a word is.
type piece uint8

const (
	isLiteral piece = iota
	isVariable
	isPrinted
)

// pieces takes the word at a place apart: literal text, variables, and what a command
// within it prints. It returns where the word ends.
func (l *lexer) pieces(i, to int, note func(Span, piece)) int {
	start, begin := i, i
	var quote byte
	within := -1 // not known
	flush := func() {
		if begin < i {
			note(Span{From: begin, To: i}, isLiteral)
		}
	}
	for ; i < to; i++ {
		c := l.text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < to && (l.text[i+1] == '"' || l.text[i+1] == '\'') && (i == start || quote == l.text[i+1]|0x80):
			flush() // a quote of a text within another
			if quote == 0 {
				quote = l.text[i+1] | 0x80
			} else {
				quote = 0
			}
			i++
			begin = i + 1
		case c == '\\' && quote != '\'' && shape.ByteAt(l.text, i+1) == '$': // of a shell within another
			flush()
			begin = i + 1
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '"' || c == '\''):
			if i > start {
				if within < 0 {
					within = shape.Count(shape.EndsQuoted(l.text[:start]))
				}
				if within == 1 { // it ends the text around
					flush()
					return i
				}
			}
			flush()
			quote, begin = c, i+1
		case c == quote:
			flush()
			quote, begin = 0, i+1
		case quote != '\'' && (c == '`' || c == '$' && shape.ByteAt(l.text, i+1) == '('):
			flush()
			i = l.substituted(i, to, note)
			begin = i + 1
		case quote != '\'' && c == '$' && reference().MatchString(l.text[i:min(to, i+80)]):
			flush()
			begin = endOfReference(l.text, i, to)
			note(Span{From: i, To: begin}, isVariable)
			i = begin - 1
		case quote == 0 && strings.IndexByte(" \t\r\n;&|<>)", c) >= 0:
			flush()
			return i
		}
	}
	i = min(i, to)
	flush()
	return i
}

// endOfReference is the place behind a variable, with the braces around it.
func endOfReference(src string, at, to int) int {
	if n := strings.IndexByte(src[at:to], '}'); src[at+1] == '{' && n > 0 {
		return at + n + 1
	}
	return at + len(reference().FindString(src[at:min(to, at+80)]))
}

// substituted notes what the command within $(…) or backticks prints, and returns the
// place of its end.
func (l *lexer) substituted(i, to int, note func(Span, piece)) int {
	from, end := i+2, -1
	if l.text[i] == '`' {
		from = i + 1
		end = strings.IndexByte(l.text[from:to], '`')
	} else {
		depth := 1
		for n := from; n < to && end < 0; n++ {
			switch l.text[n] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					end = n - from
				}
			}
		}
	}
	if end < 0 {
		return to
	}
	for _, s := range l.printed(from, from+end) {
		note(s, isPrinted)
	}
	return from + end
}
