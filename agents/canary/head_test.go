package canary

import (
	"strings"
	"testing"
)

// A program that writes without end fills no memory: the beginning is kept, and the
// writer is told that all was taken, so that it does not block.
func TestOnlyTheBeginningOfAnOutputIsKept(t *testing.T) {
	var h head
	for range 100 {
		if n, err := h.Write([]byte(strings.Repeat("x", 999))); n != 999 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := len(h.String()); got != 4*maxShown {
		t.Errorf("%d bytes are kept, want %d", got, 4*maxShown)
	}
}
