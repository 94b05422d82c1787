package settings

import (
	"slices"
	"testing"
)

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"/usr/bin/approver-hook": "/usr/bin/approver-hook",
		"/a b":                   "'/a b'",
		"/it's":                  `'/it'\''s'`,
		"/$(x)":                  "'/$(x)'",
		"/a;b/c":                 "'/a;b/c'",
		"/é":                     "'/é'",
		"":                       "''",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", in, got, want)
		}
		line := CommandLine([]string{in, "x", in})
		if words, err := line.Words(); err != nil || !slices.Equal(words, []string{in, "x", in}) {
			t.Errorf("%s is %q, %v", line, words, err)
		}
	}
	// What a shell reads in another way, or what approver does not write, is no command line.
	for _, line := range []Command{"a  b", " a", "a ", "'a", "a;b", "'a'", "a $(b)", `a\ b`, "a\nb", `"a"`} {
		if words, err := line.Words(); err == nil {
			t.Errorf("%q is %q", line, words)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("/opt/it's here/approver-hook", "--agent")
	f.Fuzz(func(t *testing.T, a, b string) {
		if words, err := CommandLine([]string{a, b}).Words(); err != nil || !slices.Equal(words, []string{a, b}) {
			t.Errorf("%q and %q are %q, %v", a, b, words, err)
		}
	})
}
