package display

import (
	"strings"
	"testing"
)

// Signs that people type are text; what can pass for another one in a command is marked there.
func TestOrdinarySigns(t *testing.T) {
	for _, c := range []struct{ text, prose, code string }{
		{"é ü ß ñ 漢字 かな русский → ✓ € × 🔥", "", ""},
		{"Loading…", "", "Loading⟨U+2026⟩"}, {"wait … done", "", "wait ⟨U+2026⟩ done"},
		{"echo 'please wait…'", "", "echo 'please wait⟨U+2026⟩'"}, {"fast – and small", "", ""},
		{"• one — two", "", ""},
		{"cat …/etc/passwd", "", "cat ⟨U+2026⟩/etc/passwd"}, {"rm /srv/…/x", "", "rm /srv/⟨U+2026⟩/x"},
		{"rm ./…", "", "rm ./⟨U+2026⟩"}, {"a…b", "", "a⟨U+2026⟩b"}, {"rm ..…", "", "rm ..⟨U+2026⟩"},
		{"rm –rf /srv", "", "rm ⟨U+2013⟩rf /srv"}, {"git log —all", "", "git log ⟨U+2014⟩all"},
		{"don’t say “yes”", "", "don⟨U+2019⟩t say ⟨U+201C⟩yes⟨U+201D⟩"},
		{"echo ‘$(id)’", "", "echo ⟨U+2018⟩$(id)⟨U+2019⟩"},
		{"pаypal…", "p⟨U+0430⟩ypal…", "p⟨U+0430⟩ypal⟨U+2026⟩"},
		{"x\u202e…\u200b", "x⟨U+202E⟩…⟨U+200B⟩", "x⟨U+202E⟩⟨U+2026⟩⟨U+200B⟩"},
		{"… 5 bytes hidden …", "", "⟨U+2026⟩ 5 bytes hidden ⟨U+2026⟩"}, // what approver says of its own cuts
		{"example․com", "example⟨U+2024⟩com", "example⟨U+2024⟩com"},
	} {
		want := c.prose
		if want == "" {
			want = c.text
		}
		if got := Prose(c.text); got != want {
			t.Errorf("as prose %q is %q, want %q", c.text, got, want)
		}
		if warned := len(ProseWarnings(c.text)) > 0; warned != (want != c.text) {
			t.Errorf("as prose %q is warned about: %t", c.text, warned)
		}
		if want = c.code; want == "" {
			want = c.text
		}
		if got := Visible(c.text); got != want {
			t.Errorf("as code %q is %q, want %q", c.text, got, want)
		}
		if warned := len(Warnings(c.text)) > 0; warned != (want != c.text) {
			t.Errorf("as code %q is warned about: %t", c.text, warned)
		}
	}
	if got := Prose("the key ghp_16C7e42F292c6912E7710c838347Ae178B4a…"); strings.Contains(got, "ghp_16") {
		t.Errorf("a secret is shown: %s", got)
	}
}
