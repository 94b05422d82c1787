package code

import (
	"strings"

	"approver.example/reflexcore/decode"
)

type tokenKind uint8

const (
	tkEnd tokenKind = iota
	tkName
	tkNumber
	tkString
	tkCommand // backticks and their like
	tkRegex   // a pattern, and for a substitution its replacement in more
	tkWords   // a list of words, such as qw(a b)
	tkOp
)

// how a string is read.
type quoting uint8

const (
	qRaw    quoting = 1 << iota // no escapes at all
	qSingle                     // only the quote and the backslash are escaped
	qInter                      // variables or expressions are filled in
	qFormat                     // Python's f"{x}"
)

// A token is a piece of source. Its text is a part of the source: for a string it
// is what lies between the quotes.
type token struct {
	kind    tokenKind
	how     quoting
	nl      bool // first on its line
	sp      bool // white space or a line end before it
	col     int32
	pos     int32
	end     int32
	text    string
	more    string // the replacement of a substitution
	evaluat bool   // the replacement is code
	twice   bool   // what the replacement gives is code
}

// isOp reports whether a token is an operator.
func (t *token) isOp(op string) bool { return t.kind == tkOp && t.text == op }

// isName reports whether a token is a name or word.
func (t *token) isName(name string) bool { return t.kind == tkName && t.text == name }

// A lexer cuts source into tokens. All of its habits are in its dialect.
type lexer struct {
	d         *dialect
	src       string
	i         int
	lineStart int
	nl, sp    bool
	toks      []token
	heredocs  []int // tokens whose body follows the current line
	most      int
}

// lex appends the tokens of src to toks, at most most of them; ok is false if
// there are more. Whatever it meets, it goes on: what is no token of the dialect
// is an operator of one byte.
func lex(d *dialect, src string, toks []token, most int) (_ []token, ok bool) {
	l := lexer{d: d, src: src, nl: true, sp: true, toks: toks, most: len(toks) + most}
	if d.openTag && strings.Contains(src, "<?") {
		l.outside()
	}
	for l.blank(); l.i < len(l.src); l.blank() {
		if len(l.toks) >= l.most {
			return l.toks, false
		}
		l.token()
	}
	return l.toks, true
}

// outside skips what is not between PHP's tags.
func (l *lexer) outside() {
	at := strings.Index(l.src[l.i:], "<?")
	if at < 0 {
		l.i = len(l.src)
		return
	}
	l.i += at + 2
	rest := l.src[l.i:]
	switch {
	case strings.HasPrefix(rest, "php"):
		l.i += 3
	case strings.HasPrefix(rest, "="):
		l.i++
	}
}

// blank skips white space and comments.
func (l *lexer) blank() {
	for l.i < len(l.src) {
		c := l.src[l.i]
		rest := l.src[l.i:]
		switch {
		case c == '\n':
			l.i++
			l.newline()
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.i++
			l.sp = true
		case c == '\\' && len(rest) > 1 && rest[1] == '\n':
			l.i += 2
			l.sp = true
		case l.d.openTag && strings.HasPrefix(rest, "?>"):
			l.i += 2
			l.outside()
			l.nl = true
		case l.nl && l.d.pod && c == '=' && l.i == l.lineStart && len(rest) > 1 && isLetter(rest[1]):
			end := "\n=cut"
			if l.d.podBegin && strings.HasPrefix(rest, "=begin") {
				end = "\n=end"
			}
			l.skipPast(end)
			l.skipLine()
		case l.d.lineComment != "" && strings.HasPrefix(rest, l.d.lineComment),
			l.d.hash && c == '#' && !l.hashIsName():
			if l.d.longBrackets && l.longComment() {
				continue
			}
			l.skipLine()
		case l.d.blockOpen != "" && strings.HasPrefix(rest, l.d.blockOpen):
			l.i += len(l.d.blockOpen)
			l.skipPast(l.d.blockClose)
			l.sp = true
		case l.nl && l.d.endMark && strings.HasPrefix(rest, "__END__"), l.nl && l.d.dataMark &&
			strings.HasPrefix(rest, "__DATA__"):
			l.i = len(l.src)
		default:
			return
		}
	}
}

// hashIsName: $#array in Perl.
func (l *lexer) hashIsName() bool {
	return l.d.lastIndex && l.i > 0 && l.src[l.i-1] == '$'
}

func (l *lexer) newline() {
	l.lineStart, l.nl, l.sp = l.i, true, true
	for _, t := range l.heredocs {
		l.heredoc(t)
	}
	l.heredocs = l.heredocs[:0]
}

