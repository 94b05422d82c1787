package audit

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	activeName = "audit.jsonl"
	lockName   = "audit.lock"
)

// ErrNoLog means that there is no audit log in the directory.
var ErrNoLog = errors.New("there is no audit log")

// rotatedName is the name of a full file whose first line has the seq first. Leading
// zeros keep a listing in order.
func rotatedName(first uint64) string { return fmt.Sprintf("audit-%012d.jsonl", first) }

// seqInName reads the number in a rotated file's name.
func seqInName(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, "audit-")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, ".jsonl"); !ok {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}

// CheckLog says why Open could not write the log in a folder. It changes nothing and needs
// no lock, so a daemon may be running. Open creates missing files, so they are no error.
func CheckLog(dir string) error {
	var errs []error
	for _, name := range []string{activeName, lockName} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !info.Mode().IsRegular(): // not opened: a pipe would wait
			err = fmt.Errorf("%s is no plain file: move it away, and the log goes on in a new one", path)
		case err == nil:
			var f *os.File
			if f, err = os.OpenFile(path, os.O_RDWR, 0); err == nil {
				err = f.Close()
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("audit log: %w", err))
		}
	}
	return errors.Join(errs...)
}

// A segment is one file of a log. first is the seq of its first line, zero for
// audit.jsonl.
type segment struct {
	path  string
	first uint64
}

// rotated lists the full files of a directory in the order of the chain.
func rotated(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, e := range entries {
		if first, ok := seqInName(e.Name()); ok {
			out = append(out, segment{filepath.Join(dir, e.Name()), first})
		}
	}
	slices.SortFunc(out, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return out, nil
}

// A walker opens the files of a log in the order of the chain, also while the
// log is being written and rotated: the audit.jsonl that it finds is the last
// file, even if it is rotated while it is read.
type walker struct {
	dirs   []string
	files  []segment // given by name, in order
	after  uint64    // first of the last rotated file that was opened
	tail   int       // how many of dirs were searched for their audit.jsonl
	active bool      // one was found
}

// newWalker takes directories, and files by name.
func newWalker(paths ...string) (*walker, error) {
	w := &walker{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			w.dirs = append(w.dirs, path)
			continue
		}
		first, _ := seqInName(filepath.Base(path))
		w.files = append(w.files, segment{path, first})
	}
	slices.SortStableFunc(w.files, func(a, b segment) int { return cmp.Compare(a.first-1, b.first-1) }) // zero comes last
	return w, nil
}

// next opens the next file. io.EOF means that there are no more.
func (w *walker) next() (f *os.File, s segment, err error) {
	if f, s, err = w.openRotated(); f != nil || err != nil {
		return f, s, err
	}
	for ; w.tail < len(w.dirs); w.tail++ {
		f, err := os.Open(filepath.Join(w.dirs[w.tail], activeName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, segment{}, err
		}
		// If it was rotated between the listing and the opening, the renamed file
		// comes first.
		if full, s, err := w.openRotated(); full != nil || err != nil {
			_ = f.Close() // only opened
			return full, s, err
		}
		path := filepath.Join(w.dirs[w.tail], activeName)
		w.tail, w.active = w.tail+1, true
		return f, segment{path: path}, nil
	}
	i := slices.IndexFunc(w.files, func(s segment) bool { return s.first == 0 })
	if i < 0 {
		return nil, segment{}, io.EOF
	}
	s = w.files[i]
	w.files = slices.Delete(w.files, i, i+1)
	f, err = os.Open(s.path)
	return f, s, err
}

// openRotated opens the next rotated file; nil if there is none.
func (w *walker) openRotated() (*os.File, segment, error) {
	s, ok, err := w.nextRotated()
	if err != nil || !ok || w.active {
		return nil, s, err
	}
	w.after = s.first
	f, err := os.Open(s.path)
	return f, s, err
}

// nextRotated is the rotated file with the smallest number after the last.
func (w *walker) nextRotated() (best segment, ok bool, err error) {
	consider := func(list []segment) {
		for _, s := range list {
			if s.first > w.after && (!ok || s.first < best.first) {
				best, ok = s, true
			}
		}
	}
	consider(w.files)
	for _, dir := range w.dirs {
		list, err := rotated(dir)
		if err != nil {
			return best, false, err
		}
		consider(list)
	}
	return best, ok, nil
}

// A lineReader reads lines and tracks their places. It needs at most MaxLine bytes
// of memory for any file.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that is longer than the reader's buffer
	start  int64  // of the last line
	offset int64  // after it
	number int    // of the last line, from 1
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 32<<10)}
}

// errTorn means that the file ends in the middle of a line.
var errTorn = errors.New("the last line is not complete")

// next returns the next line without its newline, valid until the next call, and
// io.EOF at the end. With errTorn it returns the beginning of the line. It skips
// a line that is too long and returns errShape for it.
func (l *lineReader) next() ([]byte, error) {
	l.start = l.offset
	line, err := l.r.ReadSlice('\n')
	size := len(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			size += len(line)
			if len(l.long) <= MaxLine {
				l.long = append(l.long, line...)
			}
		}
		line = l.long
	}
	switch {
	case errors.Is(err, io.EOF) && size == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		l.number++
		return line, errTorn
	case err != nil:
		return nil, err
	}
	l.number++
	l.offset += int64(size)
	if size > MaxLine {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", errShape, size, MaxLine)
	}
	return line[:size-1], nil
}

// all yields the lines up to the end, without an incomplete last one. For a line that is too long it
// yields errShape; any other error is the last that it yields.
func (l *lineReader) all() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			line, err := l.next()
			if errors.Is(err, io.EOF) || errors.Is(err, errTorn) || !yield(line, err) ||
				err != nil && !errors.Is(err, errShape) {
				return
			}
		}
	}
}

// rewind seeks to the end of the last complete line of f.
func (l *lineReader) rewind(f io.ReadSeeker) (*lineReader, error) {
	if _, err := f.Seek(l.offset, io.SeekStart); err != nil {
		return nil, err
	}
	l.r.Reset(f)
	l.number--
	return l, nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
