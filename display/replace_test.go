package display_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example/display"
)

// replaced is a text with its replacements.
func replaced(s string, all []display.Replacement) string {
	var b strings.Builder
	at := 0
	for _, r := range all {
		b.WriteString(s[at:r.Start] + r.By)
		at = r.End
	}
	return b.String() + s[at:]
}

// Every form of the list is found where Mask leaves it in sight too, because a shell
// would run it there: nothing runs a text that is only read.
func TestSecretsOfAText(t *testing.T) {
	random := "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	for _, secret := range []string{
		"AKIA" + "ABCDEFGHIJ234567", "ghp_" + random, "github_pat_" + random + random, "glpat-" + random, "xoxb-" + random,
		"sk-ant-" + random, "sk_live_" + random,
		"AIza" + random[:35], "npm_" + random[:36], "SG." + random + "." + random, "eyJhbGciOiJI.eyJzdWIiOiIx." + random,
		"12345678:AA" + random[:33], "Bearer " + random,
		"https://ada:" + random + "@example.org/x", "CONFIRM-7K3M9Q", "api_key: " + random, "password=" + random,
	} {
		for _, text := range []string{secret, secret + "\n", "x\n" + secret + "\ny", "rm -rf " + secret,
			"sudo " + secret + " && " + secret} {
			found := display.Secrets(text)
			out := replaced(text, found)
			if n := strings.Count(text, secret); len(found) != n {
				t.Errorf("%q: %d found, want %d", text, len(found), n)
			}
			if strings.Contains(out, random[8:20]) || strings.Contains(out, "7K3M9Q") || len(display.Secrets(out)) > 0 {
				t.Errorf("%q became %q", text, out)
			}
		}
	}
}

func TestUnseen(t *testing.T) {
	england := "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	for text, want := range map[string]string{
		"plain\ttext\r\n":                      "plain\ttext\r\n",
		"\x1b[1mbold\x1b[0m \a\b\f":            "\x1b[1mbold\x1b[0m \a\b\f",
		"┌─┐ café 日本語 עברית":                   "┌─┐ café 日本語 עברית",
		"👨\u200d👩\u200d👧 ❤️ #️⃣ ©️":            "👨\u200d👩\u200d👧 ❤️ #️⃣ ©️",
		"क्\u200dष می\u200cروم":                "क्\u200dष می\u200cروم",
		"\ufefffirst":                          "\ufefffirst",
		england:                                england,
		"a\u200bb":                             "a⟨U+200B⟩b",
		"a\ufeffb":                             "a⟨U+FEFF⟩b",
		"a\u200cb":                             "a⟨U+200C⟩b",
		"a\ufe0f\ufe01\ufe02\ufe03":            "a⟨4 characters that are not seen⟩",
		"x\u202ey\u2069z":                      "x⟨U+202E⟩y⟨U+2069⟩z",
		"\x00\x7f":                             "⟨U+0000⟩⟨U+007F⟩",
		"\xff":                                 "⟨\\xFF⟩",
		"\U000e0068\U000e0069":                 "⟨U+E0068⟩⟨U+E0069⟩",
		"a" + strings.Repeat("\U000e0041", 40): "a⟨40 characters that are not seen⟩",
		"🏴" + strings.Repeat("\U000e0041", 8) + "": "🏴⟨8 characters that are not seen⟩",
	} {
		if got := replaced(text, display.Unseen(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestApart(t *testing.T) {
	got := display.Apart([]display.Replacement{{Start: 5, End: 8, By: "b"}, {Start: 0, End: 3, By: "a"},
		{Start: 2, End: 4, By: "x"}, {Start: 8, End: 9, By: "c"}})
	if want := []display.Replacement{{Start: 0, End: 4, By: "a"}, {Start: 5, End: 8, By: "b"},
		{Start: 8, End: 9, By: "c"}}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v", got)
	}
}

// Whatever comes in: places lie in order within the text, and what is left has nothing
// more to find and is UTF-8.
func FuzzReplacements(f *testing.F) {
	for _, s := range []string{"", "a\u200bb", "token: 0a1B2c3D4e5F6g7H8i9J", "\xff\xfe", "🏴\U000e0067\U000e007f",
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ", "x\ufe0f\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, found := range [][]display.Replacement{display.Secrets(s), display.Unseen(s)} {
			at := 0
			for _, r := range found {
				if r.Start < at || r.End <= r.Start || r.End > len(s) {
					t.Fatalf("%q: %v", s, found)
				}
				at = r.End
			}
		}
		if out := replaced(s, display.Unseen(s)); !utf8.ValidString(out) {
			t.Fatalf("%q became %q", s, out)
		}
		if out := replaced(s, display.Secrets(s)); len(display.Secrets(out)) > 0 {
			t.Fatalf("%q became %q", s, out)
		}
	})
}
