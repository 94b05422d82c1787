package approver

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
)

// This file finds the places in a text where a program that is known takes a
// credential. A flag means something only to its program: -u is a login for curl and a
// remote for git, -p a password for mysql and parents for mkdir.

// A placeKind is what a known program takes at a place. The zero value is unclear.
type placeKind uint8

const (
	placeUnclear    placeKind = iota // a name of somebody's choice says that it is a secret
	placeCredential                  // what proves who asks, and nothing else
)

// A span is a place for a credential in a text.
type span struct {
	from, to int
	kind     placeKind
	variable string // that holds it
	field    string // that it is the value of, where somebody may have chosen the name
}

// A segment is one simple command of a text, and what is known of its program.
type segment struct {
	from, to int
	program  string
	operands int // where the words behind the program's name begin
}

// places finds the commands and the places for credentials in a text, each once.
func places(s string) ([]segment, []span) {
	l := &lexer{text: s, left: max(4*len(s), maxSteps)}
	l.lex(0, len(s), 0)
	return l.segments, l.spans
}

// mayHavePlaces is a quick look: most texts name no program with such flags.
func mayHavePlaces(s string) bool {
	if len(s) > maxSteps/8 {
		return false
	}
	for from := 0; from < len(s); {
		if wordBreaks[s[from]] {
			from++
			continue
		}
		to := from + 1
		for to < len(s) && !wordBreaks[s[to]] {
			to++
		}
		if w := s[from:to]; len(w) <= maxProgram && (hasFlags(w) || w[0] == 'n' && hasFlags(w[1:])) { // n: a line break of JSON
			return true
		}
		from = to
	}
	return false
}

// maxProgram is longer than the names of all programs and variables in the tables.
const maxProgram = 32

func hasFlags(w string) bool {
	_, ok := programFlags()[w]
	return ok || conventional(w)
}

// wordBreaks are the bytes that stand between words, quotes and folders among them.
var wordBreaks = func() (out [256]bool) {
	for _, b := range []byte(" \t\r\n;&|(){}`\"'=,/\\") {
		out[b] = true
	}
	return out
}()

// A lexer takes a text apart as a shell would, roughly: what stands inside quotes is
// read once more, as the text of a command, because it may be one.
type lexer struct {
	text     string
	left     int // bytes that may still be read
	segments []segment
	spans    []span
}

// maxNested bounds the quotes within quotes that are read.
const maxNested = 3

// lex reads the words of a stretch.
func (l *lexer) lex(from, to, depth int) {
	if l.left -= to - from; l.left < 0 {
		return
	}
	var words []word
	end := func() {
		if len(words) > 0 {
			l.command(words, depth)
		}
		words = nil
	}
	for i := from; i < to; {
		switch c := l.text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < to && l.text[i+1] == '\n', l.escape(i, to, depth, "tr"):
			i += 2
		case l.escape(i, to, depth, "n"):
			end()
			i += 2
		case strings.IndexByte("\n;&|()`", c) >= 0:
			end()
			i++
		default:
			w := l.word(i, to, depth)
			words, i = append(words, w), w.to
		}
	}
	end()
}

// A word is a stretch of a text.
type word struct{ from, to int }

