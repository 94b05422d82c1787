package shell

import (
	"strings"
	"testing"
)

// Words are looked through in two ways, by their length: both must find the same. A file
// that is named in a long word is named as well.
func FuzzHint(f *testing.F) {
	for _, w := range []string{
		"", ".env", ".claude", "x.claude", "-o.claude/x", "a/.b/c", "settings", "xsettings.json", "my-hooks", "/etc/passwd",
		"etc/", "approver",
		"authorized_keys", "crush.json", "config.toml", "opencode", "a..b.c", "./x", "../x", "...abc", ".*", ".[c]laude",
		"a)b.ccc", "\".ccc\"", "hook", "/etc",
	} {
		f.Add(w)
	}
	long := strings.Repeat("-", 70)
	f.Fuzz(func(t *testing.T, w string) {
		if len(w) > 60 {
			return
		}
		// Between quotes the word begins and ends as it does alone.
		if short, in := hint("'"+w+"'"), hint(long+"'"+w+"'"); short != in {
			t.Fatalf("%q: %v, and in a long word %v", w, short, in)
		}
		for _, name := range settingNames {
			if strings.Contains(w, name) && !hint(w) {
				t.Fatalf("%q has %q", w, name)
			}
		}
	})
}
