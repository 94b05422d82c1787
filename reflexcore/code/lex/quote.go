package lex

import "strings"

// longBracket returns the level of Lua's [[ or [==[, or -1.
func longBracket(s string) int {
	if s == "" || s[0] != '[' {
		return -1
	}
	n := 1
	for n < len(s) && s[n] == '=' {
		n++
	}
	if n < len(s) && s[n] == '[' {
		return n - 1
	}
	return -1
}

func (l *lexer) longString(level int) string {
	start := l.i + level + 2
	l.i = start
	l.skipPast("]" + strings.Repeat("=", level) + "]")
	return l.src[start:max(start, min(l.i-level-2, len(l.src)))]
}

func pythonPrefix(text string) (how Quoting, ok bool) {
	for i := range len(text) {
		switch text[i] | 0x20 {
		case 'r':
			how |= Raw
		case 'f':
			how |= Format
		case 'b', 'u':
		default:
			return 0, false
		}
	}
	return how, true
}

// quoted reads a string; l.i is at its quote, start at its prefix.
func (l *lexer) quoted(start int, quote byte, how Quoting) {
	if l.d.Texts.Triple && strings.HasPrefix(l.src[l.i:], strings.Repeat(string(quote), 3)) {
		l.i += 3
		from := l.i
		for l.i < len(l.src) && !strings.HasPrefix(l.src[l.i:], l.src[from-3:from]) {
			if l.src[l.i] == '\\' && l.i+1 < len(l.src) {
				l.i++
			}
			l.i++
		}
		end := min(l.i, len(l.src))
		l.i = min(l.i+3, len(l.src))
		l.emit(String, start, l.src[from:end]).How = how
		return
	}
	l.i++
	body := l.until(quote, quote)
	l.emit(String, start, body).How = how
}

// until reads up to and including the closing delimiter, over escapes, nested delimiters and ${…} in
// templates. It returns the text before it.
func (l *lexer) until(open, end byte) string {
	start, depth := l.i, 0
	for l.i < len(l.src) {
		switch c := l.src[l.i]; {
		case c == '\\' && l.i+1 < len(l.src):
			l.i++
		case c == end && depth == 0:
			l.i++
			return l.src[start : l.i-1]
		case c == end:
			depth--
		case c == open && open != end:
			depth++
		case c == '[' && end == '/' && open == '/' && l.d.Texts.RegexClasses: // a class in a pattern
			for l.i++; l.i < len(l.src) && l.src[l.i] != ']' && l.src[l.i] != '\n'; l.i++ {
				if l.src[l.i] == '\\' {
					l.i++
				}
			}
		case l.d.Texts.Inner != "" && end != '\'' && strings.HasPrefix(l.src[l.i:], l.d.Texts.Inner) &&
			(end == '`' || !l.d.Texts.Templates):
			l.i += len(l.d.Texts.Inner)
			l.i = Closing(l.src, l.i, l.d.Texts.Inner[len(l.d.Texts.Inner)-1])
			continue
		case c == '\n' && l.d.Texts.Regex && open == '/' && end == '/' && l.d.Texts.RegexLine:
			return l.src[start:l.i] // not a pattern after all
		}
		l.i++
	}
	l.i = len(l.src)
	return l.src[min(start, len(l.src)):]
}

