package audit

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// The story: a laptop got another name on another network, and the audit's id with it.
// The store knew nothing of a log with this id, and back under the former name it knew
// an end of long ago: everything was frozen, twice. Now what the store knows moves along
// with the log, and is compared as under one name; also if the start is killed.
func TestALogWithAnotherID(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV, o.Hold = kv, true
	var carried []string
	killed := false
	life := func(id string) (*Log, error) {
		o.ID = id
		o.Renamed = func(_ context.Context, former string) error {
			if killed {
				return errors.New("killed")
			}
			carried = append(carried, former)
			return nil
		}
		return Open(t.Context(), o)
	}
	for i, id := range []string{"one", "one", "two", "two", "one", "three", "one", "two"} {
		for _, killed = range []bool{true, false} {
			l, err := life(id)
			if killed && err != nil {
				continue // it changes its name, and is started again
			}
			try(t, err)
			if found := l.Opened(); found.Lost+found.Older != "" || found.Renamed || found.Head == nil && i > 0 ||
				len(l.Alarms()) > 0 {
				t.Errorf("life %d as %s: %+v, %q", i, id, found, l.Alarms())
			}
			l.Accept()
			write(t, l, 3)
			closeLog(t, l)
		}
	}
	if len(carried) != 5 {
		t.Errorf("carried over from %q", carried)
	}
	mustVerify(t, o, keys, nil)
}

// A new name hides nothing that was done to the log or the store, and takes nothing over
// that is another log's.
func TestANewIDHidesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		act     func(t *testing.T, o Options, kv, old *memory)
		id      string
		carried bool
		doubt   bool
	}{
		"nothing was done": {id: "new", carried: true},
		"lines appended": {id: "new", carried: true, doubt: true,
			act: func(t *testing.T, o Options, _, _ *memory) { appendSound(t, o, "test") }},
		"lines with the name": {id: "new", doubt: false,
			act: func(t *testing.T, o Options, _, _ *memory) { appendSound(t, o, "new") }},
		"an old store": {id: "new", carried: true, doubt: true,
			act: func(_ *testing.T, _ Options, kv, old *memory) { kv.records = old.records }},
		"a name of another": {id: "other", doubt: true},
		"lines of another": {id: "test", doubt: true, act: func(t *testing.T, o Options, _, _ *memory) {
			appendSound(t, o, "other")
		}},
		"lines of nobody": {id: "test", doubt: true,
			act: func(t *testing.T, o Options, _, _ *memory) { appendSound(t, o, "nobody") }},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			kv := newMemory()
			o.KV, o.ID = kv, "other"
			other := o
			other.Dir = filepath.Join(t.TempDir(), "other")
			l := open(t, other)
			write(t, l, 3)
			closeLog(t, l)
			o.ID = "test"
			l = open(t, o)
			write(t, l, 3)
			closeLog(t, l)
			old := newMemory()
			maps.Copy(old.records, kv.records)
			l = open(t, o)
			write(t, l, 3)
			closeLog(t, l)
			if tt.act != nil {
				tt.act(t, o, kv, old)
			}
			o.ID, o.Hold = tt.id, true
			carried := false
			o.Renamed = func(context.Context, string) error { carried = true; return nil }
			l = open(t, o)
			found := l.Opened()
			if carried != tt.carried || (found.Lost+found.Older != "") != tt.doubt {
				t.Errorf("carried %v, %+v", carried, found)
			}
			head, err := ReadHead(t.Context(), kv, "other")
			if first, _ := ReadHead(t.Context(), old, "other"); err != nil || head != first {
				t.Errorf("the head of another log: %+v, %v", head, err)
			}
		})
	}
}

// appendSound appends a line that somebody without the key can make.
func appendSound(t *testing.T, o Options, id string) {
	t.Helper()
	active := filepath.Join(o.Dir, activeName)
	b := readFile(t, active)
	writeFile(t, active, append(b, next(t, b, id)...))
}

// What is at the end of a file that is no log names nobody.
func FuzzLastID(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"v":1,"event":"verdict","seq":1,"prev":"` + genesis().String() + `"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), activeName)
		try(t, os.WriteFile(path, b, 0o600))
		if id, err := lastID(path); err != nil || len(id) > len(b) {
			t.Errorf("%q, %v", id, err)
		}
	})
}
