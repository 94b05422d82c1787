package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A logDir is the folder of a log. Its methods read the files there.
type logDir string

func (d logDir) activePath() string { return filepath.Join(string(d), activeName) }

// each calls f for every readable record from seq on.
func (d logDir) each(seq uint64, f func(Line)) error {
	full, err := rotated(string(d))
	if err != nil {
		return err
	}
	var paths []string
	for i, s := range full {
		if i+1 == len(full) || full[i+1].first > seq { // else all its lines come before seq
			paths = append(paths, s.path)
		}
	}
	for _, path := range append(paths, d.activePath()) {
		if err := eachRecord(path, seq, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("audit log: %w", err)
		}
	}
	return nil
}

func eachRecord(path string, seq uint64, f func(Line)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for text, err := range newLineReader(file).all() {
		if err != nil && !errors.Is(err, errShape) {
			return err
		}
		if at, err := readLink(text); err != nil || at.seq < seq {
			continue
		}
		if line, err := ParseLine(text); err == nil {
			f(line)
		}
	}
	return nil
}

// renamed reports whether the last record of the log has another id than now.
func (d logDir) renamed(seq uint64, now string) (renamed bool, err error) {
	err = d.each(max(seq, 64)-63, func(line Line) {
		id, _, _ := strings.Cut(line.ID, ":")
		renamed = id != now
	})
	return renamed, err
}

// unrotate returns the path of the last full file before audit.jsonl. If a crash
// during a rotation left no audit.jsonl, or an empty one, it first renames the last
// full file back to audit.jsonl.
func (d logDir) unrotate() (before string, err error) {
	full, err := rotated(string(d))
	if err != nil || len(full) == 0 {
		return "", err
	}
	path := d.activePath()
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil || info.Size() == 0 {
		last := full[len(full)-1]
		if err := os.Rename(last.path, path); err != nil {
			return "", err
		}
		full = full[:len(full)-1]
	}
	if len(full) == 0 {
		return "", nil
	}
	return full[len(full)-1].path, nil
}

// hasLine reports whether the log has this line.
func (d logDir) hasLine(line Head) (bool, error) {
	if line.Seq == 0 {
		return line.Hash == genesis().String(), nil
	}
	in := func(path string) (bool, error) {
		s := scan{place: place{hash: genesis()}, watch: &line, adopt: true}
		err := s.readFile(path)
		return s.watched == line.Hash, err
	}
	// The active file comes first: if it is rotated meanwhile, the listing has it.
	if ok, err := in(d.activePath()); ok || err != nil {
		return ok, err
	}
	full, err := rotated(string(d))
	if err != nil {
		return false, err
	}
	for _, f := range slices.Backward(full) {
		if f.first <= line.Seq {
			return in(f.path)
		}
	}
	return false, nil
}

// firstLine returns the link of the first line of a file.
func firstLine(path string) (link, error) {
	f, err := os.Open(path)
	if err != nil {
		return link{}, err
	}
	defer f.Close()
	line, err := newLineReader(f).next()
	if err != nil {
		return link{}, err
	}
	return readLink(line)
}

// lastPlace returns the place of the last line of a full file.
func lastPlace(path string) (place, error) {
	line, err := lastLine(path)
	if err != nil {
		return place{}, err
	}
	l, err := readLink(line)
	return l.place, err
}

// lastLine returns the last line of a full file.
func lastLine(path string) ([]byte, error) {
	b, err := tailOf(path, MaxLine)
	if err != nil {
		return nil, err
	}
	b, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok {
		return nil, errTorn
	}
	return b[bytes.LastIndexByte(b, '\n')+1:], nil
}

// tailOf returns the last bytes of a file.
func tailOf(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), most))
	_, err = f.ReadAt(b, info.Size()-int64(len(b)))
	return b, err
}

// setAside moves the bytes after offset to a file of their own.
func setAside(path string, offset int64, seq uint64) (note string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	var side *os.File
	for n := 1; ; n++ {
		name := fmt.Sprintf("audit-%d.torn", seq+1)
		if n > 1 {
			name = fmt.Sprintf("audit-%d-%d.torn", seq+1, n)
		}
		side, err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(side, sum), f)
	if err = errors.Join(err, side.Sync(), side.Close()); err != nil {
		return "", err
	}
	if err := syncDir(dir); err != nil {
		return "", err
	}
	if err := errors.Join(f.Truncate(offset), f.Sync()); err != nil {
		return "", err
	}
	return fmt.Sprintf("the last %d bytes of the log were no sound lines (a crash in the middle of a write, or an edit): "+
		"they are kept in %s, sha256 %x; the chain goes on behind seq %d", size, filepath.Base(side.Name()),
		sum.Sum(nil), seq), nil
}

// formerID is the id in the last valid line of the log; empty if there is none.
func (d logDir) formerID() (string, error) {
	paths := []string{d.activePath()}
	full, err := rotated(string(d))
	if err != nil {
		return "", err
	}
	if len(full) > 0 {
		paths = append(paths, full[len(full)-1].path)
	}
	for _, path := range paths {
		if id, err := lastID(path); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// lastID is the id in the last valid line of a file; empty if there is none.
func lastID(path string) (string, error) {
	b, err := tailOf(path, 2*MaxLine) // an incomplete line may follow the last one
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for len(b) > 0 {
		b = b[:max(0, bytes.LastIndexByte(b, '\n'))]
		line := b[bytes.LastIndexByte(b, '\n')+1:]
		if _, err := readLink(line); err != nil {
			continue
		}
		tag := []byte(`,"id":"`)
		at := bytes.LastIndex(line, tag)
		if at < 0 {
			return "", nil // no line of ours
		}
		id, _, _ := bytes.Cut(line[at+len(tag):], []byte{':'})
		return string(id), nil
	}
	return "", nil
}
