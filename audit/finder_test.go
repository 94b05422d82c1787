package audit

import (
	"bytes"
	"testing"
)

// A finder finds what bytes.Index finds.
func FuzzFinder(f *testing.F) {
	f.Add([]byte("one two three four five six"), []byte("three four five "), []byte("two three four five"), 0)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaab"), []byte("aaaaaaaaaaaaaaaab"), []byte("aaaaaaaaaaaaab"), 3)
	f.Add([]byte("short"), []byte("o"), []byte(""), 1)
	f.Add([]byte("12345678"), []byte("1234567812345678"), []byte("12345678123456789"), 0)
	f.Add([]byte("x12345678"), []byte("x1234567"), []byte("12345678"), 1)
	f.Fuzz(func(t *testing.T, b, one, two []byte, from int) {
		if from < 0 || from > len(b) {
			return
		}
		least := func(list [][]byte) int {
			best := -1
			for _, text := range list {
				if i := bytes.Index(b[from:], text); i >= 0 && from < len(b) && (best < 0 || from+i < best) {
					best = from + i
				}
			}
			return best
		}
		texts := 0
		for _, f := range finders([][]byte{one, two}) {
			texts += len(f.texts)
			if got, want := f.next(b, from), least(f.texts); got != want {
				t.Errorf("%q in %q from %d: %d, not %d", f.texts, b, from, got, want)
			}
		}
		if texts != 2 {
			t.Errorf("%d texts", texts)
		}
	})
}