// word reads one word, and what is quoted in it as another text.
func (l *lexer) word(i, to, depth int) word {
	w := word{from: i}
	for i < to {
		switch c := l.text[i]; {
		case l.escape(i, to, depth, "ntr"):
			w.to = i
			return w
		case l.escape(i, to, depth, "\""): // the quote of a text within JSON
			if n := strings.Index(l.text[i+2:to], `\"`); n >= 0 {
				if depth < maxNested && strings.ContainsAny(l.text[i+2:i+2+n], " \\") {
					l.lex(i+2, i+2+n, depth+1)
				}
				i += n + 3
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			n := endOfQuote(l.text[i+1:to], c)
			if n < 0 {
				break
			}
			if inside := l.text[i+1 : i+1+n]; depth < maxNested && strings.ContainsAny(inside, " \t\n\\") {
				l.lex(i+1, i+1+n, depth+1)
			}
			i += n + 1
		case c == '$' && i+1 < to && l.text[i+1] == '{':
			if n := strings.IndexByte(l.text[i:to], '}'); n > 0 {
				i += n
			}
		case strings.IndexByte(" \t\r\n;&|()`", c) >= 0:
			w.to = i
			return w
		}
		i++
	}
	w.to = min(i, to)
	return w
}

// escape reports a backslash before one of some letters, inside quotes: in a string of
// JSON that is the character which they stand for.
func (l *lexer) escape(i, to, depth int, letters string) bool {
	return depth > 0 && l.text[i] == '\\' && i+1 < to && strings.IndexByte(letters, l.text[i+1]) >= 0
}

// endOfQuote is the place of the quote that ends a quoted text, or -1.
func endOfQuote(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

// bare is a word without the quotes around it, and where that text begins.
func (l *lexer) bare(w word) (string, int) {
	s := l.text[w.from:w.to]
	if len(s) >= 4 && strings.HasPrefix(s, `\"`) && strings.HasSuffix(s, `\"`) {
		return s[2 : len(s)-2], w.from + 2
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1], w.from + 1
	}
	return s, w.from
}

// command looks at the words of one simple command.
func (l *lexer) command(words []word, depth int) {
	first := 0
	for ; first < len(words); first++ {
		text, at := l.bare(words[first])
		name, value, is := strings.Cut(text, "=")
		if is && identifier().MatchString(name) {
			if conventional(name) {
				l.add(span{at + len(name) + 1, at + len(name) + 1 + len(value), placeUnclear, name, ""}, depth)
			}
		} else if !prefixes[text] && text != "{" && text != "}" {
			break
		}
	}
	if first == len(words) {
		return
	}
	name, _ := l.bare(words[first])
	name = programName(name)
	l.segments = append(l.segments, segment{words[first].from, words[len(words)-1].to, name, words[first].to})
	flags := programFlags()[name]
	_, known := knownPrograms[name]
	if flags == nil && !known {
		return
	}
	for i := first + 1; i < len(words); i++ {
		text, _ := l.bare(words[i])
		if !strings.HasPrefix(text, "-") {
			if sub := programFlags()[name+" "+text]; sub != nil {
				flags = sub
			}
			break
		}
	}
	for i := first + 1; i < len(words); i++ {
		text, at := l.bare(words[i])
		var next *word
		if i+1 < len(words) {
			next = &words[i+1]
		}
		l.flag(flags, text, at, next, depth)
	}
}

// programName is a program without the folder of the system's programs.
func programName(name string) string {
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}

// flag adds the place that one word opens: in itself, or in the next word.
func (l *lexer) flag(flags map[string]string, text string, at int, next *word, depth int) {
	if !strings.HasPrefix(text, "-") {
		if kind := flags["operand"]; kind != "" {
			l.value(kind, text, at, depth)
		}
		return
	}
	name, _, glued := strings.Cut(text, "=")
	kind := flags[name]
	if kind == "" && secretFlag().MatchString(name) && !switchFlag().MatchString(name) {
		kind = "secret"
		if cursorFlag().MatchString(name) {
			kind = "cursor"
		}
	}
	switch {
	case kind != "" && kind != "glued" && glued:
		inside, from := l.bare(word{at + len(name) + 1, at + len(text)})
		l.value(kind, inside, from, depth)
	case kind != "" && kind != "glued" && next != nil:
		value, from := l.bare(*next)
		l.value(kind, value, from, depth)
	case len(text) > 2 && text[1] != '-' && flags[text[:2]] != "":
		begin := 2 + len(text[2:]) - len(strings.TrimLeft(text[2:], "\"'="))
		l.value(flags[text[:2]], strings.TrimRight(text[begin:], "\"'"), at+begin, depth)
	}
}

// value adds the place inside what a flag is given.
func (l *lexer) value(kind, text string, at, depth int) {
	whole := span{at, at + len(text), placeCredential, "", ""}
	switch kind {
	case "login":
		if n := strings.IndexByte(text, ':'); n >= 0 {
			l.add(span{at + n + 1, whole.to, placeCredential, "", ""}, depth)
		}
	case "pass":
		if strings.HasPrefix(text, "pass:") {
			l.add(span{at + len("pass:"), whole.to, placeCredential, "", ""}, depth)
		}
	case "cookie":
		if n := strings.IndexByte(text, '='); n >= 0 {
			l.add(span{at + n + 1, whole.to, placeUnclear, "", ""}, depth)
		}
	case "cursor":
		l.add(span{at, whole.to, placeUnclear, "", "token"}, depth)
	case "header":
		if m := secretHeader().FindStringSubmatchIndex(text); m != nil {
			s := span{from: at + m[1], to: whole.to}
			if credentialHeaders[strings.ToLower(text[m[2]:m[3]])] {
				s.kind = placeCredential
			}
			l.add(s, depth)
		}
	case "field", "setting":
		for _, m := range secretField().FindAllStringSubmatchIndex(text, -1) {
			s := span{from: at + m[6], to: at + m[7], kind: placeCredential}
			if kind == "setting" || m[2] != m[3] || strings.EqualFold(text[m[4]:m[5]], "secret") {
				s.kind, s.field = placeUnclear, text[m[2]:m[5]]
			}
			l.add(s, depth)
		}
	default:
		l.add(whole, depth)
	}
}

// add notes a place. In a text inside another its program is only a guess.
func (l *lexer) add(s span, depth int) {
	if depth > 0 {
		s.kind = placeUnclear
	}
	if s.from < s.to {
		l.spans = append(l.spans, s)
	}
}

// placeParts adds what stands in the places for credentials, unless it is not
// literal: what a shell puts in there is no secret, and may run.
func placeParts(s string, found []part) []part {
	if !mayHavePlaces(s) {
		return found
	}
	_, spans := places(s)
	for _, sp := range spans {
		value := strings.TrimRight(s[sp.from:sp.to], "\"'")
		if strings.ContainsAny(value, "$`\\\n\"'‹") || strings.Trim(value, "*xX-.@") == "" || strings.IndexByte("@<>-", value[0]) >= 0 ||
			isReference(value) {
			continue
		}
		if sp.field != "" && !secretValue(sp.field, value) {
			continue
		}
		p := part{from: sp.from, to: sp.from + len(value), begin: sp.from, role: byPlace}
		if sp.variable != "" {
			p.role, p.name = byName, sp.variable
		}
		if !slices.ContainsFunc(found, func(q part) bool { return p.from < q.to && q.from < p.to }) {
			found = append(found, p)
		}
	}
	return found
}

// programFlags is credentialFlags, taken apart.
var programFlags = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for programs, text := range credentialFlags {
		flags := map[string]string{}
		for _, f := range strings.Fields(text) {
			name, kind, _ := strings.Cut(f, ":")
			flags[name] = cmp.Or(kind, "secret")
		}
		for _, p := range strings.Split(programs, "|") {
			out[p] = flags
			if name, _, sub := strings.Cut(p, " "); sub && out[name] == nil {
				out[name] = map[string]string{}
			}
		}
	}
	return out
})

// placeAt says what a known program takes where a value stands.
func (c *reading) placeAt(from int) (kind placeKind, found bool) {
	c.lexed()
	for _, s := range c.spans {
		if s.from == from && s.variable == "" {
			kind, found = max(kind, s.kind), true
		}
	}
	return kind, found
}

// operandOf returns the program that a value is an argument of. Of commands within
// each other it is the innermost.
func (c *reading) operandOf(at int) string {
	c.lexed()
	size, program := len(c.text)+1, ""
	for _, s := range c.segments {
		if s.operands <= at && at < s.to && s.to-s.from < size {
			size, program = s.to-s.from, s.program
		}
	}
	return program
}

// lexed reads the commands of the text, once.
func (c *reading) lexed() {
	if !c.read {
		c.read = true
		c.segments, c.spans = places(c.text)
	}
	c.left -= len(c.segments) + len(c.spans)
}

// takesOperands reports a program that acts on what it is given.
func takesOperands(program string) bool {
	_, known := knownPrograms[program]
	return known || plainPrograms[path.Base(program)]
}
