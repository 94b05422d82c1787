package channeltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Page reads the documentation of a channel, docs/channels/<name>.md. The test
// runs in channels/<name>.
func Page(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "channels", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Buttons checks the row "buttons" of a channel's page: the labels, in their
// order, on a card that takes one tap, and on one that takes the code only.
func Buttons(t testing.TB, name string, oneTap, codeOnly []string) {
	t.Helper()
	want := "| buttons | " + strings.Join(oneTap, " · ") + " | " + strings.Join(codeOnly, " · ") + " |"
	if !strings.Contains(Page(t, name), "\n"+want+"\n") {
		t.Errorf("docs/channels/%s.md has other buttons than the cards, which have\n%s", name, want)
	}
}
