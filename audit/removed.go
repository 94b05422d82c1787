package audit

import (
	"context"
	"errors"
	"io"
	"os"
)

const removedStart = `{"v":1,"event":"removed",`

// claimedRemoved returns the last seq that a line of the log claims to be removed by
// retention. It checks nothing. It is zero if no line claims it, or if line 1 is there.
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

// claimIn reads one file. whole means that it is the first one and has line 1.
func claimIn(ctx context.Context, f *os.File, first bool, to *uint64) (whole bool, err error) {
	lines := newLineReader(f)
	for line, err := range lines.all() {
		if errors.Is(err, errShape) {
			continue
		} else if err != nil {
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
	return false, nil
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