func (l *lexer) skipLine() {
	if at := strings.IndexByte(l.src[l.i:], '\n'); at >= 0 {
		l.i += at
	} else {
		l.i = len(l.src)
	}
}

func (l *lexer) skipPast(end string) {
	if at := strings.Index(l.src[l.i:], end); at >= 0 {
		l.i += at + len(end)
	} else {
		l.i = len(l.src)
	}
}

func (l *lexer) longComment() bool {
	if level := longBracket(l.src[l.i+2:]); level >= 0 {
		l.i += 2
		l.longString(level)
		l.sp = true
		return true
	}
	return false
}

func (l *lexer) emit(kind tokenKind, start int, text string) *token {
	l.toks = append(l.toks, token{kind: kind, nl: l.nl, sp: l.sp, col: int32(max(0, start-l.lineStart)),
		pos: int32(start), end: int32(l.i), text: text})
	l.nl, l.sp = false, false
	return &l.toks[len(l.toks)-1]
}

// token reads one token. There is at least one byte.
func (l *lexer) token() {
	c, start := l.src[l.i], l.i
	switch {
	case isLetter(c) || c >= 0x80:
		l.name()
	case c == '\\' && l.d.nameEscapes && l.i+1 < len(l.src) && l.src[l.i+1] == 'u': // \u0065val
		for l.i < len(l.src) && (isWord(l.src[l.i]) || strings.IndexByte("\\{}$", l.src[l.i]) >= 0) {
			l.i++
		}
		l.emit(tkName, start, decode.Unescape(l.src[start:l.i]))
	case isDigit(c) || c == '.' && l.i+1 < len(l.src) && isDigit(l.src[l.i+1]) && !l.afterValue():
		for l.i++; l.i < len(l.src) && (isWord(l.src[l.i]) || l.src[l.i] == '.' && l.i+1 < len(l.src) &&
			isDigit(l.src[l.i+1])); l.i++ {
		}
		l.emit(tkNumber, start, l.src[start:l.i])
	case strings.IndexByte(l.d.sigils, c) >= 0 && l.sigil():
	case c == '"':
		l.quoted(start, c, l.d.double)
	case c == '\'':
		l.quoted(start, c, l.d.single)
	case c == '`' && l.d.backtick != 0:
		l.quoted(start, c, l.d.backtick&^qCommand)
		if l.d.backtick&qCommand != 0 {
			l.toks[len(l.toks)-1].kind = tkCommand
		}
	case c == '/' && l.d.regex && l.startsValue():
		l.i++
		body := l.until('/', '/')
		l.flags()
		l.emit(tkRegex, start, body)
	case c == '[' && l.d.longBrackets && longBracket(l.src[l.i:]) >= 0:
		body := l.longString(longBracket(l.src[l.i:]))
		l.emit(tkString, start, strings.TrimPrefix(body, "\n")).how = qRaw
	case c == '<' && l.d.heredoc && l.opensHeredoc():
	case c == '%' && l.d.percent && l.startsValue() && l.percent():
	case c == ':' && l.d.symbols && l.symbol():
	default:
		l.op()
	}
}

// qCommand marks backticks that run something; it is no way of quoting.
const qCommand quoting = 1 << 7

// afterValue reports whether the last token ends a value, so that what follows
// is an operator.
func (l *lexer) afterValue() bool {
	if len(l.toks) == 0 {
		return false
	}
	switch t := &l.toks[len(l.toks)-1]; t.kind {
	case tkOp:
		return t.text == ")" || t.text == "]" || t.text == "}" && !l.d.blocksOnly
	case tkName:
		return !l.d.isKeyword(t.text)
	default:
		return true
	}
}

// startsValue reports whether a / or % here begins a literal rather than being an
// operator. In languages whose calls need no parentheses, a space before it and
// none after it is what tells.
func (l *lexer) startsValue() bool {
	if !l.afterValue() {
		return true
	}
	last := l.toks[len(l.toks)-1]
	if last.isOp("}") && l.nl {
		return true
	}
	return l.d.bareCalls && last.kind == tkName && isLetter(last.text[0]) && l.sp && l.i+1 < len(l.src) &&
		l.src[l.i+1] > ' ' && l.src[l.i+1] != '='
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c >= 0x80 }

