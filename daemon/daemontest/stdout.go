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
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	print()
	os.Stdout = was
	_ = w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
