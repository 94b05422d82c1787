// Package term prints for people at a terminal: it folds lines at the terminal's width and
// prints nothing that moves the cursor. For programs, it prints one JSON object.
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

// Width returns the width in columns of a terminal. It is 0 if the file is not a terminal.
func Width(f *os.File) int { return int(size(f).Col) }

// Height returns the height in rows of a terminal. It is 0 if the file is not a terminal.
func Height(f *os.File) int { return int(size(f).Row) }

func size(f *os.File) unix.Winsize {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return unix.Winsize{}
	}
	return *size
}

// Folded returns a writer for text that people read. If the file is a terminal, it breaks long
// lines at the terminal's width and indents the continuation by hang columns; see
// [terminal.Folder]. Do not use it for JSON.
func Folded(f *os.File, hang int) *terminal.Folder {
	return &terminal.Folder{W: f, Width: Width(f), Hang: hang}
}

// Print prints whole lines on standard output, as [Folded] does.
func Print(hang int, format string, args ...any) { PrintOn(os.Stdout, hang, format, args...) }

// PrintOn is [Print] for another file.
func PrintOn(f *os.File, hang int, format string, args ...any) {
	to := Folded(f, hang)
	fmt.Fprintf(to, format, args...)
	_ = to.Flush() // ignored, like the error of fmt.Printf
}

// FoldInto runs write with a writer to standard output that folds as [Folded] does.
func FoldInto(hang int, write func(io.Writer) error) error {
	to := Folded(os.Stdout, hang)
	err := write(to)
	if ending := to.Flush(); err == nil {
		err = ending
	}
	return err
}

// ErrSaid is the error of a command that has already reported what is wrong.
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

// TypedYes asks for the whole word yes, in small letters. After y, Y, Yes and the like, it says
// so and asks again, three times in all. Anything else, or no answer, means no.
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

// Text from a daemon is printed on a terminal, perhaps root's, and the daemon may be an
// impostor. So its text must not move the cursor, change the title or look like other text.

// Visibly makes a text of several lines safe to print: a character that a terminal would not
// show becomes ⟨U+202E⟩, and an invalid byte becomes ⟨\xFF⟩. Marks that the daemon adds stay as
// they are: it has already made agents' text visible, see [display.Visible], and an impostor
// may write any words anyway.
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

// Say prints a text from the daemon.
func Say(text string) { Print(0, "%s\n", Visibly(text)) }

// VisibleJSON returns the document with every character escaped that a terminal would not show
// as itself. For a program, it is the same document.
func VisibleJSON(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) { // an invalid byte becomes U+FFFD
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
