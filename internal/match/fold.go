package match

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"
)

//go:generate go run foldgen.go confusables.txt

// folded is a row of foldTable.
type folded struct {
	r  rune
	to uint64
}

// Fold appends the text in lower-case ASCII to dst, as far as it can be read as
// that: full-width, mathematical, circled and accented letters and digits
// become plain ones, as do characters of other scripts and signs that are drawn
// like ASCII; Unicode's spaces become a space, its dashes a hyphen. What is not
// seen (zero-width and bidirectional controls, combining marks, fillers) is
// left out. Every rune that a case-insensitive expression takes for an ASCII
// letter becomes that letter. Everything else stays, in lower case, and so do
// ASCII controls. Bytes that are no character become U+FFFD, as which
// expressions see them anyway.
//
// The result is for finding words, not for reading: positions in it are not
// those of the text, and distinctions are lost that matter elsewhere. Match the
// text itself too where an expression looks for what Fold takes away.
func Fold(dst []byte, text string) []byte {
	first := len(dst)
	dst = append(dst, text...)
	n := lowerASCII(dst[first:])
	if n == len(text) {
		return dst
	}
	return foldUnicode(dst[:first+n], text[n:])
}

// lowerASCII changes capitals up to the first byte that is not ASCII, and
// returns where that is; what comes after may be changed too.
func lowerASCII(b []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		if v&high != 0 {
			break
		}
		// The high bit of each byte: at least A, and not more than Z.
		capital := (v + (0x80-'A')*each) &^ (v + (0x80-'Z'-1)*each) & high
		binary.LittleEndian.PutUint64(b[i:], v|capital>>2) // 0x80>>2 is the bit between the cases
	}
	for ; i < len(b) && b[i] < utf8.RuneSelf; i++ {
		if c := b[i]; c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return i
}

func foldUnicode(dst []byte, text string) []byte {
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			dst = append(dst, plain(rune(c)))
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		dst = foldRune(dst, r)
		text = text[size:]
	}
	return dst
}

// foldRune appends what a character that is not ASCII is folded to.
func foldRune(dst []byte, r rune) []byte {
	at, ok := slices.BinarySearchFunc(foldTable[:], r, func(f folded, r rune) int { return int(f.r - r) })
	switch {
	case ok:
		for to := foldTable[at].to; to != 0; to >>= 8 {
			dst = append(dst, byte(to))
		}
		return dst
	case unseen(r):
		return dst
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

// unseen reports a character that draws nothing of its own.
func unseen(r rune) bool {
	switch {
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers
		return true
	case r == 0x2065, r >= 0xfff0 && r <= 0xfff8, r >= 0xe0000 && r <= 0xe0fff: // reserved for what is ignored
		return true
	case r == 0xfffc, r >= 0x80 && r < 0xa0: // the object's place, and controls
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)
}
