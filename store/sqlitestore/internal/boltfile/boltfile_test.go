package boltfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"approver.example"
)

func TestEntriesSortByTime(t *testing.T) {
	one, two := approver.Key("a", "1"), approver.Key("a", "2")
	if one > two {
		one, two = two, one
	}
	entries := [][]byte{
		dueEntry(one, 5), dueEntry(one, 256), dueEntry(one, 1<<40), dueEntry(one, never), dueEntry(two, 0),
	}
	if !slices.IsSortedFunc(entries, bytes.Compare) {
		t.Error("entries do not sort by shard, time and key")
	}
}

// FuzzDecode gives arbitrary bytes to the decoder. Whatever it accepts must be
// what encode makes of the parts.
func FuzzDecode(f *testing.F) {
	good := Record{Rev: string(approver.NewRev()), Due: 1, Keep: never, Value: []byte("value")}.encode()
	f.Add(good)
	f.Add(good[:headLen])
	f.Add(good[:headLen-1])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			if r.Rev != "" || r.Value != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			return
		}
		if !bytes.Equal(r.encode(), b) {
			t.Fatalf("%q was accepted, but encode does not make it", b)
		}
	})
}

// some makes a file with some records.
func some(t *testing.T) (path string, all map[string]Record) {
	t.Helper()
	path, all = filepath.Join(t.TempDir(), "approver.db"), map[string]Record{}
	times := []int64{1, 1 << 60, never}
	err := Create(path, 77, func(w *Writer) error {
		for i := range 30 {
			r := Record{Key: approver.Key("req", fmt.Sprint(i)), Rev: string(approver.NewRev()), Due: times[i%3],
				Keep: times[i/3%3], Value: bytes.Repeat([]byte{'v'}, 300*i)}
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

func TestWhatIsWrittenIsRead(t *testing.T) {
	path, all := some(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v", info.Mode(), err)
	}
	f, err := Open(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, fences := map[string]Record{}, map[string]uint64{}
	err = errors.Join(f.Records(func(r Record) error { got[r.Key] = r; return nil }),
		f.Leases(func(name string, fence uint64) error { fences[name] = fence; return nil }))
	same := func(a, b Record) bool {
		return a.Rev == b.Rev && a.Due == b.Due && a.Keep == b.Keep && bytes.Equal(a.Value, b.Value)
	}
	if err != nil || !maps.EqualFunc(got, all, same) || !maps.Equal(fences, map[string]uint64{"leader": 5}) ||
		f.Mark() != 77 {
		t.Errorf("got %v, %v, %d, %v", got, fences, f.Mark(), err)
	}
	if _, err := Open(path, time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("a second time: %v", err)
	}
	if err := Check(path); err != nil {
		t.Errorf("a check while it is open: %v", err)
	}
}

// A damaged file is refused, and never ends the process.
func TestDamagedFilesAreRefused(t *testing.T) {
	path, _ := some(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for name, change := range map[string]func(b []byte) []byte{
		"cut short":                func(b []byte) []byte { return b[:5000] },
		"cut short by half":        func(b []byte) []byte { return b[:5*page] },
		"its start is overwritten": func(b []byte) []byte { clear(b[:2*page]); return b },
		"no list of what is due":   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("due"), []byte("eud")) },
		"no records": func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("records"), []byte("recordz"))
		},
	} {
		if err := os.WriteFile(path, change(bytes.Clone(good)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
