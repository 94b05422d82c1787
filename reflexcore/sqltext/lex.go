package sqltext

import (
	"encoding/hex"
	"strings"

	"approver.example/reflexcore/wordset"
)

// quirks says how a dialect writes texts, names and comments.
type quirks struct {
	backslash bool // '\'' is a quote in a text
	double    bool // "x" is a text, not a name
	hash      bool // # begins a comment
	dashes    bool // -- needs a blank after it
	nested    bool // /* /* */ */
	dollar    bool // $$ text $$
	brackets  bool // [x] is a name
	slashes   bool // // begins a comment
	execute   bool // /*! x */ is not a comment
}

var dialects = map[string]quirks{
	"postgres": {nested: true, dollar: true},
	"mysql":    {backslash: true, double: true, hash: true, dashes: true, execute: true},
	"sqlite":   {brackets: true},
	"mssql":    {nested: true, brackets: true},
	"oracle":   {},
}

// canonical are the dialects by the usual names of clients and servers.
var canonical = wordset.Index(`
postgres: psql postgres postgresql pg cockroach redshift pgcli duckdb
mysql: mysql mariadb mycli tidb
sqlite: sqlite sqlite3 litecli
mssql: mssql sqlcmd sqlserver tsql osql
oracle: oracle sqlplus
redis: redis redis-cli valkey valkey-cli keydb-cli
mongo: mongo mongosh mongodb
`, func(dialect string) string { return dialect })

// A lexer splits a text into tokens. An unclosed token ends with the text.
type lexer struct {
	s    string
	at   int
	q    quirks
	open bool // a text or comment did not end
	exec int  // open /*! comments
}

// tokens returns at most so many tokens, and whether these are all.
func (l *lexer) tokens(most int) (t []token, all bool) {
	for tok, ok := l.next(); ok; tok, ok = l.next() {
		if len(t) >= most {
			return t, false
		}
		t = append(t, tok)
	}
	return t, true
}

// next returns a token; false at the end.
func (l *lexer) next() (token, bool) {
	for l.at < len(l.s) {
		c := l.s[l.at]
		rest := l.s[l.at:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			l.at++
		case strings.HasPrefix(rest, "--") && (!l.q.dashes || len(rest) == 2 || rest[2] <= ' '), c == '#' && l.q.hash,
			l.q.slashes && strings.HasPrefix(rest, "//"):
			l.line()
		case strings.HasPrefix(rest, "/*"):
			l.comment()
		case l.exec > 0 && strings.HasPrefix(rest, "*/"):
			l.exec--
			l.at += 2
		case c == '\'':
			return l.quoted('\'', tText, l.q.backslash)
		case c == '"':
			if l.q.double {
				return l.quoted('"', tText, l.q.backslash)
			}
			return l.quoted('"', tName, false)
		case c == '`':
			return l.quoted('`', tName, false)
		case c == '[' && l.q.brackets:
			return l.quoted(']', tName, false)
		case c == '$' && l.q.dollar && !l.wordBefore():
			if t, ok := l.dollar(); ok {
				return t, true
			}
			l.at++
			return token{tSign, "$"}, true
		case c >= '0' && c <= '9', c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
			start := l.at
			for l.at < len(l.s) && (isWord(l.s[l.at]) || l.s[l.at] == '.') {
				l.at++
			}
			return token{tNumber, strings.ToLower(l.s[start:l.at])}, true
		case isWord(c):
			return l.word()
		default:
			n := 1
			if len(rest) > 1 && strings.ContainsRune("<>!:|=", rune(c)) &&
				strings.ContainsRune("<>=|:", rune(rest[1])) {
				n = 2
			}
			l.at += n
			return token{tSign, rest[:n]}, true
		}
	}
	return token{}, false
}

