// Package regular reads files that somebody else may have put there: never more than a limit, and
// nothing that is no file. Opening a pipe waits for a writer, and a device may never end.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Read returns the content of a regular file that has no more bytes than a limit. The text of an empty
// file is not nil.
func Read(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // to open a pipe or a device can have an effect of its own
	if err != nil {
		return nil, err
	}
	if err := fits(path, info, most); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0) // it may be another one now
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := fits(path, info, most); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = tooLong(path, most)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// fits says why a file is not read.
func fits(path string, info fs.FileInfo, most int64) error {
	what := ""
	switch mode := info.Mode(); {
	case mode.IsRegular() && info.Size() > most:
		return tooLong(path, most)
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "a device"
	}
	return fmt.Errorf("%s is %s and not a file: move it away", path, what)
}

func tooLong(path string, most int64) error {
	return fmt.Errorf("%s has more than %d bytes, which is not read: make it shorter, or move it away", path, most)
}
