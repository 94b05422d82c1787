package match

import (
	_ "embed" // the table
	"encoding/binary"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:generate go run foldgen.go confusables.txt

//go:embed foldtable.txt
var foldText string

// foldTable has a row of foldRow bytes for each character, in order: up to eight bytes of ASCII that
// it is folded to, padded with spaces, and its number. It is searched as it is, so that no process has
// to parse it at its start.
var foldTable = foldText[strings.Index(foldText, "\n\n")+2:]

const foldRow = len("12345678 00ffff\n")

// Fold appends the text to dst in lower-case ASCII, as far as possible. Full-width, mathematical,
// circled and accented letters and digits become plain ones. So do characters of other scripts, and
// signs, that look like ASCII. Unicode's spaces become a space, and its dashes a hyphen. Invisible
// characters (zero-width and bidirectional controls, combining marks, fillers) are left out. Every rune
// that a case-insensitive expression takes for an ASCII letter becomes that letter. Everything else
// stays, in lower case; so do ASCII controls. Bytes that are no character become U+FFFD, which is how
// expressions see them.
//
// The result is for finding words, not for reading: its positions are not those of the text, and
// distinctions are lost that matter elsewhere. If an expression looks for something that Fold removes,
// match the text itself, too.
func Fold(dst []byte, text string) []byte {
	first := len(dst)
	dst = append(dst, text...)
	n := lowerASCII(dst[first:])
	if n == len(text) {
		return dst
	}
	return foldUnicode(dst[:first+n], text[n:])
}

// lowerASCII changes capitals up to the first byte that is not ASCII, and returns its position. It may
// also change what comes after.
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

// foldRune folds a character that is not ASCII.
func foldRune(dst []byte, r rune) []byte {
	key := foldKey(r)
	at := sort.Search(len(foldTable)/foldRow, func(i int) bool { return rowKey(i) >= key })
	switch {
	case at < len(foldTable)/foldRow && rowKey(at) == key:
		return append(dst, foldedTo(at)...)
	case unseen(r):
		return dst
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

// foldKey returns the last eight bytes of the row of a character, as one number.
func foldKey(r rune) uint64 {
	key := uint64(' ')
	for shift := 20; shift >= 0; shift -= 4 {
		key = key<<8 | uint64("0123456789abcdef"[r>>shift&0xf])
	}
	return key<<8 | '\n'
}

// rowKey returns the last eight bytes of a row as one number. The rows are in this order.
func rowKey(i int) uint64 {
	s := foldTable[i*foldRow+8 : (i+1)*foldRow]
	_ = s[7]
	return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
		uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
}

// foldedTo returns what the character of a row is folded to. It ends before the first space after its
// first byte, which may be a space itself.
func foldedTo(i int) string {
	row := foldTable[i*foldRow : i*foldRow+9]
	return row[:1+strings.IndexByte(row[1:], ' ')]
}

// unseen reports whether a character is invisible.
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
