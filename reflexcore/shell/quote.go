package shell

import (
	"iter"
	"strings"
	"unicode/utf8"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// The characters that a backslash escapes: in double quotes, and in a here-document.
const inQuotes, inDocument = "$`\"\\\n", "$`\\\n"

// unescape appends s to buf without the backslashes before the characters in special. If special
// is empty, it drops any backslash that escapes a character, as in an unquoted literal.
func unescape(buf []byte, s, special string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		buf = append(buf, s[i])
	}
	return buf
}

// The single-character escapes, and the characters that they stand for.
const escapes, escaped = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"

// ansiC appends to buf the decoded text of $'…', or of echo -e and printf %b if octalZero is set,
// by the table in the bash manual. With octalZero, \c ends the text, and stopped is true.
func ansiC(buf []byte, s string, octalZero bool) (out []byte, stopped bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			buf = append(buf, s[i])
			continue
		}
		i++
		if at := strings.IndexByte(escapes, s[i]); at >= 0 {
			buf = append(buf, escaped[at])
			continue
		}
		switch c := s[i]; c {
		case 'x':
			if !octalZero && strings.HasPrefix(s[i+1:], "{") {
				n, used := bracedNumber(s[i+1:])
				buf, i = append(buf, byte(n)), i+used
				continue
			}
			n, used := number(s[i+1:], 16, 2)
			if used == 0 {
				buf = append(buf, '\\', 'x')
				continue
			}
			i += used
			buf = append(buf, byte(n))
		case 'u', 'U':
			most := 4
			if c == 'U' {
				most = 8
			}
			n, used := number(s[i+1:], 16, most)
			if used == 0 {
				buf = append(buf, '\\', c)
				continue
			}
			i += used
			buf = utf8.AppendRune(buf, rune(n))
		case 'c':
			if octalZero {
				return buf, true
			}
			if i+1 < len(s) {
				i++
				buf = append(buf, s[i]&0x1f)
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			at := i
			if octalZero && c == '0' {
				at++
			}
			n, used := number(s[at:], 8, 3)
			i = at + used - 1
			buf = append(buf, byte(n))
		default:
			buf = append(buf, '\\', c)
		}
	}
	return buf, false
}

// number reads up to most digits in a base, and returns the number and how many digits it used.
func number(s string, base, most int) (n, used int) {
	for used < len(s) && used < most {
		c := s[used]
		d := 99
		switch {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = int(c|0x20-'a') + 10
		}
		if d >= base {
			break
		}
		n = n*base + d
		used++
	}
	return n, used
}

// bracedNumber reads {H…}, of which bash keeps the low byte. The closing brace may be missing.
func bracedNumber(s string) (n, used int) {
	digits := 1
	for digits < len(s) {
		d, one := number(s[digits:], 16, 1)
		if one == 0 {
			break
		}
		n = (n<<4 | d) & 0xff
		digits++
	}
	if digits < len(s) && s[digits] == '}' {
		digits++
	}
	return n, digits
}

// quote quotes a text so that a shell reads it as one word.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`;&|<>(){}*?[]~#!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// spelled returns the taint of a text in which more than one printable character is written as a
// numeric escape: it is hidden as by any encoding. Control characters, such as those of colors,
// do not count.
func spelled(s string) effect.Taint {
	letters := 0
	for n := range numbered(s) {
		if n > ' ' && n < 0x7f {
			letters++
		}
	}
	if letters > 1 {
		return effect.Decoded
	}
	return 0
}

// numbered yields the characters that are written as numeric escapes in a text, and the number of
// digits of each.
func numbered(s string) iter.Seq2[int, int] {
	return func(yield func(n, digits int) bool) {
		for i := 0; i+2 < len(s); i++ {
			if s[i] != '\\' {
				continue
			}
			base, from, most := 8, i+1, 3
			switch s[i+1] {
			case 'x':
				base, from, most = 16, i+2, 2
			case 'u', 'U':
				base, from, most = 16, i+2, 8
			}
			if n, digits := number(s[from:], base, most); digits > 0 && !yield(n, digits) {
				return
			}
			i++
		}
	}
}

// verbatim returns the text of a word in which the shell expands nothing.
func verbatim(w *syntax.Word) (string, bool) {
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
			return q.Value, true
		}
	}
	text := w.Lit()
	return text, text != "" && isPlain(text)
}

// isPlain reports whether a word consists of characters that are special neither to a shell nor
// to a reader: a name, a number or an option.
func isPlain(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_./:=@%+,-", c) < 0 {
			return false
		}
	}
	return word != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// onlyPart returns the only part of a word, perhaps in double quotes, or nil if it has none or
