package lex

import (
	"strings"
	"unicode/utf8"
)

// Python takes names in compatibility form: 𝘦𝘷𝘢𝘭 and ｅｖａｌ are eval.

// letterlike are the letters with a compatibility form outside the blocks in which
// they lie in order, each before its plain letter.
const letterlike = "ſsªaºo" +
	"ᵃaᵇbᶜcᵈdᵉeᶠfᵍgʰhⁱiʲjᵏkˡlᵐmⁿnᵒoᵖpʳrˢsᵗtᵘuᵛvʷwˣxʸyᶻz" +
	"ₐaₑeₕhᵢiⱼjₖkₗlₘmₙnₒoₚpᵣrₛsₜtᵤuᵥvₓx" +
	"ℂCℊgℋHℌHℍHℎhℐIℑIℒLℓlℕNℙPℚQℛRℜRℝRℤZℨZℬBℭCℯeℰEℱFℳMℴoⅅDⅆdⅇeⅈiⅉj"

// plainLetters replaces letters with a compatibility form by their plain ones.
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
