package content

import (
	"slices"
	"strings"
	"testing"
)

func TestPluginPaths(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"name":"x"}`:          "",
		`{"commands":"./a.md"}`: "a.md",
		`{"commands":["./a","${CLAUDE_PLUGIN_ROOT}/B/c.md"]}`: "B/c.md a",
		`{"commands":{"x":{"source":"../../e.md"}}}`:          "e.md",
		`{"skills":"./"}`: ".",
		`{"plugins":[{"source":"./p","agents":"./q.md"}]}`: "q.md",
		`{"experimental":{"monitors":"./m.json"}}`:         "m.json",
	} {
		own, ok := PluginPaths(manifest)
		slices.Sort(own)
		if got := strings.Join(own, " "); !ok || got != want {
			t.Errorf("%s: %q %v", manifest, got, ok)
		}
	}
	for _, broken := range []string{"", "{", "nothing", strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		if _, ok := PluginPaths(broken); ok {
			t.Errorf("%.20q is read", broken)
		}
	}
}

func FuzzPluginPaths(f *testing.F) {
	f.Add(`{"commands":["./a"],"hooks":"./h.json"}`)
	f.Add(`{"plugins":[{"agents":{"a":{"source":"../x"}}}]}`)
	f.Fuzz(func(t *testing.T, manifest string) {
		own, _ := PluginPaths(manifest)
		for _, o := range own {
			if o == "" || strings.HasPrefix(o, "/") || strings.HasPrefix(o, "../") || strings.Contains(o, "/../") {
				t.Fatalf("%q of %q", o, manifest)
			}
		}
	})
}
