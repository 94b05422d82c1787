package shape

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
)

// IsRandom reports whether a value is unlikely to be the name of a program or a path: it has at
// least 3 digits, 3 ASCII letters and 10 different characters.
func IsRandom(s string) bool {
	var digits, letters int
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			letters++
		}
	}
	return digits >= 3 && letters >= 3 && len(seen) >= 10
}

// IsMixedLine reports whether a line of base64 looks random: it has at least 24 different
// characters, with digits and letters of both cases. Almost all random lines have about 40.
func IsMixedLine(l string) bool {
	seen := map[rune]bool{}
	for _, r := range l {
		seen[r] = true
	}
	return len(seen) >= 24 && strings.ContainsAny(l, "0123456789") && strings.ToLower(l) != l && strings.ToUpper(l) != l
}

// IsOpaque reports whether a value has no readable words: digits and letters of both cases
// alternate as in random text. prod-east-4417 has words, aHR0cHM6Ly9 has none.
func IsOpaque(value string) bool {
	kind := func(b byte) int {
		switch {
		case b >= '0' && b <= '9':
			return 1
		case b >= 'a' && b <= 'z':
			return 2
		case b >= 'A' && b <= 'Z':
			return 3
		}
		return 0
	}
	count, changes, last := 0, 0, 0
	for i := range len(value) {
		k := kind(value[i])
		if k != 0 {
			count++
			if k != last {
				changes++
			}
		}
		last = k
	}
	return changes*3 >= count
}

// IsKey reports whether the form of a value makes it a secret: nobody names a host, a table, a file
// or a command like that.
func IsKey(value string) bool { return IsRandom(value) && IsOpaque(value) }

// IsMixed reports whether a value has letters, and a digit or a sign, like most passwords.
func IsMixed(value string) bool {
	return strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsAny(value, "0123456789!@#%^+~")
}

// IsKeyLike reports whether a value is opaque, or has digits and letters of both cases.
func IsKeyLike(value string) bool {
	return IsOpaque(value) || strings.ContainsAny(value, "0123456789") && strings.ToLower(value) != value &&
		strings.ToUpper(value) != value
}

// LongRun is the least length in bytes of an unbroken run that may be a key.
const LongRun = 20

// IsWordy reports whether a value consists of words and short numbers, like a name:
// prod-east-4417, AutoModelForCausalLM, your_token_here.
func IsWordy(value string) bool { return HasOnly(value, isName) }

// HasOnly reports whether is returns true for each run of letters and digits in a value, without
// the digits at its end. More than 4 digits there do not count as a name.
func HasOnly(value string, is func(letters string) bool) bool {
	for piece := range strings.FieldsFuncSeq(value,
		func(r rune) bool { return r == '_' || r >= 0x80 || !IsWordByte(byte(r)) }) {
		letters := strings.TrimRight(piece, "0123456789")
		if len(piece)-len(letters) > maxNumber || !is(letters) {
			return false
		}
	}
	return true
}

// maxNumber is the greatest number of digits after a word in a name, as in v2, sha256 and 2026.
const maxNumber = 4

// isName reports whether letters are one word, or several joined words as in CamelCase.
func isName(letters string) bool {
	for at := 0; at < len(letters); {
		capitals := leading(letters[at:], 'A', 'Z')
		smalls := leading(letters[at+capitals:], 'a', 'z')
		switch {
		case capitals == 0 && (smalls == 0 || at > 0): // a digit among letters
			return false
		case smalls == 1 && capitals > 0:
			return false
		}
		at += capitals + smalls
	}
	return true
}

// IsWordAlone reports whether letters are one word: lowercase, capitalized or uppercase.
func IsWordAlone(letters string) bool {
	capitals := leading(letters, 'A', 'Z')
	smalls := leading(letters[capitals:], 'a', 'z')
	return capitals+smalls == len(letters) && (capitals <= 1 || smalls == 0)
}

// leading returns how many bytes at the start of s are in the range.
func leading(s string, from, to byte) int {
	n := 0
	for n < len(s) && s[n] >= from && s[n] <= to {
		n++
	}
	return n
}

// IsUnworded reports whether a value does not consist of words.
func IsUnworded(_, value string) bool { return !IsWordy(value) }

// IsMadeUp reports whether a value is too random to be a name.
func IsMadeUp(_, value string) bool {
	return IsRandom(value) || len(value) >= LongRun && !IsWordy(value)
}

// IsPair reports whether a value is user:password in base64.
func IsPair(_, value string) bool {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		text, err = base64.RawStdEncoding.DecodeString(value)
	}
	return err == nil && bytes.IndexByte(text, ':') > 0 &&
		!slices.ContainsFunc(text, func(b byte) bool { return b < ' ' || b > '~' })
}

// OpaqueKey reports whether a value may be a key, and is not a name or a path.
func OpaqueKey(_, value string) bool {
	return IsMadeUp("", value) && IsKeyLike(value) && !strings.Contains(strings.Trim(value, "/"), "/")
}
