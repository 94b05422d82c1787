package sqlitestore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/sqlitestore/internal/boltfile"
)

// former makes a store file of the former version.
func formerFile(t *testing.T) (path string, all map[string]boltfile.Record) {
	t.Helper()
	path, all = newPath(t), map[string]boltfile.Record{}
	ahead := time.Now().Add(30 * time.Second).UnixNano()
	day := time.Now().Add(24 * time.Hour).UnixNano()
	times := [][2]int64{{day, day + 1}, {1, day}, {day, never}, {never, never}, {never, day}}
	err := boltfile.Create(path, ahead, func(w *boltfile.Writer) error {
		for i := range 50 {
			at := times[i%len(times)]
			r := boltfile.Record{Key: approver.Key("req", fmt.Sprint(i)), Rev: string(approver.NewRev()),
				Due: at[0], Keep: at[1], Value: bytes.Repeat([]byte{'v'}, 300*i)}
			all[r.Key] = r
			if err := w.Record(r); err != nil {
				return err
			}
		}
		return w.Lease("leader", 5)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path, all
}

// A store of the former version is taken over, with everything in it, and can be given back.
func TestAFormerStoreIsConverted(t *testing.T) {
	path, all := formerFile(t)
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(path); err != nil {
		t.Error(err)
	}
	var log bytes.Buffer
	s, err := Open(Config{Path: path}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "approver store convert --to bolt") ||
		!strings.Contains(log.String(), "records=50") {
		t.Errorf("the log says %s", log.String())
	}
	if kept, err := os.ReadFile(path + ".bolt"); err != nil || !bytes.Equal(kept, was) {
		t.Errorf("the old file is not there: %v", err)
	}
	for key, r := range all {
		wantValue(t, s, key, string(r.Value))
	}
	var due []string
	for shard := range approver.Shards {
		keys, err := s.Scheduled(t.Context(), shard, 100)
		if err != nil {
			t.Fatal(err)
		}
		due = append(due, keys...)
	}
	if len(due) != 30 {
		t.Errorf("%d records are listed, want 30", len(due))
	}
	if now, err := s.Now(t.Context()); err != nil || time.Until(now) < 10*time.Second {
		t.Errorf("the clock went back to %v, %v", now, err)
	}
	if fence, err := s.Lease(t.Context(), "leader", time.Minute); err != nil || fence != 6 {
		t.Errorf("got fence %d, %v, want 6", fence, err)
	}
	checkFile(t, s)
	if _, _, err := ToBolt(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a conversion under a running daemon: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	n, kept, err := ToBolt(path)
	if err != nil || n != 50 || kept != path+".sqlite" {
		t.Fatalf("got %d, %q, %v", n, kept, err)
	}
	f, err := boltfile.Open(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got, fence := map[string]boltfile.Record{}, uint64(0)
	err = errors.Join(f.Records(func(r boltfile.Record) error {
		r.Value = bytes.Clone(r.Value)
		got[r.Key] = r
		return nil
	}), f.Leases(func(_ string, n uint64) error { fence = n; return nil }), f.Close())
	same := func(a, b boltfile.Record) bool {
		return a.Key == b.Key && a.Rev == b.Rev && a.Due == b.Due && a.Keep == b.Keep && bytes.Equal(a.Value, b.Value)
	}
	if err != nil || !maps.EqualFunc(got, all, same) || fence != 6 || time.Until(time.Unix(0, f.Mark())) < 10*time.Second {
		t.Errorf("the old version gets %d records, fence %d, clock %v, %v", len(got), fence, time.Unix(0, f.Mark()), err)
	}
	openFor(t, path) // and forward again
}

// A conversion that is cut short at any point leaves the old file in its place, and is begun anew.
func TestAConversionThatWasCutShort(t *testing.T) {
	for name, cut := range map[string]func(path string) error{
		"while it was written": func(path string) error {
			return os.WriteFile(path+".new", []byte("SQLite format 3"), 0o600)
		},
		"before it was named": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Link(path, path+".bolt"))
		},
		"after an earlier one": func(path string) error { return os.WriteFile(path+".bolt", []byte("x"), 0o600) },
	} {
		path, all := formerFile(t)
		if err := cut(path); err != nil {
			t.Fatal(err)
		}
		s := openFor(t, path)
		for key, r := range all {
			wantValue(t, s, key, string(r.Value))
		}
		entries, err := filepath.Glob(filepath.Dir(path) + "/*")
		if want := []string{path, path + ".bolt", path + "-shm", path + "-wal"}; err != nil || len(entries) != len(want) {
			t.Errorf("%s: there are %q, %v", name, entries, err)
		}
	}
}

func TestAFormerStoreIsRefused(t *testing.T) {
	path, _ := formerFile(t)
	f, err := boltfile.Open(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(Config{Path: path}, quiet())
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "stop it") {
		t.Errorf("while the older approver runs: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.ReplaceAll(good, []byte("keep"), []byte("peek"))
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(Config{Path: path}, quiet())
	if err == nil || !strings.Contains(err.Error(), "is damaged, or no store") {
		t.Errorf("damaged: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, bad) {
		t.Error("the file was changed")
	}
	if entries, _ := filepath.Glob(filepath.Dir(path) + "/*"); !slices.Equal(entries, []string{path}) {
		t.Errorf("there are %q", entries)
	}
}