// several.
func onlyPart(w *syntax.Word) syntax.WordPart {
	if len(w.Parts) != 1 {
		return nil
	}
	if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		return q.Parts[0]
	}
	return w.Parts[0]
}

// isPlainName reports whether a text is letters, digits and single separators between them, like
// the names of programs.
func isPlainName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isLetter(c) && (c < '0' || c > '9') && (c != '-' && c != '_' && c != '.' || i == 0 || text[i-1] == c) {
			return false
		}
	}
	return true
}

// isOneWord reports whether a value is one word and not a pattern.
func isOneWord(s string) bool { return hasNone(s, &splitting) }

// isKnownWord reports whether a value is fully known and one word.
func isKnownWord(s string) bool { return isOneWord(s) && effect.IsKnown(s) }

// isLiteral reports whether a literal has no special characters, so that it stands for itself.
func isLiteral(s string) bool { return hasNone(s, &special) }

// hasNone reports whether a text has none of the marked bytes.
func hasNone(s string, marks *[256]bool) bool {
	for i := 0; i < len(s); i++ {
		if marks[s[i]] {
			return false
		}
	}
	return true
}

// plainEdit matches a sed command that deletes lines, or replaces something by a plain word.
var plainEdit = lazyregexp.New(`^(?:(?:\d+(?:,\d+)?|/(?:[^/\\\n]|\\.)*/)d` +
	`|s/(?:[^/\\\n]|\\.)*/[\w.:@%+=-]*/[gI]*|s\|(?:[^|\\\n]|\\.)*\|[\w./:@%+=-]*\|[gI]*` +
	`|s#(?:[^#\\\n]|\\.)*#[\w./:@%+=-]*#[gI]*)$`)

// placeholder matches a sed command that replaces a marked name by a plain word, so that it adds
// nothing of its own to the template.
var placeholder = lazyregexp.New(`^s(?:/` + marked + `/[\w.:@%+=-]+/|\|` + marked + `\|[\w./:@%+=-]+\||#` + marked +
	`#[\w./:@%+=-]+#)g?$`)

const marked = `(?:@\w+@|\{\{ ?[\w.]+ ?\}\}|__\w+__|%\w+%|\$\{\w+\}|<\w+>)`

// special marks the bytes that make a literal stand for something else.
var special = bytesOf("\\{*?[~")

// splitting marks the bytes that split a value into several words, or make it a pattern.
var splitting = bytesOf("*?[" + usualIFS)

// bytesOf marks the bytes of a text.
func bytesOf(text string) (t [256]bool) {
	for _, c := range []byte(text) {
		t[c] = true
	}
	return t
}

// usualIFS is the default of IFS.
const usualIFS = " \t\n"

// A Literal is a word without substitutions, as it is written, without the quotes around it. If
// it has no quotes, it may be a pattern or begin with a tilde.
type Literal struct {
	Text  string
	Quote byte // the quote around the word, ' or "; 0 if it has none
}

// LiteralCommand returns the words of a text that is one simple command of literal words, without
// assignments, redirections, comments or anything after it. It returns nil for any other text, or
// one beyond lim.Bytes or lim.Nesting.
func LiteralCommand(src string, lim Limits) []Literal {
	r := parse(src, &lim)
	if r.how != Parsed || r.strange || len(r.file.Stmts) != 1 {
		return nil
	}
	s := r.file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns)+len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown ||
		int(s.End().Offset()) != len(strings.TrimRight(src, " \t")) || s.Semicolon.IsValid() {
		return nil
	}
	words := make([]Literal, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = asLiteral(w); !ok {
			return nil
		}
	}
	return words
}

func asLiteral(w *syntax.Word) (Literal, bool) {
	if len(w.Parts) != 1 {
		return Literal{}, false
	}
	switch q := w.Parts[0].(type) {
	case *syntax.Lit:
		return Literal{q.Value, 0}, !strings.Contains(q.Value, `\`)
	case *syntax.SglQuoted:
		return Literal{q.Value, '\''}, !q.Dollar
	case *syntax.DblQuoted:
		if len(q.Parts) == 0 {
			return Literal{"", '"'}, !q.Dollar
		}
		lit, ok := q.Parts[0].(*syntax.Lit)
		if !ok || len(q.Parts) > 1 {
			return Literal{}, false
		}
		return Literal{lit.Value, '"'}, !q.Dollar && !strings.Contains(lit.Value, `\`)
	}
	return Literal{}, false
}
