package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A kind says what is wrong with a character where it stands.
type kind uint8

const (
	plain      kind = iota // nothing
	badByte                // it is no character
	reverses               // it changes the direction in which a text is read
	unseenOnes             // it draws nothing
	selector               // it chooses a form of the character before it
	control                // a control character
	alike                  // it looks like an ASCII character
	foreign                // a letter of another script in an ASCII word
	fromRight              // a letter that is read from the right, among others
	imitates               // anything else that could be taken for something else
	kinds
)

// warnings say for each kind what is marked.
var warnings = [kinds]string{
	badByte:    "It has bytes that are no text: %s",
	reverses:   "It has characters that reverse the reading direction: %s",
	unseenOnes: "It has characters that cannot be seen: %s",
	selector:   "It has variation selectors, which can hide data: %s",
	control:    "It has control characters: %s",
	fromRight:  "It has letters that are read from right to left, among others: %s",
	imitates:   "It has signs that could be taken for others: %s",
}

// hiddenKind returns what a character is that isHidden reports.
func hiddenKind(r rune) kind {
	switch {
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return control
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return reverses
	case unicode.Is(unicode.Variation_Selector, r):
		return selector
	case r == '⟨' || r == '⟩' || unicode.Is(unicode.M, r):
		return imitates
	}
	return unseenOnes
}

// maxNamed is how many characters a warning names.
const maxNamed = 3

// ProseWarnings are the Warnings of a sentence that is shown as [Prose].
func ProseWarnings(text string) []Phrase { return Warnings(plainProse(text)) }

// Warnings are those of all that a card shows of a call. A text in its arguments may be written with escapes, which
// [Call.Text] has and the body of a card has not.
func (c Call) Warnings() []Phrase {
	texts := []string{c.Text(), c.Dir}
	if !c.Question {
		texts = append(texts, c.leaves(c.fields())...)
	}
	return Warnings(texts...)
}

// Warnings says in sentences what [Visible] has to mark in texts, the worst first. Their arguments
// are made safe when they are shown, like those of every [Phrase].
func Warnings(texts ...string) (all []Phrase) {
	var found [kinds][]string
	var alikes []Phrase
	add := func(word string, i int, r rune, is kind) {
		name := fmt.Sprintf("U+%04X", r)
		switch like := looksLike()[r]; {
		case is == plain:
			return
		case is == badByte:
			name = fmt.Sprintf("0x%02X", word[i])
		case is == alike && like != "":
			name += " (like " + like + ")"
		}
		if slices.Contains(found[is], name) {
			return
		}
		found[is] = append(found[is], name)
		switch {
		case len(alikes) == maxNamed:
		case is == alike:
			alikes = append(alikes, Phrase{Text: "A letter looks like an ASCII one but is not: %s in %s",
				Args: []string{name, word}})
		case is == foreign:
			alikes = append(alikes, Phrase{Text: "A letter of another script stands in an ASCII word: %s in %s",
				Args: []string{name, word}})
		}
	}
	for _, text := range texts {
		if plainASCII(text) {
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			line = maskedPattern().ReplaceAllString(strings.TrimSuffix(line, "\r"), "")
			eachCharacter(line, isMixed(line, asItIs), add)
		}
	}
	for is, text := range warnings {
		names := found[is]
		if text == "" || len(names) == 0 {
			continue
		}
		named := strings.Join(names[:min(len(names), maxNamed)], ", ")
		if more := len(names) - maxNamed; more > 0 {
			all = append(all, Phrase{Text: text + ", and %s more", Args: []string{named, strconv.Itoa(more)}})
		} else {
			all = append(all, Phrase{Text: text, Args: []string{named}})
		}
	}
	all = append(all, alikes...)
	if more := len(found[alike]) + len(found[foreign]) - len(alikes); more > 0 {
		all = append(all, Phrase{Text: "%s more such letters", Args: []string{strconv.Itoa(more)}})
	}
	return all
}
