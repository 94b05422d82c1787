package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file follows variables. The value of a variable is a credential if the variable is used in
// a place for one, as in K=…; echo $K | docker login --password-stdin h.

// want records a variable in a place for a credential, up to MaxWants+1 of them.
func (l *lexer) want(w want) {
	if len(l.wants) > MaxWants {
		return
	}
	l.wants = append(l.wants, w)
}

var (
	reference = shape.Pattern(`^\$\{?[!#]?([A-Za-z_][A-Za-z0-9_]*|[0-9@*])`)
	wholeRef  = shape.Pattern(`^\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9])|\{([A-Za-z_][A-Za-z0-9_]*` +
		`|[0-9])(?:\[[^\]]*\])?(?::?[-+?=][^}]*)?\})$`)
	defaultValue   = shape.Pattern(`\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9])(?:\[[^\]]*\])?:?[-+=]([^}]*)\}`)
	functionBegins = shape.Pattern(`(?:^|[\s;&|{(])(?:function[ \t]+)?([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\(\)` +
		`|\bfunction[ \t]+([A-Za-z_][A-Za-z0-9_-]*)`)
	scripts = shape.Pattern(`\b(?:python[0-9.]*|node|deno|bun|ruby|perl|php)\b`)

	// places for credentials that do not depend on the program
	referenceURL  = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://[^\s:/@"'?#\\]*:\$\{?([a-z_][a-z0-9_]*)\}?@`)
	referenceUser = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://\$\{?([a-z_][a-z0-9_]*)\}?@`)
	referenceAuth = shape.Pattern(`(?i)authorization\\*["']?[ \t]*[:=,][ \t]*["'\\\x60]{0,4}(?:(?:bearer|basic|token` +
		`|apikey|digest)[ \t]+)?(?:"[ \t]*[+.][ \t]*|\{)?\$?\{?([a-z_][a-z0-9_]*)`)
	referenceName = shape.Pattern(`(?i)(` + shape.NameWords +
		`)(?:=|\\*["']=|\\*["']?[ \t]*=>?[ \t]*|\\*["']?[ \t]*:[ \t]*|["']?[ \t]+` +
		`|["'],[ \t]*)["'\\]{0,4}\$\{?([a-z_][a-z0-9_]*)`)
	// in other languages variables have no sign such as $
	referenceBare = shape.Pattern(`(?i)(` + shape.NameWords +
		`|\bauth=\([^,()]*,|\binput|["']-p["'],)["']?[ \t]*[=:,]?[ \t]*(?:(?:os\.)?(?:environ(?:\.get)?|getenv` +
		`|process\.env|env)[\[(.]\\*["']?)?\b([a-z_][a-z0-9_]*)\b`)
)

// wholeReference returns the name of the variable if a text is one reference to it and nothing
// else, or "".
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

// mayRefer quickly reports whether a text may have places that do not depend on the program.
func mayRefer(s string) bool {
	if strings.IndexByte(s, '$') < 0 {
		return strings.Contains(s, " -c ") && scripts().MatchString(s)
	}
	lower := strings.ToLower(s)
	return shape.ContainsAny(lower, shape.NameHints) || strings.Contains(s, "://") && strings.IndexByte(s, '@') > 0 ||
		strings.Contains(lower, "authorization")
}

// wanted records a variable that is the whole value of a flag, if a part of that value is the
// credential.
func (l *lexer) wanted(part, text string, at, depth int) {
	if name := wholeReference(text); name != "" {
		l.spans = append(l.spans, Span{From: at, To: at + len(text), Carrier: true})
		l.want(want{name: name, part: part, depth: depth, base: -1})
	}
}

// follow records the variables in a place, and adds the text that commands print there.
func (l *lexer) follow(at, depth int) {
	s := l.spans[at]
	if !strings.ContainsAny(l.text[s.From:s.To], "$`") {
		return
	}
	to := s.To
	if l.text[to-1] == '$' && shape.ByteAt(l.text, to) == '(' { // the word continues after the parenthesis
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
		case isLiteral: // it is part of the place itself
		case isPrinted:
			l.held(Span{From: p.From, To: p.To, Kind: min(s.Kind, p.Kind), field: s.field}, "", depth)
		}
	})
}

// held adds a value of a variable, or a printed text, as a place.
func (l *lexer) held(s Span, holder string, depth int) {
	s.Holder, s.Followed = holder, true
	l.add(s, depth)
}

// A piece is the kind of a part of a word.
type piece uint8

const (
	isLiteral piece = iota
	isVariable
	isPrinted
)

// pieces splits the word at i into literal text, variables, and text that a command in it prints,
// and passes each to note. It returns the end of the word.
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
		case c == '\\' && quote != '\'' && i+1 < to && (l.text[i+1] == '"' || l.text[i+1] == '\'') &&
			(i == start || quote == l.text[i+1]|0x80):
			flush() // a quote of text inside quotes
			if quote == 0 {
				quote = l.text[i+1] | 0x80
			} else {
				quote = 0
			}
			i++
			begin = i + 1
		case c == '\\' && quote != '\'' && shape.ByteAt(l.text, i+1) == '$': // a variable of a nested shell
			flush()
			begin = i + 1
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '"' || c == '\''):
			if i > start {
				if within < 0 {
					within = shape.Count(shape.EndsQuoted(l.text[:start]))
				}
				if within == 1 { // it ends the text around the word
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

// endOfReference returns the place after a variable and its braces.
func endOfReference(src string, at, to int) int {
	if n := strings.IndexByte(src[at:to], '}'); src[at+1] == '{' && n > 0 {
		return at + n + 1
	}
	return at + len(reference().FindString(src[at:min(to, at+80)]))
}

// substituted passes to note what the command in $(…) or backticks prints, and returns the place
// of the closing sign.
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

// add adds a place and follows its variables. In nested text the program is only a guess, so the
// place is Unclear.
func (l *lexer) add(s Span, depth int) {
	if l.decidesAgain(s) {
		return
	}
	if depth > 0 {
		s.Kind = Unclear
	}
	if l.holder != "" {
		s.Followed, s.Holder = true, l.holder
	}
	if s.From < s.To && len(l.spans) < maxSpans {
		l.spans = append(l.spans, s)
		l.follow(len(l.spans)-1, depth)
	}
}

// maxSpans limits the number of places in one text.
const maxSpans = 1 << 14

// printed returns what the commands in a part of the text write, if the text shows it.
func (l *lexer) printed(from, to int) []Span {
	if l.nested >= maxNested || l.left < 0 {
		return nil
	}
	files := l.files
	if len(files) == 0 { // files that these commands write are not read outside
		files = writtenFiles{}
	}
	sub := &lexer{text: l.text, left: l.left, prints: true, nested: l.nested + 1, files: files,
		bound: map[string][]Span{}}
	sub.lex(from, to, 0)
	l.left = sub.left
	return slices.DeleteFunc(sub.out, func(s Span) bool { return s.From >= s.To })
}

// decidesAgain reports whether a place is among words that a second shell reads, and has text that
// is more than one word for it. Such text must be shown.
func (l *lexer) decidesAgain(s Span) bool {
	return l.again.From <= s.From && s.To <= l.again.To && strings.ContainsAny(l.text[s.From:s.To], decidingAgain)
}