// Closing returns the position after the bracket that closes the one before i, over strings and
// brackets.
func Closing(src string, i int, open byte) int {
	end, depth := Closer(open), 0
	for ; i < len(src); i++ {
		switch c := src[i]; c {
		case '\\':
			i++
		case open:
			depth++
		case end:
			if depth == 0 {
				return i + 1
			}
			depth--
		case '"', '\'', '`':
			for i++; i < len(src) && src[i] != c; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(src)
}

func (l *lexer) flags() string {
	start := l.i
	for l.i < len(l.src) && IsLetter(l.src[l.i]) {
		l.i++
	}
	return l.src[start:l.i]
}

// Closer returns the bracket that closes open.
func Closer(open byte) byte {
	if at := strings.IndexByte("([{<", open); at >= 0 {
		return ")]}>"[at]
	}
	return open
}

// quoteLike reads Perl's q qq qw qx m qr s tr y.
func (l *lexer) quoteLike(start int, text string) bool {
	switch text {
	case "q", "qq", "qw", "qx", "m", "qr", "s", "tr", "y":
	default:
		return false
	}
	i := len(l.src) - len(strings.TrimLeft(l.src[l.i:], " \t\n"))
	if i >= len(l.src) || IsWord(l.src[i]) || strings.IndexByte(",;)", l.src[i]) >= 0 || l.src[i] == '#' && i > l.i ||
		l.src[i] == '=' && (i > l.i || i+1 < len(l.src) && (l.src[i+1] == '>' || l.src[i+1] == '=')) {
		return false
	}
	open := l.src[i]
	l.i = i + 1
	body := l.until(open, Closer(open))
	kind, how, more := String, Quoting(Filled), ""
	switch text {
	case "q":
		how = Single
	case "qw":
		kind, how = Words, Raw
	case "qx":
		kind = Command
	case "m", "qr":
		kind = Regex
	case "s", "tr", "y":
		kind = Regex
		if Closer(open) != open {
			l.i = len(l.src) - len(strings.TrimLeft(l.src[l.i:], " \t\n"))
			if l.i < len(l.src) {
				open = l.src[l.i]
				l.i++
			}
		}
		more = l.until(open, Closer(open))
	}
	if open == '\'' && text != "q" {
		how = Raw
	}
	flags := ""
	if kind == Regex {
		flags = l.flags()
	}
	t := l.emit(kind, start, body)
	t.How, t.More, t.Evaluated = how, more, text == "s" && strings.Contains(flags, "e")
	t.Twice = t.Evaluated && strings.Count(flags, "e") > 1
	return true
}

// percent reads Ruby's %w[] %q() %x() %().
func (l *lexer) percent() bool {
	start, i := l.i, l.i+1
	letter := byte('Q')
	if i < len(l.src) && IsLetter(l.src[i]) {
		letter = l.src[i]
		i++
	}
	if i >= len(l.src) || IsWord(l.src[i]) || l.src[i] <= ' ' || l.src[i] == '=' {
		return false
	}
	open := l.src[i]
	l.i = i + 1
	t := l.emit(String, start, "")
	t.Text = l.until(open, Closer(open))
	t.End = int32(l.i)
	switch letter {
	case 'q', 's':
		t.How = Single
	case 'w', 'i', 'W', 'I':
		t.Kind, t.How = Words, Raw
	case 'x':
		t.Kind, t.How = Command, Filled
	case 'r':
		t.Kind = Regex
		l.flags()
	default:
		t.How = Filled
	}
	return true
}

// symbol reads Ruby's :name and :"name" as strings.
func (l *lexer) symbol() bool {
	if l.i+1 >= len(l.src) || l.i > 0 && l.src[l.i-1] == ':' {
		return false
	}
	start := l.i
	switch c := l.src[l.i+1]; {
	case c == '"':
		l.i++
		l.quoted(start, '"', Filled)
		return true
	case IsLetter(c) && (l.sp || !l.afterValue()):
		for l.i += 2; l.i < len(l.src) && (IsWord(l.src[l.i]) || l.src[l.i] == '?' || l.src[l.i] == '!'); l.i++ {
		}
		l.emit(String, start, l.src[start+1:l.i]).How = Raw
		return true
	}
	return false
}

// opensHeredoc reads <<EOF, <<~'EOF' and <<<EOT as a string whose body begins on the next line.
func (l *lexer) opensHeredoc() bool {
	rest, start := l.src[l.i:], l.i
	skip := "<<"
	if l.d.Texts.InlineHeredoc {
		skip = "<<<"
	}
	if !strings.HasPrefix(rest, skip) || !l.d.Texts.InlineHeredoc && l.afterValue() && !l.sp {
		return false
	}
	i := len(skip)
	for l.d.Texts.InlineHeredoc && i < len(rest) && rest[i] == ' ' {
		i++
	}
	if i < len(rest) && (rest[i] == '~' || rest[i] == '-') {
		i++
	}
	how, quote := Filled, byte(0)
	if i < len(rest) && (rest[i] == '"' || rest[i] == '\'') {
		quote = rest[i]
		if quote == '\'' {
			how = Raw
		}
		i++
	}
	from := i
	for i < len(rest) && IsWord(rest[i]) {
		i++
	}
	tag := rest[from:i]
	if tag == "" || IsDigit(tag[0]) || l.d.Texts.UpperHeredoc && quote == 0 && (tag[0] < 'A' || tag[0] > 'Z') &&
		rest[2] != '~' && rest[2] != '-' {
		return false
	}
	if quote != 0 {
		if i >= len(rest) || rest[i] != quote {
			return false
		}
		i++
	}
	l.i += i
	t := l.emit(String, start, tag)
	t.How = how
	l.heredocs = append(l.heredocs, len(l.toks)-1)
	return true
}

// heredoc reads the body of a token: the lines up to its tag.
func (l *lexer) heredoc(at int) {
	tag, from := l.toks[at].Text, l.i
	for l.i < len(l.src) {
		line := l.src[l.i:]
		next := len(l.src)
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line, next = line[:n], l.i+n+1
		}
		trimmed := strings.Trim(line, " \t\r")
		if trimmed == tag || l.d.Texts.InlineHeredoc && strings.HasPrefix(trimmed, tag) &&
			!IsWord(ByteAt(trimmed, len(tag))) {
			l.toks[at].Text = l.src[from:l.i]
			l.i = next
			if l.d.Texts.InlineHeredoc {
				l.i -= len(line) - strings.Index(line, tag) - len(tag) + 1
				l.i = max(from, min(l.i, len(l.src)))
			}
			l.lineStart = l.i
			return
		}
		l.i = next
	}
	l.toks[at].Text = l.src[from:]
	l.lineStart = l.i
}
