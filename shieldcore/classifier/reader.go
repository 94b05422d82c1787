package classifier

import "unicode/utf8"

// How a word is separated from the one before.
const (
	afterGap   = iota // white space, a comma, a hyphen
	afterBreak        // the end of a sentence or of a line
	afterSign         // markup or code
	noGap             // no white space at all, as in a.b(c)
)

// A word is a token of the text: its hash, its place, and its separator from the
// word before.
type word struct {
	hash       uint64
	start, end int
	separator  uint8
}

// A reader yields the words of a text, folded. With hidden, it reads only the tag
// characters: they are invisible, but spell ASCII.
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

// folded maps each byte of ASCII to its form in a word: letters to lower case, and
// digits to the letters that they imitate.
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
		c, kind, size := rune(text[at]), uint8(invisible), 1
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
		case invisible:
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
		w.separator = noGap
	case signed:
		w.separator = afterSign
	case broken:
		w.separator = afterBreak
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
		kind = invisible
	case r.hidden:
		kind = invisible
	default:
		c, kind = fold(c)
		if kind == digit && c < utf8.RuneSelf {
			c = rune(folded[c])
		}
	}
	return c, kind, size
}
