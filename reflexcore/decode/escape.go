package decode

import (
	"strings"
)

// Percent undoes the escapes of URLs. What is no escape stays as it is.
func Percent(in string) string { return replace(in, true, percent) }

// hexDigit returns the value of a hex digit, or 16.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// hexNumber reads between least and most hex digits.
func hexNumber(in string, least, most int) (r rune, n int) {
	for n < most && n < len(in) && hexDigit(in[n]) < 16 {
		r = r<<4 | rune(hexDigit(in[n]))
		n++
	}
	if n < least {
		return 0, 0
	}
	return r, n
}

// escaped reads one numeric backslash escape at the start of in: \x41, \x{41}, \u0041, \u{41},
// \U00000041, \101, \0101. It returns the length 0 if there is none.
func escaped(in string) (r rune, n int) {
	if len(in) < 3 || in[0] != '\\' {
		return 0, 0
	}
	switch c := in[1]; {
	case (c == 'x' || c == 'u') && in[2] == '{':
		r, n = hexNumber(in[3:], 1, 8)
		if n == 0 || 3+n >= len(in) || in[3+n] != '}' {
			return 0, 0
		}
		return r, n + 4
	case c == 'x':
		r, n = hexNumber(in[2:], 2, 2)
	case c == 'u':
		r, n = hexNumber(in[2:], 4, 4)
	case c == 'U':
		r, n = hexNumber(in[2:], 8, 8)
	case c >= '0' && c <= '3':
		most := 3
		if c == '0' {
			most = 4
		}
		for n < most && 1+n < len(in) && in[1+n] >= '0' && in[1+n] <= '7' {
			r = r<<3 | rune(in[1+n]-'0')
			n++
		}
		if n < 3 || r > 255 {
			return 0, 0
		}
		return r, n + 1
	}
	if n == 0 {
		return 0, 0
	}
	return r, n + 2
}

// percent reads one %41.
func percent(in string) (r rune, n int) {
	if len(in) < 3 || in[0] != '%' {
		return 0, 0
	}
	if r, n = hexNumber(in[1:], 2, 2); n == 0 {
		return 0, 0
	}
	return r, 3
}

// entity reads one numeric &#65; or &#x41;.
func entity(in string) (r rune, n int) {
	if len(in) < 4 || in[0] != '&' || in[1] != '#' {
		return 0, 0
	}
	i := 2
	if in[i]|0x20 == 'x' {
		if r, n = hexNumber(in[3:], 1, 6); n == 0 {
			return 0, 0
		}
		i += 1 + n
	} else {
		for i < len(in) && i < 9 && in[i] >= '0' && in[i] <= '9' {
			r = r*10 + rune(in[i]-'0')
			i++
		}
	}
	if i == 2 || i >= len(in) || in[i] != ';' {
		return 0, 0
	}
	return r, i + 1
}

// replace replaces each escape that the function one reads by its character. With asBytes, values
// below 256 become single bytes.
func replace(in string, asBytes bool, one func(string) (rune, int)) string {
	var b strings.Builder
	b.Grow(len(in))
	for i := 0; i < len(in); {
		r, n := one(in[i:])
		if n == 0 {
			b.WriteByte(in[i])
			i++
			continue
		}
		writeEscaped(&b, r, asBytes && in[i+1]|0x20 != 'u')
		i += n
	}
	return b.String()
}

// writeEscaped writes the value of an escape; an invalid rune becomes U+FFFD.
func writeEscaped(b *strings.Builder, r rune, asByte bool) {
	if asByte && r < 256 {
		b.WriteByte(byte(r))
	} else {
		b.WriteRune(r)
	}
}

// plainEscapes are the escapes of one letter in C, shells and most languages.
const plainEscapes = "a\ab\be\x1bf\fn\nr\rt\tv\v"

// Unescape undoes backslash escapes: the numeric ones, \n and the like, and a backslash before any
// other character, which means that character.
func Unescape(in string) string { return unescape(in, false) }

// UnescapeKnown is [Unescape] for languages that keep a backslash before a character without a
// meaning, such as "\d" in Python.
func UnescapeKnown(in string) string { return unescape(in, true) }

func unescape(in string, keep bool) string {
	if strings.IndexByte(in, '\\') < 0 {
		return in
	}
	var b strings.Builder
	b.Grow(len(in))
	for i := 0; i < len(in); {
		if in[i] != '\\' || i+1 == len(in) {
			b.WriteByte(in[i])
			i++
			continue
		}
		if r, n := escaped(in[i:]); n > 0 {
			writeEscaped(&b, r, in[i+1]|0x20 != 'u')
			i += n
			continue
		}
		c := in[i+1]
		switch at := strings.IndexByte(plainEscapes, c); {
		case c == '0':
			c = 0
		case c == '\n': // a continued line
			i += 2
			continue
		case at >= 0 && at%2 == 0:
			c = plainEscapes[at+1]
		case keep && strings.IndexByte(`\'"$`, c) < 0:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		i += 2
	}
	return b.String()
}
