package lex

import (
	"strings"

	"approver.example/reflexcore/decode"
)

// A lexer splits source into tokens.
type lexer struct {
	d         *Syntax
	src       string
	i         int
	lineStart int
	nl, sp    bool
	toks      []Token
	heredocs  []int // tokens whose body follows the current line
	most      int
}

// Tokens appends the tokens of src to toks, up to most of them; ok is false if there are more. It
// never fails: a byte that begins no token is an operator.
func Tokens(d *Syntax, src string, toks []Token, most int) (_ []Token, ok bool) {
	l := lexer{d: d, src: src, nl: true, sp: true, toks: toks, most: len(toks) + most}
	if d.Comments.OpenTag && strings.Contains(src, "<?") {
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
	l.skipPast("<?")
	for _, more := range [...]string{"php", "="} {
		if strings.HasPrefix(l.src[l.i:], more) {
			l.i += len(more)
			return
		}
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
		case l.d.Comments.OpenTag && strings.HasPrefix(rest, "?>"):
			l.i += 2
			l.outside()
			l.nl = true
		case l.nl && l.d.Comments.Pod && c == '=' && l.i == l.lineStart && len(rest) > 1 && IsLetter(rest[1]):
			end := "\n=cut"
			if l.d.Comments.PodBegin && strings.HasPrefix(rest, "=begin") {
				end = "\n=end"
			}
			l.skipPast(end)
			l.skipLine()
		case l.d.Comments.Line != "" && strings.HasPrefix(rest, l.d.Comments.Line),
			l.d.Comments.Hash && c == '#' && !l.hashIsName():
			if l.d.Texts.LongBrackets && l.longComment() {
				continue
			}
			l.skipLine()
		case l.d.Comments.BlockOpen != "" && strings.HasPrefix(rest, l.d.Comments.BlockOpen):
			l.i += len(l.d.Comments.BlockOpen)
			l.skipPast(l.d.Comments.BlockClose)
			l.sp = true
		case l.nl && l.d.Comments.EndMark && strings.HasPrefix(rest, "__END__"), l.nl && l.d.Comments.DataMark &&
			strings.HasPrefix(rest, "__DATA__"):
			l.i = len(l.src)
		default:
			return
		}
	}
}

// hashIsName reports whether a # belongs to a name: $#array in Perl.
func (l *lexer) hashIsName() bool {
	return l.d.Names.LastIndex && l.i > 0 && l.src[l.i-1] == '$'
}

func (l *lexer) newline() {
	l.lineStart, l.nl, l.sp = l.i, true, true
	for _, t := range l.heredocs {
		l.heredoc(t)
	}
	l.heredocs = l.heredocs[:0]
}

func (l *lexer) skipLine() {
	line, _, _ := strings.Cut(l.src[l.i:], "\n")
	l.i += len(line)
}

