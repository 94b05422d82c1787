package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// chunkSize is how many bytes of a file are worked on at once. A longer line gets a chunk of its own.
const chunkSize = 256 << 10

// A chunk is a run of whole lines of one file, without the last line of a file if it is incomplete.
type chunk struct {
	file   *chunkFile
	number int   // of the lines before it in the file
	start  int64 // its offset in the file
	text   []byte
}

// A chunkFile is a file that is read in chunks.
type chunkFile struct {
	segment
	after uint64 // walker.after before the file was opened
}

// lines yields the lines without their newlines, and their offsets in the chunk.
func (c chunk) lines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(c.text); {
			end := at + bytes.IndexByte(c.text[at:], '\n')
			if !yield(at, c.text[at:end]) {
				return
			}
			at = end + 1
		}
	}
}

// badLine is the error for the line at an offset of the chunk that cannot be read.
func (c chunk) badLine(at int, why error) error {
	return &BreakError{File: filepath.Base(c.file.path), Line: c.number + 1 + bytes.Count(c.text[:at], []byte{'\n'}),
		Kind: BadLine, Why: why.Error()}
}

// inOrder does work on every chunk of the files, on all processors, and yields what it returns in the order
// of the log. A chunk's text is valid until the next one is yielded. An error comes last.
func inOrder[T any](ctx context.Context, walk *walker, work func(chunk) (T, error)) iter.Seq2[T, error] {
	type result struct {
		value T
		text  []byte
		err   error
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		ordered := make(chan chan result, runtime.GOMAXPROCS(0)+1)
		free := make(chan []byte, cap(ordered)+2)
		add := func() chan result {
			done := make(chan result, 1)
			select {
			case ordered <- done:
				return done
			case <-ctx.Done():
				return nil
			}
		}
		wg.Go(func() {
			defer close(ordered)
			for c, err := range chunks(walk, free) {
				done := add()
				switch {
				case done == nil:
					return
				case err != nil:
					done <- result{err: err}
					return
				}
				wg.Go(func() {
					value, err := work(c)
					done <- result{value, c.text, err}
				})
			}
		})
		for done := range ordered {
			r := <-done
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
			select {
			case free <- r.text:
			default:
			}
		}
		if err := ctx.Err(); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// chunks reads all files. It takes buffers from free, if there are any. An error comes last; it is
// ErrNoLog if there are no files.
func chunks(walk *walker, free <-chan []byte) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		for n := 0; ; n++ {
			after := walk.after
			f, s, err := walk.next()
			switch {
			case errors.Is(err, io.EOF) && n > 0:
				return
			case errors.Is(err, io.EOF):
				yield(chunk{}, fmt.Errorf("%w in %q", ErrNoLog, walk.dirs))
				return
			case err != nil:
				yield(chunk{}, err)
				return
			}
			more := fileChunks(f, &chunkFile{s, after}, free, yield)
			_ = f.Close() // only read
			if !more {
				return
			}
		}
	}
}

func fileChunks(f *os.File, file *chunkFile, free <-chan []byte, yield func(chunk, error) bool) bool {
	c := chunk{file: file}
	var rest []byte // the beginning of a line
	for {
		text := append(buffer(free), rest...)
		n, err := io.ReadFull(f, text[len(text):cap(text)])
		text = text[:len(text)+n]
		whole := bytes.LastIndexByte(text, '\n') + 1
		rest = append(rest[:0], text[whole:]...)
		if whole == 0 && err == nil { // one long line
			text, err = longLine(f, c.start, text)
			rest = rest[:0]
			whole = len(text)
		}
		if c.text = text[:whole]; whole > 0 && !yield(c, nil) {
			return false
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true
		case errors.Is(err, errShape):
			yield(c, c.badLine(0, err))
			return false
		case err != nil:
			yield(c, err)
			return false
		}
		c.start += int64(whole)
		c.number += bytes.Count(text[:whole], []byte{'\n'})
	}
}

func buffer(free <-chan []byte) []byte {
	select {
	case b := <-free:
		return b[:0]
	default:
		return make([]byte, 0, chunkSize)
	}
}

// longLine reads the line at an offset of f, with its newline, and leaves f at its end. An incomplete
// line is io.EOF.
func longLine(f *os.File, start int64, text []byte) ([]byte, error) {
	lines := newLineReader(io.NewSectionReader(f, start, math.MaxInt64-start))
	line, err := lines.next()
	if errors.Is(err, errTorn) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	text = append(append(text[:0], line...), '\n')
	_, err = f.Seek(start+lines.offset, io.SeekStart)
	return text, err
}
