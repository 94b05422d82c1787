package shape

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
)

// IsRandom reports a value that no program or path is called: digits among
// letters, and many different characters.
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

// IsMixedLine reports a line of base64 as chance makes it: nearly all of them have
// some 40 different characters and of each kind one.
func IsMixedLine(l string) bool {
	seen := map[rune]bool{}
	for _, r := range l {
		seen[r] = true
	}
	return len(seen) >= 24 && strings.ContainsAny(l, "0123456789") && strings.ToLower(l) != l && strings.ToUpper(l) != l
}

// IsOpaque reports a value in which nobody reads a meaning: letters and digits that
// change as they do in random text. prod-east-4417 has words, aHR0cHM6Ly9 has none.
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

// IsKey reports what is a secret by its form: nobody names a host, a table, a file or
// a command like that.
func IsKey(value string) bool { return IsRandom(value) && IsOpaque(value) }

// IsMixed reports letters with a digit or a sign among them, as in most passwords.
func IsMixed(value string) bool {
	return strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsAny(value, "0123456789!@#%^+~")
}

// IsKeyLike reports a value without a meaning, or with digits, small letters and capitals.
func IsKeyLike(value string) bool {
	return IsOpaque(value) || strings.ContainsAny(value, "0123456789") && strings.ToLower(value) != value &&
		strings.ToUpper(value) != value
}

// LongRun is the length from which a stretch without a break may be a key.
const LongRun = 20

// IsWordy reports a value that is made of words and short numbers, as names are, and not at
// random: prod-east-4417, AutoModelForCausalLM, your_token_here.
func IsWordy(value string) bool { return HasOnly(value, isName) }

// HasOnly reports a value of which each stretch of letters and digits is such.
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

// maxNumber is how many digits a name has behind a word, as in v2, sha256 and 2026.
const maxNumber = 4

// isName reports words written together.
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

// IsWordAlone reports one word.
func IsWordAlone(letters string) bool {
	capitals := leading(letters, 'A', 'Z')
	smalls := leading(letters[capitals:], 'a', 'z')
	return capitals+smalls == len(letters) && (capitals <= 1 || smalls == 0)
}

// leading is how many bytes at the start of a text lie between two.
func leading(s string, from, to byte) int {
	n := 0
	for n < len(s) && s[n] >= from && s[n] <= to {
		n++
	}
	return n
}

// IsUnworded is a value that is made at random.
func IsUnworded(_, value string) bool { return !IsWordy(value) }

// IsMadeUp is a value that is random enough to be no name.
func IsMadeUp(_, value string) bool {
	return IsRandom(value) || len(value) >= LongRun && !IsWordy(value)
}

// IsPair reports user:password in base64.
func IsPair(_, value string) bool {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		text, err = base64.RawStdEncoding.DecodeString(value)
	}
	return err == nil && bytes.IndexByte(text, ':') > 0 &&
		!slices.ContainsFunc(text, func(b byte) bool { return b < ' ' || b > '~' })
}

// OpaqueKey reports what may be a key and is no name.
func OpaqueKey(_, value string) bool {
	return IsMadeUp("", value) && IsKeyLike(value) && !strings.Contains(strings.Trim(value, "/"), "/")
}
