package agenttexts

import (
	"testing"

	"approver.example/reflexcore/shell"
)

// Only one replacement of words in one file is an edit whose result is known.
func TestSedReplaces(t *testing.T) {
	type edit struct {
		from, to string
		all, ok  bool
	}
	for command, want := range map[string]edit{
		`sed -i 's/a b/c/' x.md`:          {"a b", "c", false, true},
		`gsed -E -i -s -e "s|a/b|c'|g" x`: {"a/b", "c'", true, true},
		`sed -i '' s,a,b,g ~/x.md`:        {"a", "b", true, true},
		`sed -Ei s/a// x`:                 {"a", "", false, true},
		`sed 's/a/b/' x`:                  {}, // not in place
		`sed -i.bak 's/a/b/' x`:           {},
		`sed -i -n 's/a/b/' x`:            {},
		`sed -i 's/a/&c/' x`:              {},
		`sed -i 's/a/b/;s/c/d/' x`:        {},
		`sed -i 's/a/b/e' x`:              {},
		`sed -i "s/a/b!/" x`:              {},
		`sed -i s#a#b# x`:                 {}, // a comment, where a shell takes it for one
		`sed -i s/a,b/c/ x`:               {},
		`sed -i 's/a/b/' x y`:             {},
		`sed -i 's/a/b/' 'x'`:             {},
		`sed -i 's/a/b/' x*`:              {},
		`sed -i 's/a/b/' x >y`:            {},
		`sed -i 's/a/b/' x; ls`:           {},
		`sed -i 's/a/b/' x;`:              {},
		`sed -i 's/a/b/' x &`:             {},
		`sed -i 's/a/b/' x # y`:           {},
		`! sed -i 's/a/b/' x`:             {},
		`A=1 sed -i 's/a/b/' x`:           {},
		`(sed -i 's/a/b/' x)`:             {},
		`sed -i 's/a/'$b'/' x`:            {},
		"sed -i 's/a/b/' x\nls":           {},
	} {
		from, to, all, ok := sedReplaces(command, shell.DefaultLimits)
		if got := (edit{from, to, all, ok}); got != want {
			t.Errorf("%s: %+v, not %+v", command, got, want)
		}
	}
}
