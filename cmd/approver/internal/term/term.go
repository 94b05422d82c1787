// Package term prints for people at a terminal: whole lines folded at its width, nothing
// that moves the cursor, and one JSON object where a program reads.
package term

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"approver.example/channels/terminal"
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
