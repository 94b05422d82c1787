package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden is what the body of a call hides: secrets. Words that are made of the call otherwise, such as its headline,
// may have it too: a variable is filled in there. It is taken out of them, and so is any part of it that the body
// does not show.
type Hidden struct {
	runs  map[string]bool // of minSecretInName bytes of a secret
	short map[string]bool // secrets of less than that: they count as whole words
	shown string          // the body
}

// takenOutWord stands for a secret in such words.
const takenOutWord = "[hidden]"

// minShortSecret is the least length of a secret that is looked for as a whole word: a shorter one is none.
const minShortSecret = 3

// Hidden returns what the body of a call hides.
func (c Call) Hidden() Hidden {
	v := c.view()
	hides, _ := coverOf(v, c.leaves(c.fields()))
	return hiddenIn(v, hides)
}

func hiddenIn(v view, hides cover) Hidden {
	h := Hidden{runs: map[string]bool{}, short: map[string]bool{}, shown: lowered(v.name + masked(v.text, v.hide))}
	for secret := range hides.secrets {
		if hides.kept[secret] {
			continue
		}
		secret = lowered(secret)
		if len(secret) < minSecretInName {
			h.short[secret] = true
		}
		for i := range max(0, len(secret)-minSecretInName+1) {
			h.runs[secret[i:i+minSecretInName]] = true
		}
	}
	return h
}

// Of returns a text without the secrets. What a mask of this text alone hides stays, because [Mask] says more of it.
func (h Hidden) Of(text string) string {
	if len(h.runs)+len(h.short) == 0 || len(h.in(Mask(text))) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, p := range h.in(text) {
		b.WriteString(text[done:p.from] + takenOutWord)
		done = p.to
	}
	return b.String() + text[done:]
}

// Phrase returns a phrase whose words of the call have none of the secrets.
func (h Hidden) Phrase(p Phrase) Phrase {
	p.Args = slices.Clone(p.Args)
	for i := range p.Args {
		p.Args[i] = h.Of(p.Args[i])
	}
	return p
}

// Summary returns a summary without the secrets.
func (h Hidden) Summary(says Summary) Summary {
	says.Title, says.Why, says.Undo = h.Phrase(says.Title), h.Phrase(says.Why), h.Phrase(says.Undo)
	says.Does = slices.Clone(says.Does)
	for i := range says.Does {
		says.Does[i] = h.Phrase(says.Does[i])
	}
	says.Project, says.Branch = h.Of(says.Project), h.Of(says.Branch)
	return says
}

// in returns where a text has a secret, or a part of one, that the body does not show.
func (h Hidden) in(text string) (all []part) {
	low := lowered(text)
	for i := range low {
		for n := min(minSecretInName, len(low)-i); n >= minShortSecret; n-- {
			word := low[i : i+n]
			hidden := n == minSecretInName && h.runs[word] && !strings.Contains(h.shown, word) ||
				n < minSecretInName && h.short[word] && isWord(low, i, i+n) && !hasWord(h.shown, word)
			if !hidden {
				continue
			}
			from, to := i, i+n
			for !utf8.RuneStart(text[from]) {
				from--
			}
			for to < len(text) && !utf8.RuneStart(text[to]) {
				to++
			}
			if last := len(all) - 1; last >= 0 && from <= all[last].to {
				all[last].to = max(to, all[last].to)
			} else {
				all = append(all, part{from: from, to: to})
			}
			break
		}
	}
	return all
}

// isWord reports whether no letter and no digit is beside a part of a text.
func isWord(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	inWord := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return !inWord(before) && !inWord(after)
}

// hasWord reports whether a text has a word.
func hasWord(text, word string) bool {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], word)
		if n < 0 {
			return false
		}
		if at += n; isWord(text, at, at+len(word)) {
			return true
		}
	}
}

// lowered is a text with the letters A to Z in small ones: its length stays.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
