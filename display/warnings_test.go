package display

import (
	"strings"
	"testing"
)

// The story: a card showed ⟨U+0430⟩ in the middle of a long command, and nobody knew what that
// means. A sentence says it.
func TestWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"ls -la\tx\r\ny":           "",
		"Größe prüfen":             "",
		"удалить записи":           "",
		"curl p\u0430ypal.com":     "A letter looks like an ASCII one but is not: U+0430 (like a) in p⟨U+0430⟩ypal.com",
		"a\u202etxt.exe":           "It has characters that reverse the reading direction: U+202E",
		"a\u200bb\u2060c\u00add":   "It has characters that cannot be seen: U+200B, U+2060, U+00AD",
		"\u200b\u2060\u00ad\ufeff": "It has characters that cannot be seen: U+200B, U+2060, U+00AD, and 1 more",
		"a\x1b[2K\rb":              "It has control characters: U+001B, U+000D",
		"a\ufe01b":                 "It has variation selectors, which can hide data: U+FE01",
		"a\xff":                    "It has bytes that are no text: 0xFF",
		"rm שלום": "It has letters that are read from right to left, among others: U+05E9, U+05DC, U+05D5, " +
			"and 1 more",
		"aжb":       "A letter of another script stands in an ASCII word: U+0436 in a⟨U+0436⟩b",
		"a⟨U+202E⟩": "It has signs that could be taken for others: U+27E8, U+27E9",
		"\u0430x \u043ex \u0435x \u0441x": "A letter looks like an ASCII one but is not: U+0430 (like a) in ⟨U+0430⟩x | " +
			"A letter looks like an ASCII one but is not: U+043E (like o) in ⟨U+043E⟩x | " +
			"A letter looks like an ASCII one but is not: U+0435 (like e) in ⟨U+0435⟩x | 1 more such letters",
	} {
		var got []string
		for _, p := range Warnings(text) {
			got = append(got, said(p))
		}
		if strings.Join(got, " | ") != want {
			t.Errorf("%q: %q\nwant %q", text, strings.Join(got, " | "), want)
		}
	}
}

// Whatever is marked is warned about, and nothing else is.
func FuzzWarnings(f *testing.F) {
	for _, s := range []string{"ls", "a\u202eb", "p\u0430ypal", "\xff", "Größe", "a\r\nb", "⟨x⟩",
		"‹16 characters hidden›", "\r\r", "a\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plainEnds := strings.ReplaceAll(strings.TrimSuffix(s, "\r"), "\r\n", "\n")
		if shown := Visible(plainEnds) != plainEnds; shown != (len(Warnings(s)) > 0) {
			t.Errorf("%q: %t, %v", s, shown, Warnings(s))
		}
		for _, p := range Warnings(s) {
			if line := said(p); strings.ContainsAny(line, "\n\t") || strings.Contains(line, "%!") && !strings.Contains(s, "%!") {
				t.Errorf("%q: %q", s, line)
			}
		}
	})
}
