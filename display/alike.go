package display

import (
	_ "embed" // the table
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"approver.example/display/shape"
)

//go:embed alikes.txt
var alikesText string

// looksLike returns the ASCII texts that characters of the table look like.
var looksLike = sync.OnceValue(func() map[rune]string {
	all := map[rune]string{}
	character := func(digits string) rune {
		n, err := strconv.ParseUint(digits, 16, 21)
		if err != nil {
			panic("display: alikes.txt: " + err.Error())
		}
		return rune(n)
	}
	for name, words := range shape.Rows(alikesText) {
		var like strings.Builder
		for digits := range strings.FieldsSeq(name) {
			like.WriteRune(character(digits))
		}
		for digits := range strings.FieldsSeq(words) {
			all[character(digits)] = like.String()
		}
	}
	return all
})

// lookAlike reports whether a character looks like an ASCII one.
func lookAlike(r rune) bool {
	return alikeByHand(r) || r >= utf8.RuneSelf && r != '×' && looksLike()[r] != "" // people write 2×3
}

// alikeAlone is lookAlike for a word without a letter that is certainly ASCII. In the scripts that
// people write today, many words have only letters that look like ASCII ones, so only those count
// there that were found by hand.
func alikeAlone(r rune) bool {
	return alikeByHand(r) || !inUse(r) && lookAlike(r)
}

// inUse reports whether a character belongs to a script of today that is not Latin.
func inUse(r rune) bool {
	return rightToLeft(r) || r >= 0x3000 && r <= 0x30ff || unicode.In(r, unicode.Greek, unicode.Cyrillic,
		unicode.Armenian, unicode.Georgian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai,
		unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Mongolian, unicode.Ethiopic, unicode.Han,
		unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}
