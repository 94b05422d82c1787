package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mask masks every confirmation code with its prefix in a text: whatever Find would take for one, and
// also a code with letters glued to it.
func Mask(s string) string {
	const word = "confirm"
	var b strings.Builder
	done := 0
	for i := 0; i+len(word) < len(s); i++ {
		if !hasPrefixFold(s[i:], word) {
			continue
		}
		start := i + len(word)
		dash, size := utf8.DecodeRuneInString(s[start:])
		if dash != '-' && dash != ' ' && dash != '\u2212' && dash != '\u00ad' && !unicode.Is(unicode.Pd, dash) {
			continue
		}
		start += size
		end := start
		for end < len(s) {
			c, size := utf8.DecodeRuneInString(s[end:])
			if !unicode.IsLetter(c) && !unicode.IsDigit(c) || hasPrefixFold(s[end:], word) {
				break
			}
			end += size
		}
		if !codeLike(s[start:end]) {
			continue
		}
		b.WriteString(s[done:start])
		b.WriteString("******")
		done, i = end, end-1
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && s[0]|0x20 == prefix[0] && strings.EqualFold(s[:len(prefix)], prefix)
}

// codeLike reports whether the letters and digits after "confirm-" may be a
// code. "confirm-dialog" is none.
func codeLike(run string) bool {
	if _, err := Parse(run); err == nil {
		return true
	}
	if len(run) < MinLength {
		return false
	}
	head := run[:MinLength]
	_, err := Parse(head)
	return err == nil && (strings.ContainsAny(head, "0123456789") || head == strings.ToUpper(head))
}
