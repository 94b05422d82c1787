package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"approver.example"
)

// Keep says how much of a log is kept. The zero value keeps everything.
type Keep struct {
	// Age is how long a full file is kept after its last line; zero is for ever.
	Age time.Duration `yaml:"age"`
	// Size is how many bytes all files may have together; zero is no limit. The
	// file that is being written is always kept.
	Size int64 `yaml:"size"`
}

// retainEvery is how often the log looks for files whose time is over, apart
// from when it has begun a new one.
const retainEvery = time.Hour

// Removed is what a line says of files that retention took away: everything up
// to the line To, whose hash is given. The first line that is kept follows it.
type Removed struct {
	To    uint64 `json:"to"`
	Hash  string `json:"hash"`
	Files int    `json:"files"`
}

const removedStart = `{"v":1,"event":"removed",`

// retain takes away what is older than it has to be until the log is closed.
func (l *Log) retain(ctx context.Context) {
	defer close(l.retaining)
	if l.o.Keep == (Keep{}) {
		return
	}
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := l.removeOld(ctx, time.Now()); err != nil && ctx.Err() == nil {
			l.o.Log.Warn("old files of the audit could not be removed; trying again later", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.rotatedWake:
		case <-tick.C:
		}
	}
}

// removeOld removes full files, oldest first. Before the first is gone, the log
// itself says so in a line that is signed and durable: a log whose beginning is
// missing without such a line was cut.
func (l *Log) removeOld(ctx context.Context, now time.Time) error {
	full, err := rotated(l.o.Dir)
	if err != nil {
		return err
	}
	old, err := l.o.Keep.over(l.o.Dir, full, now)
	if err != nil || len(old) == 0 {
		return err
	}
	end, err := lastOf(old[len(old)-1].path)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(old[len(old)-1].path), err)
	}
	if err := l.putRemoved(ctx, Removed{To: end.seq, Hash: end.hash.String(), Files: len(old)}); err != nil {
		return err
	}
	for _, s := range old {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l.o.Log.Info("removed old files of the audit", "files", len(old), "up to seq", end.seq)
	return syncDir(l.o.Dir)
}

// over lists the files that need not be kept: the oldest ones, without a gap.
func (k Keep) over(dir string, full []segment, now time.Time) (old []segment, err error) {
	var all int64
	sizes := make([]int64, len(full))
	for i, s := range full {
		info, err := os.Stat(s.path)
		if err != nil {
			return nil, err
		}
		sizes[i] = info.Size()
		all += sizes[i]
	}
	if info, err := os.Stat(filepath.Join(dir, activeName)); err == nil {
		all += info.Size()
	}
	for i, s := range full {
		tooMuch := k.Size > 0 && all > k.Size
		if !tooMuch {
			if k.Age <= 0 {
				return old, nil
			}
			last, err := lastTime(s.path)
			if err != nil {
				return old, fmt.Errorf("%s: %w", filepath.Base(s.path), err)
			}
			if now.Sub(last) <= k.Age {
				return old, nil
			}
		}
		all -= sizes[i]
		old = append(old, s)
	}
	return old, nil
}

// lastTime is the time of the last line of a full file.
func lastTime(path string) (time.Time, error) {
	line, err := lastLine(path)
	if err != nil {
		return time.Time{}, err
	}
	return timeOf(line)
}

// putRemoved makes the line durable, and the checkpoint that vouches for it.
func (l *Log) putRemoved(ctx context.Context, r Removed) error {
	line := l.red.lineOf(approver.Record{Event: approver.EventRemoved, Note: fmt.Sprintf(
		"retention removes %d full files: the lines up to seq %d", r.Files, r.To)}, l.o.Hostname, time.Now())
	line.Removed = &r
	body, err := encode(line)
	if err != nil {
		return err
	}
	b, _, err := l.add(body, time.Time{})
	if err != nil {
		return err
	}
	l.mu.Lock()
	if l.open && l.err == nil && l.since > 0 {
		err = l.sign()
	}
	var signed *batch
	if len(l.queue) > 0 {
		signed = l.queue[len(l.queue)-1]
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	for _, b := range []*batch{b, signed} {
		if b == nil {
			continue
		}
		select {
		case <-b.done:
			if b.err != nil {
				return b.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// claimedRemoved looks through a log without its beginning for the last line
// that says what was taken away, believing nothing: zero if there is none, or if
// the log begins at its beginning.
func claimedRemoved(ctx context.Context, paths []string) (to uint64, err error) {
	w, err := newWalker(paths...)
	if err != nil {
		return 0, err
	}
	for files := 0; ; files++ {
		f, _, err := w.next()
		if errors.Is(err, io.EOF) {
			return to, nil
		}
		if err != nil {
			return 0, err
		}
		whole, err := claimIn(ctx, f, files == 0, &to)
		_ = f.Close() // only read
		if err != nil || whole {
			return 0, err
		}
	}
}

// claimIn reads one file. whole means that it is the first and has line 1.
func claimIn(ctx context.Context, f *os.File, first bool, to *uint64) (whole bool, err error) {
	lines := newLineReader(f)
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return false, nil
		case errors.Is(err, errShape):
			continue
		case err != nil:
			return false, err
		}
		if first && lines.number == 1 {
			if l, err := readLink(line); err != nil || l.seq == 1 {
				return true, nil //nolint:nilerr // Verify names a bad line
			}
		}
		if r, ok := removedIn(line); ok {
			*to = max(*to, r.To)
		}
		if lines.number%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// removedIn reads a line about removed files.
func removedIn(line []byte) (Removed, bool) {
	if len(line) < len(removedStart) || string(line[:len(removedStart)]) != removedStart {
		return Removed{}, false
	}
	l, err := ParseLine(line)
	if err != nil || l.Removed == nil {
		return Removed{}, false
	}
	return *l.Removed, true
}
