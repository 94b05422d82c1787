package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What a daemon says goes to a terminal, perhaps to root's, and the daemon may be a false
// one: nothing that it says may move the cursor, write a title or look like other text.

// Visibly makes a text of some lines safe to print: each character that a terminal would
// not show becomes ⟨U+202E⟩, and a byte that is no character ⟨\xFF⟩. The daemon's own dots
// and marks stay as they are: what agents wrote it has made visible, see
// [display.Visible], and a false daemon may write any words anyway.
func Visibly(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `⟨\x%02X⟩`, text[i])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// Say prints a text of the daemon.
func Say(text string) { Print(0, "%s\n", Visibly(text)) }

// VisibleJSON writes what a terminal would not show as itself in escapes: to a program
// the document is the same.
func VisibleJSON(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) { // a byte that is no character is U+FFFD
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			one, two := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, one, two)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
