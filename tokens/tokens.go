// Package tokens mints, reads, hashes and masks confirmation codes.
//
// A code looks like CONFIRM-7KQ4MX. It locates one pending request on one card.
// It is not an authority: the authenticated sender decides who may answer. Even
// so a code is a secret. It comes from crypto/rand, is stored only as a keyed
// hash and is compared in constant time. A [Code] masks itself in fmt, slog and
// JSON, so that it cannot reach a log, the audit or the agent by accident. Only
// [Code.Reveal] returns the text, for cards.
//
// The package uses the standard library only.
package tokens

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Prefix begins every code that is shown to a person.
	Prefix = "CONFIRM-"
	// MinLength is the least number of characters after the prefix. With fewer,
	// five guesses in ten minutes would be worth trying.
	MinLength = 6
	// MaxLength bounds what Parse accepts.
	MaxLength = 32

	// alphabet has no two characters that people confuse: at most one of each group
	// 0/O, 1/I/L, 2/Z, 5/S, 8/B and U/V.
	alphabet = "23456789ACDEFGHJKMNPQRTVWXY"
	mask     = Prefix + "******"
)

// Errors of Parse and Find.
var (
	ErrNone = errors.New("no confirmation code in the text")
	ErrMany = errors.New("more than one confirmation code in the text")
	ErrForm = errors.New("not a confirmation code: expected " + Prefix + " and at least 6 characters")
)

// A Code is one confirmation code. The zero value is no code and equals
// nothing, not even another zero value.
type Code struct{ text string }

// Mint returns a new random code with n characters after the prefix. An n below
// MinLength is raised to it: a configuration can lengthen codes, never shorten
// them.
func Mint(n int) (Code, error) {
	return mint(rand.Reader, n)
}

func mint(random io.Reader, n int) (Code, error) {
	n = min(max(n, MinLength), MaxLength)
	// Bytes at or above limit are dropped: they would make the first characters of
	// the alphabet likelier than the others.
	const limit = 256 - 256%len(alphabet)
	out := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for len(out) < n {
		if _, err := io.ReadFull(random, buf); err != nil {
			return Code{}, fmt.Errorf("mint a confirmation code: %w", err)
		}
		for _, b := range buf {
			if int(b) < limit && len(out) < n {
				out = append(out, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return Code{text: string(out)}, nil
}

// Parse reads one code that a person typed, with or without the prefix. It
// accepts what phones change: lower case, surrounding space, long dashes. It also
// accepts the look-alikes in lookAlikes.
func Parse(s string) (Code, error) {
	s = strings.TrimSpace(s)
	if rest, ok := cutPrefix(s, true); ok {
		s = rest
	}
	n := runLength(s)
	if n != len(s) {
		return Code{}, ErrForm
	}
	return fold(s)
}

// Find returns the code in a free text. There it must have the prefix with its
// dash. Two different codes are ErrMany: Find does not guess which one was meant.
func Find(text string) (Code, error) {
	code, _, err := Cut(text)
	return code, err
}

// Cut is Find, and also returns the text with each occurrence of the code replaced by a line
// break. On an error, rest is empty.
func Cut(text string) (code Code, rest string, err error) {
	var found Code
	var without strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		behind, ok := cutPrefix(text[i:], false)
		if !ok || wordBefore(text[:i]) {
			i += size
			continue
		}
		start, n := i, runLength(behind)
		i = len(text) - len(behind) + n
		code, err := fold(behind[:n])
		if err != nil {
			continue
		}
		if found.text != "" && found.text != code.text {
			return Code{}, "", ErrMany
		}
		found = code
		without.WriteString(text[kept:start])
		without.WriteByte('\n')
		kept = i
	}
	if found.text == "" {
		return Code{}, "", ErrNone
	}
	return found, without.String() + text[kept:], nil
}

// cutPrefix removes "confirm" and one dash-like character. With spaced, it accepts a space too.
// That is only for texts that should be a code and nothing else: "please confirm payment" has
// no code.
func cutPrefix(s string, spaced bool) (string, bool) {
	const word = "confirm"
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return s, false
	}
	r, size := utf8.DecodeRuneInString(s[len(word):])
	if r == '-' || r == ' ' && spaced || r == '\u2212' || r == '\u00ad' || unicode.Is(unicode.Pd, r) {
		return s[len(word)+size:], true
	}
	return s, false
}

func wordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// runLength is the length in bytes of the leading run of letters and digits.
func runLength(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

// lookAlikes maps letters that no code contains to the character that the person
// most likely saw.
var lookAlikes = map[rune]rune{'B': '8', 'S': '5', 'Z': '2', 'U': 'V'}

func fold(s string) (Code, error) {
	if len(s) < MinLength || len(s) > MaxLength {
		return Code{}, ErrForm
	}
	out := make([]byte, 0, len(s))
	for _, r := range strings.ToUpper(s) {
		if to, ok := lookAlikes[r]; ok {
			r = to
		}
		if r > unicode.MaxASCII || strings.IndexByte(alphabet, byte(r)) < 0 {
			return Code{}, ErrForm
		}
		out = append(out, byte(r))
	}
	return Code{text: string(out)}, nil
}

// Reveal returns the code as a person must type it. Only the code that renders a card for a
// person may call it.
func (c Code) Reveal() string {
	if c.text == "" {
		return ""
	}
	return Prefix + c.text
}

// IsZero reports whether c is no code.
func (c Code) IsZero() bool { return c.text == "" }

// Equal compares in constant time. The zero value equals nothing.
func (c Code) Equal(d Code) bool {
	return c.text != "" && subtle.ConstantTimeCompare([]byte(c.text), []byte(d.text)) == 1
}

// A Hash is the keyed hash (HMAC-SHA-256, hex) under which a code is stored.
type Hash string

// Hash returns the keyed hash of the code. The key must have at least 16 bytes;
// with a shorter one, or for the zero code, the hash is empty and matches
// nothing.
func (c Code) Hash(key []byte) Hash {
	if c.text == "" || len(key) < 16 {
		return ""
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte("approver confirmation code v1\x00"))
	m.Write([]byte(c.text))
	return Hash(hex.EncodeToString(m.Sum(nil)))
}

// Equal compares in constant time. An empty hash equals nothing.
func (h Hash) Equal(g Hash) bool {
	return h != "" && subtle.ConstantTimeCompare([]byte(h), []byte(g)) == 1
}

// String masks the code.
func (c Code) String() string {
	if c.text == "" {
		return ""
	}
	return mask
}

// Format masks the code under every verb, also %#v and %x.
func (c Code) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue masks the code in slog.
func (c Code) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText masks the code in JSON and every other text encoding. There is no
// UnmarshalText: a code does not come back out of storage.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
