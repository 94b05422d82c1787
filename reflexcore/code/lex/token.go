// Package lex splits source code of several languages into tokens. A [Syntax] has the differences
// between the languages. [Tokens] never fails: a byte that begins no token is an operator.
//
// token.go has the result and syntax.go the languages' properties. lex.go splits, and quote.go reads
// strings and patterns.
package lex

import (
	"strings"
	"unicode/utf8"
)

// A Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota // after the last token
	Name
	Number
	String
	Command // backticks and the like
	Regex   // a pattern, and for a substitution its replacement in more
	Words   // a list of words, such as qw(a b)
	Op
)

// A Quoting is a way to read a string.
type Quoting uint8

// The ways of quoting.
const (
	Raw    Quoting = 1 << iota // no escapes at all
	Single                     // only the quote and the backslash are escaped
	Filled                     // variables or expressions are expanded
	Format                     // Python's f"{x}"
)

// Runs marks backticks that run something. It is no way of quoting.
const Runs Quoting = 1 << 7

// A Token is a piece of source. Text is a part of the source; for a string it is the text between
// the quotes.
type Token struct {
	Kind      Kind
	How       Quoting
	NewLine   bool // first on its line
	Spaced    bool // white space or a line end before it
	Col       int32
	Pos       int32
	End       int32
	Text      string
	More      string // the replacement of a substitution
	Evaluated bool   // the replacement is code
	Twice     bool   // the result of the replacement is code
}

// IsOp reports whether a token is an operator.
func (t *Token) IsOp(op string) bool { return t.Kind == Op && t.Text == op }

// IsName reports whether a token is a name or word.
func (t *Token) IsName(name string) bool { return t.Kind == Name && t.Text == name }

// Nesting returns 1 for an opening bracket, -1 for a closing one, and 0 for any other token.
func (t *Token) Nesting() int {
	if t.Kind == Op {
		switch t.Text {
		case "(", "[", "{":
			return 1
		case ")", "]", "}":
			return -1
		}
	}
	return 0
}

// IsLetter reports whether a byte is an ASCII letter or an underscore.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// IsDigit reports whether a byte is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsWord reports whether a byte may be in a name.
func IsWord(c byte) bool { return IsLetter(c) || IsDigit(c) || c >= 0x80 }

// ByteAt returns the byte at i, or 0 after the end.
func ByteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// Python normalizes names: 𝘦𝘷𝘢𝘭 and ｅｖａｌ are eval.

// letterlike are letters with a compatibility form outside of the regular blocks, each before its
// plain letter.
const letterlike = "ſsªaºo" +
	"ᵃaᵇbᶜcᵈdᵉeᶠfᵍgʰhⁱiʲjᵏkˡlᵐmⁿnᵒoᵖpʳrˢsᵗtᵘuᵛvʷwˣxʸyᶻz" +
	"ₐaₑeₕhᵢiⱼjₖkₗlₘmₙnₒoₚpᵣrₛsₜtᵤuᵥvₓx" +
	"ℂCℊgℋHℌHℍHℎhℐIℑIℒLℓlℕNℙPℚQℛRℜRℝRℤZℨZℬBℭCℯeℰEℱFℳMℴoⅅDⅆdⅇeⅈiⅉj"

// plainLetters replaces letters with a compatibility form by plain ones.
func plainLetters(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return strings.Map(plainLetter, name)
		}
	}
	return name
}

func plainLetter(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xff01 + '!'
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical
		if n := (r - 0x1d400) % 52; n < 26 {
			return 'A' + n
		} else {
			return 'a' + n - 26
		}
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return '0' + (r-0x1d7ce)%10
	default:
		if at := strings.IndexRune(letterlike, r); at >= 0 {
			return rune(letterlike[at+utf8.RuneLen(r)])
		}
	}
	return r
}
