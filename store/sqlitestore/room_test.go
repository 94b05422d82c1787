package sqlitestore

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The log has room once there is something in it. Whatever was written before, meanwhile and after is in
// it, as a crash leaves it.
func TestTheLogHasRoom(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	mustPut(t, s, approver.Key("r", "first"), "v", "")
	if got := size(); got > 64<<10 {
		t.Errorf("a log with one record has %d bytes", got)
	}
	n := 0
	put := func() {
		mustPut(t, s, approver.Key("r", fmt.Sprint(n)), strings.Repeat("v", 2000), "")
		n++
	}
	for end := time.Now().Add(time.Minute); size() < roomBytes; put() {
		if time.Now().After(end) {
			t.Fatalf("it has %d bytes", size())
		}
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		put()
	}
	if got := size(); got >= roomBytes+roomStep {
		t.Errorf("it has %d bytes", got)
	}
	// A crash leaves file and log as they are.
	crashed := newPath(t)
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(crashed+end, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if written := len(bytes.TrimRight(b, "\x00")); end == "-wal" && written > roomBytes/2 {
			t.Errorf("the log was written up to %d", written)
		}
	}
	again := openFor(t, crashed)
	for i := range n {
		if v, _, err := again.Get(t.Context(), approver.Key("r", fmt.Sprint(i))); err != nil || len(v) != 2000 {
			t.Fatalf("record %d of %d: %d bytes, %v", i, n, len(v), err)
		}
	}
}
