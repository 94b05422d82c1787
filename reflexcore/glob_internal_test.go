package reflexcore

import (
	"regexp"
	"strings"
	"testing"

	"approver.example/internal/glob"
)

// A pattern is turned down by its letters before it is compared, so that rule after rule
// costs little. That must never turn down one that would have matched.
func FuzzGlob(f *testing.F) {
	for _, c := range [][2]string{
		{"*", ""}, {"", ""}, {"a*b", "AxB"}, {"/etc/*", "/ETC/passwd"}, {"*.Pem", "key.pem"}, {"*a*b*", "xxaxxbxx"},
		{"*\xc3\xa9*", "caf\xc3\xa9"}, {"a/b", "aob"}, {"a*a", "a"}, {"*\x00", "x\x00"}, {"[x]*", "[x]y"}, {"~/*", "^/x"},
		{"*É", "É"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		globs := compileGlobs([]string{pattern})
		if got, want := anyGlob(globs, text, lettersOf(text)), glob.Text(globs[0].text, text); got != want {
			t.Fatalf("%q on %q: %v, without a look at the letters %v", pattern, text, got, want)
		}
		if !isASCII(pattern + text) {
			return
		}
		expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		if got, want := glob.Text(globs[0].text, text), regexp.MustCompile("(?is)^"+expr+"$").MatchString(text); got != want {
			t.Fatalf("%q on %q: %v, as an expression %v", pattern, text, got, want)
		}
	})
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }
