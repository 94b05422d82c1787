package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"approver.example"
	"approver.example/display"
)

// retainEvery is how often the log looks for old files, besides after each rotation.
const retainEvery = time.Hour

// removeOld removes full files, oldest first. Before that it makes a signed line about
// the removal durable. Without such a line, a missing beginning is an error.
func (l *Log) removeOld(ctx context.Context, now time.Time) error {
	full, err := rotated(l.o.Dir)
	if err != nil {
		return err
	}
	old, err := l.o.Keep.over(l.o.Dir, full, now)
	if err != nil || len(old) == 0 {
		return err
	}
	end, err := lastPlace(old[len(old)-1].path)
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

// over lists the files beyond the limits: the oldest ones, without a gap.
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
		if k.Size <= 0 || all <= k.Size {
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

// putRemoved makes the line about a removal durable, with a checkpoint after it.
func (l *Log) putRemoved(ctx context.Context, r Removed) error {
	line := l.red.lineOf(approver.Record{Event: approver.EventRemoved, Note: fmt.Sprintf(
		"retention removes %d full files: the lines up to seq %d", r.Files, r.To)}, l.o.Hostname, time.Now())
	line.Removed = &r
	body, err := display.EncodeJSON(line)
	if err != nil {
		return err
	}
	b, _, err := l.add(body, time.Time{}, atOnce)
	if err != nil {
		return err
	}
	l.mu.Lock()
	if l.open && l.err == nil && l.queue.since > 0 {
		err = l.queue.sign()
		signal(l.queue.wake)
	}
	signed := l.queue.last()
	l.mu.Unlock()
	if err == nil {
		err = b.wait(ctx)
	}
	if err == nil && signed != nil {
		err = signed.wait(ctx)
	}
	return err
}

// retain is the goroutine that removes old files until the log is closed.
func (l *Log) retain(ctx context.Context) {
	defer close(l.retainEnded)
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
		case <-l.active.fileBegun:
		case <-tick.C:
		}
	}
}
