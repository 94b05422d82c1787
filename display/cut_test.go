package display

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutSaysWhatItHides(t *testing.T) {
	text := strings.Repeat("0123456789é", 1000)
	for _, limit := range []int{0, 50, 200, 201, 202, 1000, 3000, len(text) - 1} {
		shown, n := Cut(text, limit)
		if n <= 0 || !strings.Contains(shown, "bytes hidden") || !utf8.ValidString(shown) {
			t.Fatalf("limit %d: hidden %d, shown %q", limit, n, shown)
		}
		i := strings.Index(shown, "\n… ")
		j := strings.LastIndex(shown, " …\n") + len(" …\n")
		if !strings.HasPrefix(text, shown[:i]) || !strings.HasSuffix(text, shown[j:]) || i+len(shown)-j+n != len(text) {
			t.Fatalf("limit %d: head %d + hidden %d + tail %d is not %d", limit, i, n, len(shown)-j, len(text))
		}
		if limit > 100 && len(shown) > limit {
			t.Errorf("limit %d: %d bytes", limit, len(shown))
		}
	}
	if shown, n := Cut(text, len(text)); shown != text || n != 0 {
		t.Error("a text that fits was cut")
	}
	text = strings.Repeat("x⟨U+202E⟩⟨\\xFF⟩", 1000)
	for limit := range 120 {
		shown, _ := Cut(text, 100+limit)
		if rest := strings.NewReplacer("⟨U+202E⟩", "", "⟨\\xFF⟩", "").Replace(shown); strings.ContainsAny(rest, "⟨⟩") {
			t.Errorf("limit %d leaves half of a mark: %s", 100+limit, shown)
		}
	}
}

// A line that a cut tears could look like another one: "rm -rf /srv/cache" as "rm -rf /srv".
func TestCutTearsNoLine(t *testing.T) {
	text := strings.Repeat("rm -rf /srv/cache/0123\n", 100)
	for limit := 400; limit < 500; limit++ {
		shown, _ := Cut(text, limit)
		for line := range strings.Lines(shown) {
			if line != "rm -rf /srv/cache/0123\n" && !strings.Contains(line, "bytes hidden") {
				t.Fatalf("limit %d: %q", limit, line)
			}
		}
	}
	if shown, _ := Cut(strings.Repeat("x", 900)+"\n", 500); len(shown) < 490 {
		t.Errorf("a text with one end of a line lost %d bytes more than it had to", 500-len(shown))
	}
}
