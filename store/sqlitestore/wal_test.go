package sqlitestore

import (
	"bytes"
	"os"
	"testing"

	"approver.example"
)

// FuzzScan gives arbitrary logs to the search for a damage: it says something, and never panics.
// A log that SQLite wrote, up to any byte, is what a crash leaves, and no damage.
func FuzzScan(f *testing.F) {
	path := newPath(f)
	s := openFor(f, path)
	for _, key := range []string{"a", "b", "c"} {
		mustPut(f, s, approver.Key("r", key), "v", "")
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		f.Fatal(err)
	}
	for n := range log {
		if n%977 == 0 {
			f.Add(log[:n])
		}
		if n%97 != 0 {
			continue
		}
		if damage, err := scan(bytes.NewReader(log[:n])); err != nil || damage != "" {
			f.Errorf("the first %d bytes: %q, %v", n, damage, err)
		}
	}
	f.Add(log)
	f.Fuzz(func(t *testing.T, log []byte) {
		if _, err := scan(bytes.NewReader(log)); err != nil {
			t.Error(err)
		}
	})
}