func (l *lexer) skipPast(end string) {
	_, after, _ := strings.Cut(l.src[l.i:], end)
	l.i = len(l.src) - len(after)
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

func (l *lexer) emit(kind Kind, start int, text string) *Token {
	l.toks = append(l.toks, Token{Kind: kind, NewLine: l.nl, Spaced: l.sp, Col: int32(max(0, start-l.lineStart)),
		Pos: int32(start), End: int32(l.i), Text: text})
	l.nl, l.sp = false, false
	return &l.toks[len(l.toks)-1]
}

// token reads one token. At least one byte is left.
func (l *lexer) token() {
	c, start := l.src[l.i], l.i
	switch {
	case IsLetter(c) || c >= 0x80:
		l.name()
	case c == '\\' && l.d.Names.Escapes && l.i+1 < len(l.src) && l.src[l.i+1] == 'u': // \u0065val
		l.emitEscaped(start)
	case IsDigit(c) || c == '.' && l.i+1 < len(l.src) && IsDigit(l.src[l.i+1]) && !l.afterValue():
		for l.i++; l.i < len(l.src) && (IsWord(l.src[l.i]) || l.src[l.i] == '.' && l.i+1 < len(l.src) &&
			IsDigit(l.src[l.i+1])); l.i++ {
		}
		l.emit(Number, start, l.src[start:l.i])
	case strings.IndexByte(l.d.Names.Sigils, c) >= 0 && l.sigil():
	case c == '"':
		l.quoted(start, c, l.d.Texts.Double)
	case c == '\'':
		l.quoted(start, c, l.d.Texts.Single)
	case c == '`' && l.d.Texts.Backtick != 0:
		l.quoted(start, c, l.d.Texts.Backtick&^Runs)
		if l.d.Texts.Backtick&Runs != 0 {
			l.toks[len(l.toks)-1].Kind = Command
		}
	case c == '/' && l.d.Texts.Regex && l.startsValue():
		l.i++
		body := l.until('/', '/')
		l.flags()
		l.emit(Regex, start, body)
	case c == '[' && l.d.Texts.LongBrackets && longBracket(l.src[l.i:]) >= 0:
		body := l.longString(longBracket(l.src[l.i:]))
		l.emit(String, start, strings.TrimPrefix(body, "\n")).How = Raw
	case c == '<' && l.d.Texts.Heredoc && l.opensHeredoc():
	case c == '%' && l.d.Texts.Percent && l.startsValue() && l.percent():
	case c == ':' && l.d.Texts.Symbols && l.symbol():
	default:
		l.op()
	}
}

// emitEscaped reads the rest of a name with escapes such as \u0065.
func (l *lexer) emitEscaped(start int) {
	for l.i < len(l.src) && (IsWord(l.src[l.i]) || strings.IndexByte("\\{}$", l.src[l.i]) >= 0) {
		l.i++
	}
	text := decode.Unescape(l.src[start:l.i])
	l.emit(Name, start, text)
}

// afterValue reports whether the last token ends a value, so that what follows
// is an operator.
func (l *lexer) afterValue() bool {
	if len(l.toks) == 0 {
		return false
	}
	switch t := &l.toks[len(l.toks)-1]; t.Kind {
	case Op:
		return t.Text == ")" || t.Text == "]" || t.Text == "}" && !l.d.BlocksOnly
	case Name:
		return !l.d.IsKeyword(t.Text)
	default:
		return true
	}
}

// startsValue reports whether a / or % begins a literal rather than being an operator. In languages
// whose calls need no brackets, a space before it and none after it mean a literal.
func (l *lexer) startsValue() bool {
	if !l.afterValue() {
		return true
	}
	last := l.toks[len(l.toks)-1]
	if last.IsOp("}") && l.nl {
		return true
	}
	return l.d.BareCalls && last.Kind == Name && IsLetter(last.Text[0]) && l.sp && l.i+1 < len(l.src) &&
		l.src[l.i+1] > ' ' && l.src[l.i+1] != '='
}

// name reads a name, or what begins like one: a string with a prefix, a quoting operator.
func (l *lexer) name() {
	start := l.i
	for l.i < len(l.src) && (IsWord(l.src[l.i]) || l.src[l.i] == '$' && l.d.Names.Dollar) {
		l.i++
	}
	text := l.src[start:l.i]
	if l.d.Names.Folded {
		text = plainLetters(text)
	}
	next := ByteAt(l.src, l.i)
	switch {
	case l.d.Names.Escapes && next == '\\' && ByteAt(l.src, l.i+1) == 'u':
		l.emitEscaped(start)
		return
	case l.d.Texts.Prefixes && (next == '"' || next == '\'') && len(text) <= 2:
		if how, ok := pythonPrefix(text); ok {
			l.quoted(start, next, how)
			return
		}
	case l.d.Texts.QuoteLike:
		if !l.afterArrow() && l.quoteLike(start, text) {
			return
		}
		for l.i+2 < len(l.src) && l.src[l.i] == ':' && l.src[l.i+1] == ':' && IsLetter(l.src[l.i+2]) {
			for l.i += 2; l.i < len(l.src) && IsWord(l.src[l.i]); l.i++ {
			}
		}
		text = l.src[start:l.i]
	case l.d.Names.Marked && (next == '?' || next == '!') && ByteAt(l.src, l.i+1) != '=':
		l.i++
		text = l.src[start:l.i]
	}
	l.emit(Name, start, text)
}

// sigil reads $x, @x, %x, &x and similar names.
func (l *lexer) sigil() bool {
	start, i := l.i, l.i+1
	c := l.src[start]
	if (c == '%' || c == '&') && l.afterValue() {
		return false
	}
	for i < len(l.src) && (l.src[i] == '$' || l.src[i] == '@' && l.d.Names.DoubleAt) { // $$x, @@x
		i++
	}
	if i < len(l.src) && l.src[i] == '{' && l.d.Names.Braced { // ${x}
		j := i + 1
		for j < len(l.src) && (IsWord(l.src[j]) || l.src[j] == ':') {
			j++
		}
		if j < len(l.src) && l.src[j] == '}' && j > i+1 {
			l.i = j + 1
			l.emit(Name, start, l.src[start:start+1]+l.src[i+1:j])
			return true
		}
		if c != '$' && c != '@' {
			return false
		}
		l.i = i // a block that is evaluated: the sigil alone
		l.emit(Op, start, l.src[start:i])
		return true
	}
	from := i
	for i < len(l.src) && (IsWord(l.src[i]) || (l.src[i] == ':' && l.d.Names.ColonSigils && i+2 < len(l.src) &&
		(l.src[i+1] == ':' && IsLetter(l.src[i+2]) || l.src[i-1] == ':' && IsLetter(l.src[i+1])))) {
		i++
	}
	if i == from && !l.d.Names.Dollar { // unless $ alone is a name
		if c != '$' || i >= len(l.src) || strings.IndexByte("!@/\\;,.0&`'+?<>()[]^-~=:%|\"", l.src[i]) < 0 ||
			!l.d.Names.Special {
			return false
		}
		i++ // $! and its like
	}
	l.i = i
	l.emit(Name, start, l.src[start:i])
	return true
}

func (l *lexer) afterArrow() bool {
	n := len(l.toks)
	return n > 0 && l.toks[n-1].Kind == Op && (l.toks[n-1].Text == "->" || l.toks[n-1].Text == "{" &&
		l.i < len(l.src) && l.src[l.i] == '}')
}

// operators are those of more than one byte, longest first. All languages share them, because an
// operator of another language does not occur.
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
				l.emit(Op, start, op)
				return
			}
		}
	}
	l.i++
	l.emit(Op, start, rest[:1])
}