// name reads a name, and what a name can begin: a string with a prefix, a quoting
// operator.
func (l *lexer) name() {
	start := l.i
	for l.i < len(l.src) && (isWord(l.src[l.i]) || l.src[l.i] == '$' && l.d.dollarNames) {
		l.i++
	}
	text := l.src[start:l.i]
	if l.d.foldedNames {
		text = plainLetters(text)
	}
	next := byteAt(l.src, l.i)
	switch {
	case l.d.nameEscapes && next == '\\' && byteAt(l.src, l.i+1) == 'u':
		for l.i < len(l.src) && (isWord(l.src[l.i]) || strings.IndexByte("\\{}$", l.src[l.i]) >= 0) {
			l.i++
		}
		text = decode.Unescape(l.src[start:l.i])
	case l.d.prefixes && (next == '"' || next == '\'') && len(text) <= 2:
		if how, ok := pythonPrefix(text); ok {
			l.quoted(start, next, how)
			return
		}
	case l.d.quoteLike:
		if !l.afterArrow() && l.quoteLike(start, text) {
			return
		}
		for l.i+2 < len(l.src) && l.src[l.i] == ':' && l.src[l.i+1] == ':' && isLetter(l.src[l.i+2]) {
			for l.i += 2; l.i < len(l.src) && isWord(l.src[l.i]); l.i++ {
			}
		}
		text = l.src[start:l.i]
	case l.d.markedNames && (next == '?' || next == '!') && byteAt(l.src, l.i+1) != '=':
		l.i++
		text = l.src[start:l.i]
	}
	l.emit(tkName, start, text)
}

// sigil reads $x, @x, %x, &x and their like.
func (l *lexer) sigil() bool {
	start, i := l.i, l.i+1
	c := l.src[start]
	if (c == '%' || c == '&') && l.afterValue() {
		return false
	}
	for i < len(l.src) && (l.src[i] == '$' || l.src[i] == '@' && l.d.doubleAt) { // $$x, @@x
		i++
	}
	if i < len(l.src) && l.src[i] == '{' && l.d.bracedNames { // ${x}
		j := i + 1
		for j < len(l.src) && (isWord(l.src[j]) || l.src[j] == ':') {
			j++
		}
		if j < len(l.src) && l.src[j] == '}' && j > i+1 {
			l.i = j + 1
			l.emit(tkName, start, l.src[start:start+1]+l.src[i+1:j])
			return true
		}
		if c != '$' && c != '@' {
			return false
		}
		l.i = i // a block that is evaluated: the sigil alone
		l.emit(tkOp, start, l.src[start:i])
		return true
	}
	from := i
	for i < len(l.src) && (isWord(l.src[i]) || (l.src[i] == ':' && l.d.colonSigils && i+2 < len(l.src) &&
		(l.src[i+1] == ':' && isLetter(l.src[i+2]) || l.src[i-1] == ':' && isLetter(l.src[i+1])))) {
		i++
	}
	if i == from && !l.d.dollarNames { // where $ is a name
		if c != '$' || i >= len(l.src) || strings.IndexByte("!@/\\;,.0&`'+?<>()[]^-~=:%|\"", l.src[i]) < 0 ||
			!l.d.specialVars {
			return false
		}
		i++ // $! and its like
	}
	l.i = i
	l.emit(tkName, start, l.src[start:i])
	return true
}

func (l *lexer) afterArrow() bool {
	n := len(l.toks)
	return n > 0 && l.toks[n-1].kind == tkOp && (l.toks[n-1].text == "->" || l.toks[n-1].text == "{" &&
		l.i < len(l.src) && l.src[l.i] == '}')
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// operators of more than one byte, longest first. All languages share them: one
// that a language does not have does not occur in it.
var operators = [...]string{
	"**=", "||=", "&&=", "??=", "===", "!==", "<=>", "...", "<<=", ">>=", "//=", "?->", ">>>",
	"=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=",
	"^=",
	":=", "=~", "!~", "**", "//", "..", "<<", ">>", "++", "--", "&.", "~=",
}

// operatorsBy are the operators by their first byte.
var operatorsBy = func() (by [128][]string) {
	for _, op := range operators {
		by[op[0]] = append(by[op[0]], op)
	}
	return by
}()

func (l *lexer) op() {
	start, rest := l.i, l.src[l.i:]
	if len(rest) > 1 && rest[0] < 128 {
		for _, op := range operatorsBy[rest[0]] {
			if strings.HasPrefix(rest, op) {
				l.i += len(op)
				l.emit(tkOp, start, op)
				return
			}
		}
	}
	l.i++
	l.emit(tkOp, start, rest[:1])
}
