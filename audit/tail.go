package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// pollEvery is how often Tail looks for new lines.
const pollEvery = 200 * time.Millisecond

// Tail writes the last n records of the log in dir (all if n is negative). With
// follow it goes on with every new one, across rotations, until ctx ends, and then
// returns nil. Checkpoints are left out. A line that cannot be read is reported in
// its place. Tail needs memory for n numbers and one line.
func Tail(ctx context.Context, dir string, n int, follow bool, w io.Writer, format Format) error {
	p, err := newPrinter(format, w)
	if err != nil {
		return err
	}
	t := tailer{dir: dir, p: p, w: w}
	if err := t.last(n); err != nil && (!follow || !errors.Is(err, ErrNoLog)) {
		return fmt.Errorf("tail: %w", err)
	}
	defer t.close()
	for {
		if err := t.printRest(); err != nil {
			return fmt.Errorf("tail: %w", err)
		}
		if err := p.Flush(); err != nil {
			return fmt.Errorf("tail: %w", err)
		}
		if !follow {
			return nil
		}
		if sleep(ctx, pollEvery) != nil {
			return nil //nolint:nilerr // the end of ctx is how following ends
		}
	}
}

type tailer struct {
	dir string
	p   printer
	w   io.Writer

	f      *os.File // being read; nil before the first
	name   string
	offset int64  // after the last line that was printed
	seq    uint64 // of that line, or of the first line of the file
}

func (t *tailer) close() {
	if t.f != nil {
		_ = t.f.Close() // only read
	}
}

// last opens the file in which the last n records begin, at the first of them.
func (t *tailer) last(n int) error {
	files, err := rotated(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if path := filepath.Join(t.dir, activeName); exists(path) {
		files = append(files, segment{path: path})
	}
	if len(files) == 0 {
		return fmt.Errorf("%w in %s", ErrNoLog, t.dir)
	}
	if n < 0 {
		return t.openAt(files[0].path, 0)
	}
	for _, s := range slices.Backward(files) {
		starts, count, err := recordStarts(s.path, n)
		if err != nil {
			return err
		}
		if count >= n || s == files[0] {
			return t.openAt(s.path, starts)
		}
		n -= count
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// recordStarts finds where the last n records of a file begin, and how many
// there are, at most n. Without any, that is the end of the file.
func recordStarts(path string, n int) (offset int64, count int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var ring []int64 // of the last n records; the oldest is at next
	next := 0
	lines := newLineReader(f)
	for line, err := range lines.all() {
		switch {
		case err != nil && !errors.Is(err, errShape):
			return 0, 0, err
		case n == 0 || isCheckpoint(line):
		case len(ring) < n:
			ring = append(ring, lines.start)
		default:
			ring[next] = lines.start
			next = (next + 1) % n
		}
	}
	if len(ring) == 0 {
		return lines.offset, 0, nil
	}
	return ring[next], len(ring), nil
}

func (t *tailer) openAt(path string, offset int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	t.close()
	t.f, t.name, t.offset = f, filepath.Base(path), offset
	// following needs a seq even before a line is printed.
	if line, err := newLineReader(f).next(); err == nil {
		if l, err := readLink(line); err == nil {
			t.seq = l.seq
		}
	}
	return nil
}

// printRest prints the lines after the last one, through all files.
func (t *tailer) printRest() error {
	for {
		if t.f != nil {
			if err := t.print(); err != nil {
				return err
			}
			current, err := t.current()
			if err != nil || current {
				return err
			}
			// The file was rotated. It gets no more lines, but some may have come
			// since the last print.
			if err := t.print(); err != nil {
				return err
			}
		}
		path, err := t.following()
		if err != nil || path == "" {
			return err
		}
		if err := t.openAt(path, 0); err != nil {
			if errors.Is(err, fs.ErrNotExist) { // rotated just now
				continue
			}
			return err
		}
	}
}

// current reports whether the file is still the log's audit.jsonl.
func (t *tailer) current() (bool, error) {
	mine, err := t.f.Stat()
	if err != nil {
		return false, err
	}
	active, err := os.Stat(filepath.Join(t.dir, activeName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, active), err
}

// following is the file that continues after the last line; empty if there is
// none yet.
func (t *tailer) following() (string, error) {
	files, err := rotated(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, s := range files {
		if s.first > t.seq {
			return s.path, nil
		}
	}
	if path := filepath.Join(t.dir, activeName); exists(path) {
		return path, nil
	}
	return "", nil
}

// print prints the complete lines after offset.
func (t *tailer) print() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < t.offset { // an incomplete end was cut off
		t.offset = info.Size()
	}
	if info.Size() == t.offset {
		return nil
	}
	lines := newLineReader(io.NewSectionReader(t.f, t.offset, info.Size()-t.offset))
	from := t.offset
	for line, err := range lines.all() {
		switch {
		case errors.Is(err, errShape):
			err = t.unreadable(err)
		case err == nil && !isCheckpoint(line):
			if err = t.p.print(line); errors.Is(err, errShape) {
				err = t.unreadable(err)
			}
		}
		if err != nil {
			return err
		}
		if l, err := readLink(line); err == nil {
			t.seq = l.seq
		}
		t.offset = from + lines.offset
	}
	return nil
}

// unreadable reports a line that cannot be read, in its place in the output.
func (t *tailer) unreadable(err error) error {
	if err := t.p.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.w, "# %s, byte %d: %v; verify the log\n", t.name, t.offset, err)
	return err
}

// Export writes the lines whose time is in [from, to) in the order of the log; a
// zero time means no bound. JSONL copies all lines with the checkpoints, so that an
// export of the whole log can be verified as a log. CSV has every record too, and in its last column the seq of the
// record of the table that it repeats, for which it needs memory for each event. Export stops with a *BreakError
// at a line that cannot be read.
func Export(ctx context.Context, dir string, from, to time.Time, format Format, w io.Writer) error {
	p, err := newPrinter(format, w)
	if err != nil {
		return err
	}
	return export(ctx, dir, from, to, p)
}

func export(ctx context.Context, dir string, from, to time.Time, p printer) error {
	walk, err := newWalker(dir)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for n := 0; ; n++ {
		f, s, err := walk.next()
		if errors.Is(err, io.EOF) && n > 0 {
			return p.Flush()
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("export: %w in %s", ErrNoLog, dir)
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		err = exportFile(ctx, f, filepath.Base(s.path), from, to, p)
		_ = f.Close() // only read
		if err != nil {
			return fmt.Errorf("export: %w", errors.Join(err, p.Flush()))
		}
	}
}

func exportFile(ctx context.Context, f *os.File, name string, from, to time.Time, p printer) error {
	lines := newLineReader(f)
	for line, err := range lines.all() { // a line at the end may be being written
		var at time.Time
		if err == nil {
			at, err = timeOf(line)
		}
		if errors.Is(err, errShape) {
			return &BreakError{File: name, Line: lines.number, Kind: BadLine, Why: err.Error()}
		}
		if err != nil {
			return err
		}
		if !from.IsZero() && at.Before(from) || !to.IsZero() && !at.Before(to) {
			continue
		}
		if err := p.print(line); err != nil {
			return err
		}
		if lines.number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
