package shieldcore

import (
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/internal/match"
)

// The quick look never hides a match: whatever a regular expression matches
// holds one of the texts that it is said to need.
func FuzzRequired(f *testing.F) {
	for _, s := range [][2]string{
		{`(?i)drop\s+task`, "DROP taſK"}, {`(?i)k`, "\u212a"}, {`foo|bar`, "xbary"}, {`(?:ab){1,3}c`, "ababc"},
		{`\x{FFFD}x`, "\xffx"}, {`a(?i)b`, "aB"},
		{`[sS]udo|(?i:do)as`, "DOas"}, {`(?i)ſ`, "S"}, {`(?i)(?:é|e)x`, "ÉX"}, {`^git$`, "git"}, {`(?i)İ`, "i̇"},
		{`(?i)ss`, "ſS"}, {`DROP|(?i)k`, "\u212a"},
		{`(?:rm|mv)\s.*(?i:usr|lib)/`, "mv x USR/"}, {`ab.*(?:cd|ef).*(?i)kk`, "ab ef \u212ak"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, expr, in string) {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil || steps(tree) > maxSteps {
			return
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return
		}
		required := match.Required(tree)
		sieve := match.NewSieve([][][]string{required})
		for _, s := range []string{in, in + strings.Repeat("\n", 512)} {
			if re.MatchString(s) && len(sieve.Candidates(s)) == 0 {
				t.Fatalf("%q matches %q without one of each of %q in it", expr, s, required)
			}
		}
	})
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"/**", []string{"/", "/a", "/a/b"}, []string{"~/a", "a"}},
		{"/a/**", []string{"/a", "/a/b", "/a/b/c"}, []string{"/ab", "/b/a"}},
		{"/a/*", []string{"/a/b"}, []string{"/a", "/a/b/c"}},
		{"/**/a/**/b", []string{"/a/b", "/x/a/y/z/b", "/a/a/b/b"}, []string{"/b/a", "/a/bc"}},
		{"**/a", []string{"/a", "/x/a"}, []string{"/a/x", "~/b"}},
		{"/**/a/*/b/**/c", []string{"/a/x/b/c", "/a/a/x/b/y/b/c"}, []string{"/a/b/c", "/a/x/y/b/c"}},
	} {
		g, err := newPathGlob(tt.pattern)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		for _, p := range tt.yes {
			if !g.exact.Match(p) {
				t.Errorf("%s does not match %s", tt.pattern, p)
			}
		}
		for _, p := range tt.no {
			if g.exact.Match(p) {
				t.Errorf("%s matches %s", tt.pattern, p)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  a  ": "a", "a \t b": "a b", "a \n\n b": "a\nb", "'a' \"b\"": "a b", `a\ b`: "a b", "a\\\nb": "ab",
		"a\\\r\nb": "ab", "a\u00a0b": "a b", "\na\n": "a",
	} {
		if got := normalize(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Nothing that a shell would act on is plain, wherever it stands.
func TestPlainRefusesEveryOperator(t *testing.T) {
	for c := range 256 {
		ok := strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_./:=,@%+", rune(c))
		for _, s := range []string{string(rune(c)), "ls " + string(rune(c)) + "x", "ls x" + string(rune(c))} {
			if plain(s) != ok {
				t.Errorf("plain(%q) = %v", s, !ok)
			}
		}
	}
	if plain("a\xffb") {
		t.Error("a byte that is no character is plain")
	}
}

func TestStringsInArguments(t *testing.T) {
	got, err := stringsIn([]byte(`{"k1":"v1","k2":{"k3":["v2",{"k4":"v3"},1,null,true],"k5":{}},"k6":[[]],"k7":"v4"}`))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range got {
		all = append(all, s.raw)
	}
	if !slices.Equal(all, []string{"v1", "v2", "v3", "v4"}) {
		t.Errorf("got %v", all)
	}
}

// What the system says of a home is kept for a second, and no longer.
func TestHomesAreKeptForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c homeCache
		uid := uint32(os.Getuid())
		want, known := homeOf(uid)
		c.known = map[uint32]knownHome{uid: {"/former", true, time.Now().Add(homeKept)}}
		if dir, ok := c.of(uid); !ok || dir != "/former" {
			t.Errorf("within the second: %q, %v", dir, ok)
		}
		time.Sleep(homeKept)
		if dir, ok := c.of(uid); ok != known || dir != want {
			t.Errorf("after it: %q, %v, want %q", dir, ok, want)
		}
		for n := range uint32(2 * maxHomes) {
			c.known[n+1_000_000] = knownHome{}
		}
		c.of(uid + 1)
		if len(c.known) > maxHomes {
			t.Errorf("%d homes are kept", len(c.known))
		}
	})
}
