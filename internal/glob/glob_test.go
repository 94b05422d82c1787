package glob_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"approver.example/internal/glob"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"a*c", "AbC", true}, {"a*c", "abcd", false},
		{"*.pem", "/etc/ssl/Key.PEM", true}, {"a*b*c", "a1b2b3c", true}, {"**", "x", true}, {"a**b", "ab", true},
		{"a", "*", false}, {"a*", "*", false}, {"*a", "ba", true}, {"*ab", "aab", true}, {"é*", "é1", true},
		{"a[*]", "a*", true}, {"a[*]", "ab", false}, {"a[*]", "a[b]", false}, {"*[*]*", "refs/*:refs/*", true},
		{"*[*]*", "main", false}, {"*[*]*", "[x]", false}, {"[*", "[x", true},
	} {
		if got := glob.Text(c.pattern, c.text); got != c.want {
			t.Errorf("Text(%q, %q) = %t", c.pattern, c.text, got)
		}
	}
}

func TestBegins(t *testing.T) {
	for _, c := range []struct {
		pattern, beginning string
		may, surely        bool
	}{
		{"*", "", true, true}, {"", "", true, false}, {"a", "", true, false}, {"a*", "", true, false},
		{"a*", "a", true, true},
		{"a*", "ax", true, true}, {"a*", "b", false, false}, {"a*b", "ab", true, false}, {"a*b", "a", true, false},
		{"a**", "a", true, true}, {"*b*", "a", true, false}, {"*b*", "ab", true, true}, {"ab", "abc", false, false},
	} {
		if may, surely := glob.Begins(c.pattern, c.beginning); may != c.may || surely != c.surely {
			t.Errorf("Begins(%q, %q) = %t, %t", c.pattern, c.beginning, may, surely)
		}
	}
}

func TestName(t *testing.T) {
	if !glob.Name("mcp__*__write", "mcp__a/b__write") || glob.Name("a[", "a[") || !glob.Name("ba[sz]h", "bash") ||
		glob.Name("a", "A") {
		t.Error("wrong")
	}
}

// What a pattern matches is what the same pattern as a regular expression matches.
func FuzzEqualsRegexp(f *testing.F) {
	for _, s := range [][2]string{{"a*b", "a/b"}, {"a**b", "a/xb"}, {"***", "/"}, {"src/**", "src"}, {"*a*a*", "aab"},
		{"a*", "A"}, {"*é", "\xffé"}} {
		f.Add(s[0], s[1])
	}
	stars := regexp.MustCompile(`\*+`)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 50 || len(text) > 200 || strings.ContainsFunc(pattern+text,
			func(r rune) bool { return r >= 0x80 }) {
			return // of bytes that are no ASCII, regexp compares characters
		}
		like := func(flags string, one string) bool {
			var b strings.Builder
			from := 0
			for _, m := range stars.FindAllStringIndex(pattern, -1) {
				b.WriteString(regexp.QuoteMeta(pattern[from:m[0]]))
				if from = m[1]; m[1]-m[0] == 1 {
					b.WriteString(one)
				} else {
					b.WriteString(".*")
				}
			}
			b.WriteString(regexp.QuoteMeta(pattern[from:]))
			return regexp.MustCompile(flags + `\A` + b.String() + `\z`).MatchString(text)
		}
		if got, want := glob.Word(pattern, text), like("(?s)", "[^/]*"); got != want {
			t.Errorf("Word(%q, %q) = %t", pattern, text, got)
		}
		if strings.ToLower(pattern) != pattern || strings.Contains(pattern, "[*]") {
			return
		}
		if got, want := glob.Text(pattern, text), like("(?is)", ".*"); got != want {
			t.Errorf("Text(%q, %q) = %t", pattern, text, got)
		}
		for cut := range len(text) {
			if may, surely := glob.Begins(pattern, text[:cut]); !may && glob.Text(pattern, text) ||
				surely && !glob.Text(pattern, text) {
				t.Errorf("Begins(%q, %q) = %t, %t; %q", pattern, text[:cut], may, surely, text)
			}
		}
	})
}

// The matcher that never goes back further than the last ** agrees with the
// plain recursive definition.
func FuzzPath(f *testing.F) {
	f.Add("/a/**/b", "/a/x/b")
	f.Add("/**/a/**/a", "/a/a/a")
	f.Add("/**/**/x", "/x")
	f.Fuzz(func(t *testing.T, pattern, p string) {
		if len(pattern) > 40 || len(p) > 40 {
			return
		}
		g, segs := strings.Split(pattern, "/"), strings.Split(p, "/")
		if got, want := glob.Path(g).Match(p), slow(g, segs); got != want {
			t.Fatalf("%q on %q: %v, by definition %v", pattern, p, got, want)
		}
	})
}

func slow(g, segs []string) bool {
	if len(g) == 0 {
		return len(segs) == 0
	}
	if g[0] == "**" {
		return slow(g[1:], segs) || len(segs) > 0 && slow(g, segs[1:])
	}
	if len(segs) == 0 {
		return false
	}
	ok, err := path.Match(g[0], segs[0])
	return ok && err == nil && slow(g[1:], segs[1:])
}