func isWord(c byte) bool {
	return c == '_' || c == 0 || c >= 0x80 || c == '@' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (l *lexer) wordBefore() bool { return l.at > 0 && isWord(l.s[l.at-1]) }

// word reads a bare word, or a text with a prefix: E'…', N'…', X'…', U&'…'.
func (l *lexer) word() (token, bool) {
	start := l.at
	for l.at < len(l.s) && (isWord(l.s[l.at]) || l.s[l.at] == '$') {
		l.at++
	}
	w := strings.ToLower(l.s[start:l.at])
	if l.at < len(l.s) && l.s[l.at] == '\'' {
		switch w {
		case "e":
			return l.quoted('\'', tText, true)
		case "n", "b", "q", "u", "_utf8", "_binary", "_latin1", "_utf8mb4":
			return l.quoted('\'', tText, l.q.backslash)
		case "x":
			t, ok := l.quoted('\'', tText, false)
			t.s = unhex(t.s)
			return t, ok
		}
	}
	return token{tWord, w}, true
}

func unhex(s string) string {
	if b, err := hex.DecodeString(s[:len(s)&^1]); err == nil {
		return string(b)
	}
	return s
}

func (l *lexer) line() {
	_, after, _ := strings.Cut(l.s[l.at:], "\n")
	l.at = len(l.s) - len(after)
}

// comment skips a comment, or enters one that MySQL executes.
func (l *lexer) comment() {
	rest := l.s[l.at+2:]
	if l.q.execute && (strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "M!")) {
		l.at += 2 + strings.IndexByte(rest, '!') + 1
		for l.at < len(l.s) && l.s[l.at] >= '0' && l.s[l.at] <= '9' {
			l.at++
		}
		l.exec++
		return
	}
	l.at += 2
	for depth := 1; depth > 0; {
		if l.at >= len(l.s) {
			l.open = true
			return
		}
		switch {
		case strings.HasPrefix(l.s[l.at:], "*/"):
			depth--
			l.at += 2
		case l.q.nested && strings.HasPrefix(l.s[l.at:], "/*"):
			depth++
			l.at += 2
		default:
			l.at++
		}
	}
}

// quoted reads up to the closing quote; a doubled quote is a part of the text.
func (l *lexer) quoted(quote byte, kind tokenKind, backslash bool) (token, bool) {
	l.at++
	start := l.at
	plain := true
	for ; l.at < len(l.s); l.at++ {
		switch c := l.s[l.at]; {
		case c == '\\' && backslash:
			l.at++
			plain = false
		case c == quote:
			if l.at+1 < len(l.s) && l.s[l.at+1] == quote {
				l.at++
				plain = false
				continue
			}
			s := l.s[start:l.at]
			l.at++
			if !plain {
				s = unquote(s, quote, backslash)
			}
			if kind == tName {
				s = strings.ToLower(s)
			}
			return token{kind, s}, true
		}
	}
	l.open = true
	l.at = len(l.s)
	return token{kind, l.s[min(start, len(l.s)):]}, true
}

func unquote(s string, quote byte, backslash bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\' && i+1 < len(s):
			i++
			c := s[i]
			if at := strings.IndexByte("ntr", c); at >= 0 {
				c = "\n\t\r"[at]
			}
			b.WriteByte(c)
		case s[i] == quote:
			i++
			b.WriteByte(quote)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// dollar reads $tag$ text $tag$.
func (l *lexer) dollar() (token, bool) {
	end := strings.IndexByte(l.s[l.at+1:], '$')
	if end < 0 || end > 64 {
		return token{}, false
	}
	tag := l.s[l.at : l.at+end+2]
	for i := 1; i < len(tag)-1; i++ {
		if !isWord(tag[i]) || tag[i] == '@' || i == 1 && tag[i] >= '0' && tag[i] <= '9' {
			return token{}, false
		}
	}
	body := l.s[l.at+len(tag):]
	n := strings.Index(body, tag)
	if n < 0 {
		l.open = true
		l.at = len(l.s)
		return token{tText, body}, true
	}
	l.at += 2*len(tag) + n
	return token{tText, body[:n]}, true
}
