package approver

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text safe to judge by eye: every character that a reader
// cannot see, or takes for another, becomes ⟨U+202E⟩ or, for a byte that is no
// character, ⟨\xFF⟩. Newline and tab stay. The marker's own brackets are
// marked too, so that a text cannot imitate one.
func Visible(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	for len(s) > 0 {
		n := wordLength(s)
		word := s[:n]
		disguised := looksASCII(word)
		for i, r := range word {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(word[i:], "\uFFFD"):
				fmt.Fprintf(&b, "⟨\\x%02X⟩", word[i])
			case hidden(r), disguised && lookAlike(r):
				fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			default:
				b.WriteRune(r)
			}
		}
		s = s[n:]
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// wordLength is the length of the leading run of space or of non-space; at
// least one byte.
func wordLength(s string) int {
	first, _ := utf8.DecodeRuneInString(s)
	for i, r := range s {
		if unicode.IsSpace(r) != unicode.IsSpace(first) {
			return i
		}
	}
	return len(s)
}

// looksASCII reports whether a word could pass for an ASCII one: it has an
// ASCII letter, digit or slash, or nothing but look-alikes. Words in another
// script, with letters of its own, stay as they are.
func looksASCII(word string) bool {
	onlyAlike := true
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/'):
			return true
		case r >= utf8.RuneSelf && !lookAlike(r) && !hidden(r):
			onlyAlike = false
		}
	}
	return onlyAlike
}

// hidden reports a character that is not seen as what it is, whatever stands
// around it.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return true
	case r == '⟨' || r == '⟩':
		return true
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x034f || r == 0x17b4 || r == 0x17b5:
		return true // fillers that draw nothing
	case unicode.IsSpace(r), unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cf, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), r >= 0xe0000 && r <= 0xe0fff:
		return true
	case !unicode.IsGraphic(r):
		return true
	}
	return false
}

// lookAlike reports a character that is drawn like an ASCII one.
func lookAlike(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case r >= 0xff01 && r <= 0xff5e, r >= 0x1d400 && r <= 0x1d7ff, r >= 0x2100 && r <= 0x214f, r >= 0x24b6 && r <= 0x24e9:
		return true // full-width, mathematical, letter-like, circled
	case r >= 0x2160 && r <= 0x217f: // Roman numerals
		return true
	}
	return strings.ContainsRune(alikes, r)
}

const alikes = "аеорсухіјѕһԁԛԝьгпӏԍАЕОРСУХІЈЅВНКМТҮЗӀԌԜԚ" + // Cyrillic
	"ονρτυικαεηωγσΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳͺ" + // Greek
	"ոսցօհզԼՏՕՍ" + // Armenian
	"ıɑɡɩɪʀʟʏꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓠꓡꓢꓣꓤꓦꓧꓨꓩꓪꓫꓬꓮꓰꓱꓲꓳꓴ" + // Latin, Lisu
	"‐‑‒–—―−﹘﹣⁃∕⁄⧸╱⟋∖⧵⧹‚‘’‛′“”„‟″ʹʺˈ՚․‥…·∙⋅•∶：ː；，٫¦∣ǀ⎪〈〉‹›＜＞⩵꞊∗⁎✱٭～∼˜⌃ˆ＄＆＃＠？！ǃ"

// OneLine is Visible with line breaks and tabs made visible too.
func OneLine(s string) string {
	return strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(Visible(s))
}

// PushLength is the greatest length of a push line, in characters.
const PushLength = 120

// PushLine is what a lock screen shows: severity and call on one line, at most
// PushLength characters. It never holds a code.
func PushLine(sev Severity, text string) string {
	mark := "🔴"
	if sev == High {
		mark = "🟠"
	}
	line := []rune(mark + " " + sev.String() + " · " + OneLine(text))
	if len(line) > PushLength {
		return string(line[:PushLength-1]) + "…"
	}
	return string(line)
}

// Cut fits a text into limit bytes. When it has to leave something out, it
// keeps the head and the tail, says between them how many bytes are hidden and
// what the SHA-256 of the whole text starts with, and returns that number. A
// limit too small for that note shows the note alone.
func Cut(text string, limit int) (shown string, hiddenBytes int) {
	if len(text) <= limit {
		return text, 0
	}
	sum := sha256.Sum256([]byte(text))
	note := func(n int) string {
		return fmt.Sprintf("\n… %d bytes hidden, sha256 of the whole %x …\n", n, sum[:6])
	}
	room := max(limit-len(note(len(text))), 0)
	head := runeBoundary(text, room*2/3)
	tail := runeBoundary(text, len(text)-room/3)
	if tail < len(text)-room/3 { // a boundary before the mark would be too long
		_, size := utf8.DecodeRuneInString(text[tail:])
		tail += size
	}
	return text[:head] + note(tail-head) + text[tail:], tail - head
}

// runeBoundary is the greatest index that is at most i and starts a character.
func runeBoundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
