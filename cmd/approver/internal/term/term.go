// Package term prints for people at a terminal: whole lines folded at its width, nothing
// that moves the cursor, and one JSON object where a program reads.
package term

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"approver.example/channels/terminal"
	"golang.org/x/sys/unix"
)

// Width is the width in columns of the terminal that a file is, 0 if it is none.
func Width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// Folded is a file for people to read: where it is a terminal, wide lines are broken at its
// width and go on under the column hang, see [terminal.Folder]. JSON never goes this way.
func Folded(f *os.File, hang int) *terminal.Folder {
	return &terminal.Folder{W: f, Width: Width(f), Hang: hang}
}

// Print prints whole lines, as [folded] does.
func Print(hang int, format string, args ...any) { PrintOn(os.Stdout, hang, format, args...) }

// PrintOn is [Print] for another file.
func PrintOn(f *os.File, hang int, format string, args ...any) {
	to := Folded(f, hang)
	fmt.Fprintf(to, format, args...)
	_ = to.Flush() // as fmt.Printf's, this error has no reader
}

// FoldInto lets write print whole lines on stdout, as [folded] does.
func FoldInto(hang int, write func(io.Writer) error) error {
	to := Folded(os.Stdout, hang)
	err := write(to)
	if ending := to.Flush(); err == nil {
		err = ending
	}
	return err
}

// ErrSaid is the error of a command that has already told the person.
var ErrSaid = errors.New("failed")

// PrintJSON prints one object on one line.
func PrintJSON(doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = fmt.Println(VisibleJSON(text))
	return err
}

// TypedYes asks for the whole word yes. Somebody who types y meant it, and is told once
// more which word it takes; anything else, and no answer, is a no.
func TypedYes(in io.Reader, out io.Writer, question string) bool {
	const tries = 3
	lines := bufio.NewReader(in)
	for range tries {
		_, _ = fmt.Fprint(out, question+" Type yes: ") // whoever cannot read it types nothing
		line, _ := lines.ReadString('\n')
		typed := strings.TrimSpace(line)
		if typed == "yes" {
			return true
		}
		if lower := strings.ToLower(typed); lower != "y" && lower != "yes" {
			return false
		}
		question = "Only the whole word counts, in small letters."
	}
	return false
}

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
