package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"approver.example/channels/terminal"
)

// screenWidth is the width in columns of the terminal that a file is, 0 if it is none.
func screenWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// folded is a file for people to read: where it is a terminal, wide lines are broken at its
// width and go on under the column hang, see [terminal.Folder]. JSON never goes this way.
func folded(f *os.File, hang int) *terminal.Folder {
	return &terminal.Folder{W: f, Width: screenWidth(f), Hang: hang}
}

// printed prints whole lines, as [folded] does.
func printed(hang int, format string, args ...any) { printedOn(os.Stdout, hang, format, args...) }

func printedOn(f *os.File, hang int, format string, args ...any) {
	to := folded(f, hang)
	fmt.Fprintf(to, format, args...)
	_ = to.Flush() // as fmt.Printf's, this error has no reader
}

// foldInto lets write print whole lines on stdout, as [folded] does.
func foldInto(hang int, write func(io.Writer) error) error {
	to := folded(os.Stdout, hang)
	err := write(to)
	if ending := to.Flush(); err == nil {
		err = ending
	}
	return err
}
