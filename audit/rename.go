package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"approver.example"
)

// This file carries over what the store knows of a log that gets another id, as where
// the host's name changed.

// carry makes the store's word on a log its word on it under its id of now. It does
// nothing for a log that the store does not know under its former id, and where the id of
// now is another log's.
func (l *Log) carry(ctx context.Context) error {
	former, err := l.former()
	if err != nil || former == "" || former == l.o.ID {
		return err
	}
	head, _, err := readHead(ctx, l.o.KV, former)
	if errors.Is(err, approver.ErrNotFound) || errors.Is(err, approver.ErrTampered) {
		return nil
	}
	ours := false
	if err == nil {
		ours, err = l.has(head)
	}
	if err != nil || !ours || head.Seq == 0 {
		return err
	}
	there, rev, err := readHead(ctx, l.o.KV, l.o.ID)
	switch {
	case errors.Is(err, approver.ErrNotFound):
	case errors.Is(err, approver.ErrTampered):
		return nil
	case err != nil:
		return err
	default: // of the time before it had the former id
		if ours, err := l.has(there); err != nil || !ours || there.Seq == 0 {
			return err
		}
	}
	if l.o.Renamed != nil {
		if err := l.o.Renamed(ctx, former); err != nil {
			return fmt.Errorf("the audit's id was %s and is %s now, and what the store knows of it could not be carried over: %w", former, l.o.ID, err)
		}
	}
	keeper := headKeeper{kv: l.o.KV, log: l.o.ID, rev: rev}
	if err := keeper.write(ctx, head); err != nil {
		return err
	}
	l.o.Log.Warn("the audit has another id now: what the store knows of it was carried over; set audit.id where the host's name changes", "was", former, "is", l.o.ID)
	return nil
}

// former is the id in the last sound line of the log; empty if there is none.
func (l *Log) former() (string, error) {
	paths := []string{filepath.Join(l.o.Dir, activeName)}
	full, err := rotated(l.o.Dir)
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

// lastID is the id in the last sound line of a file; empty if there is none.
func lastID(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	b := make([]byte, min(info.Size(), 2*MaxLine)) // behind the last line there may be a torn one
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
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
