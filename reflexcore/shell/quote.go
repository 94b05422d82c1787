package shell

import (
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// What a backslash takes the meaning from: in double quotes, and in a document.
const inQuotes, inDocument = "$`\"\\\n", "$`\\\n"

// unescape drops the backslashes before those letters; empty: before any, as in a literal.
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

// ansiC decodes $'…', and what echo -e and printf understand, by the table of
// bash's manual. It ends at \c if stop says so.
func ansiC(buf []byte, s string, octalZero bool) (out []byte, stopped bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			buf = append(buf, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			buf = append(buf, 7)
		case 'b':
			buf = append(buf, 8)
		case 'e', 'E':
			buf = append(buf, 27)
		case 'f':
			buf = append(buf, 12)
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'v':
			buf = append(buf, 11)
		case '\\', '\'', '"', '?':
			buf = append(buf, c)
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
			most, at := 3, i
			if octalZero && c == '0' {
				at++
			}
			n, used := number(s[at:], 8, most)
			i = at + used - 1
			buf = append(buf, byte(n))
		default:
			buf = append(buf, '\\', c)
		}
	}
	return buf, false
}

// number reads up to most digits.
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

// bracedNumber reads {H…}, of which bash keeps the last byte. The bracket may not close.
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

// quote makes a text one word of a shell again.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`;&|<>(){}*?[]~#!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// spelled is the taint of a text in which letters are written as their numbers: it is
// hidden as by any encoding. Control characters, such as those of colours, are not.
func spelled(s string) effect.Taint {
	letters := 0
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
		if n, used := number(s[from:], base, most); used > 0 && n > ' ' && n < 0x7f {
			letters++
		}
		i++
	}
	if letters > 1 {
		return effect.Decoded
	}
	return 0
}
