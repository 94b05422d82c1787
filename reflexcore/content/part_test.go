package content_test

import (
	"strings"
	"testing"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

// A part of a document need not have the key that makes it run.
func TestPart(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"/w/.github/workflows/ci.yml", "npm test && make\n", "npm test && make"},
		{"/w/.github/workflows/ci.yml", "- run: a | b\n", "a | b"},
		{"/w/.github/workflows/ci.yml", "  version: 20\n", ""},
		{"/w/package.json", `"test": "a && b",`, "a && b"},
		{"/w/package.json", `"version": "1.2",`, ""},
		{"/w/Makefile", "a $(X); b", "a $(X); b"},
		{"/w/Makefile", "all: b", ""},
		{"/w/x.sh", "plain", "plain"},
		{"/w/README.md", "a | b", ""},
	} {
		var got []string
		content.Part(c.path, c.text, content.DefaultLimits(), func(p effect.Payload) {
			if p.Lang != "" {
				got = append(got, strings.TrimSpace(p.Text))
			}
		})
		if s := strings.Join(got, " / "); s != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.text, c.path, s, c.want)
		}
	}
}
