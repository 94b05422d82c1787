package classifier

import "unicode/utf8"

// How a word is parted from the one before.
const (
	byGap    = iota // white space, a comma, a hyphen
	byBreak         // the end of a sentence or of a line
	bySign          // markup or code
	byNought        // no white space at all, as in a.b(c)
)

// A word is a token of the text: its hash, where it lies, and how it is parted
// from the one before.
type word struct {
	hash       uint64
	start, end int
	parted     uint8
}

// A reader yields the words of a text, folded. With hidden, it reads the tag
// characters, which draw nothing and spell ASCII all the same, and nothing else.
type reader struct {
	text   string
	at     int
	hidden bool
	tags   bool // the text has tag characters
}

const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
	number   = 0x9ae16a3b2f90404f // the hash of every number
)

// folded has what each byte of ASCII counts as within a word: small letters, and
// for digits the letters that they stand for in a word that has both.
var folded = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(c)
		if ascii[c] == letter {
			t[c] |= 0x20
		}
	}
	copy(t['0':], "oizeasgtbg")
	return t
}()

// next returns the next word.
func (r *reader) next() (w word, ok bool) {
	var (
		gap, broken, signed bool
		letters, digits     bool
		spelled             = uint64(offset64)
		text, at            = r.text, r.at
	)
chars:
	for at < len(text) {
		c, kind, size := rune(text[at]), uint8(unseen), 1
		switch {
		case c >= utf8.RuneSelf:
			c, kind, size = r.rune(text[at:])
		case !r.hidden:
			kind = ascii[c]
			c = rune(folded[c])
		case c == '\n': // what is hidden in two lines is two texts
			kind = line
		}
		switch kind {
		case letter, digit:
			if !letters && !digits {
				w.start = at
			}
			letters = letters || kind == letter
			digits = digits || kind == digit
			spelled = (spelled ^ uint64(c)) * prime64
			at += size
			// Most of a text is words of ASCII's letters.
			for !r.hidden && at < len(text) && text[at] < utf8.RuneSelf && ascii[text[at]] == letter {
				letters = true
				spelled = (spelled ^ uint64(text[at]|0x20)) * prime64
				at++
			}
			w.end = at
			continue
		case unseen:
			at += size
			continue
		}
		if letters || digits {
			break chars
		}
		at += size
		switch kind {
		case glyph:
			w.start, w.end = at-size, at
			spelled = (spelled ^ uint64(c)) * prime64
			letters, gap = true, true
		case space, hyphen:
			gap = true
		case line:
			gap, broken = true, true
		case stop:
			broken = true
		case sign:
			signed = true
		}
		if kind == glyph {
			break chars
		}
	}
	r.at = at
	if !letters && !digits {
		return word{}, false
	}
	w.hash = spelled
	if !letters {
		w.hash = number
	}
	switch {
	case !gap && (signed || broken):
		w.parted = byNought
	case signed:
		w.parted = bySign
	case broken:
		w.parted = byBreak
	}
	return w, true
}

// rune reads a character that is not ASCII.
func (r *reader) rune(text string) (c rune, kind uint8, size int) {
	c, size = utf8.DecodeRuneInString(text)
	switch {
	case tagged(c) && r.hidden:
		c, kind = fold(c - 0xe0000)
		if kind == digit {
			c = rune(folded[c])
		}
	case tagged(c):
		r.tags = true
		kind = unseen
	case r.hidden:
		kind = unseen
	default:
		c, kind = fold(c)
		if kind == digit && c < utf8.RuneSelf {
			c = rune(folded[c])
		}
	}
	return c, kind, size
}
