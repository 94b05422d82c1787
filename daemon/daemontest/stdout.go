package daemontest

import (
	"io"
	"os"
	"testing"
)

// PrintedOut is what a function prints, which is short.
func PrintedOut(t *testing.T, print func()) string {
	t.Helper()
	was := os.Stdout
	r, w, err := os.Pipe()
	must(t, err)
	os.Stdout = w
	print()
	os.Stdout = was
	_ = w.Close()
	text, err := io.ReadAll(r)
	must(t, err)
	return string(text)
}
