package boltstore

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"approver.example"
)

func TestEntriesSortByTime(t *testing.T) {
	entries := [][]byte{
		dueEntry(1, 5, "a"), dueEntry(1, 5, "b"), dueEntry(1, 256, "a"), dueEntry(1, 1<<40, "a"), dueEntry(1, never, "a"),
		dueEntry(2, 0, "a"),
	}
	if !slices.IsSortedFunc(entries, bytes.Compare) {
		t.Error("entries do not sort by shard, time and key")
	}
	if nanos(time.Time{}) != never || nanos(time.Unix(1, 1)) != 1_000_000_001 {
		t.Error("times are not in nanoseconds")
	}
}

// FuzzDecode gives arbitrary bytes to the decoder. Whatever it accepts must be
// what encode makes of the parts.
func FuzzDecode(f *testing.F) {
	good := record{rev: approver.NewRev(), due: 1, keep: never, value: []byte("value")}.encode()
	f.Add(good)
	f.Add(good[:headLen])
	f.Add(good[:headLen-1])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			if !errors.Is(err, approver.ErrTampered) || r.rev != "" || r.value != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			return
		}
		if !bytes.Equal(r.encode(), b) {
			t.Fatalf("%q was accepted, but encode does not make it", b)
		}
	})
}
