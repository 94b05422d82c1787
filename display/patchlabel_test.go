package display

import (
	"slices"
	"strings"
	"testing"
)

// The line of a patch that says where it is passes for no label of approver's own.
func TestALineOfAPatchIsNoLabel(t *testing.T) {
	c := Call{Tool: "apply_patch", Args: []byte(`{"input":"*** Begin Patch\n*** Update File: a\n` +
		`@@ Warning: none\n-a\n+b\n@@ Delete\n-a\n+b\n*** End Patch"}`)}
	blocks, _ := c.Body()
	for _, b := range blocks {
		if b.Kind == Diff && !strings.HasPrefix(b.Label, "@@ ") {
			t.Errorf("a label is %q", b.Label)
		}
	}
}

// A character that arguments write as an escape is shown as it is, and warned about.
func TestEscapedCharactersAreWarnedAbout(t *testing.T) {
	for args, want := range map[string]string{
		`{"to":"Ann\u202e"}`:               "reverse",
		`{"to":"\u0410nn"}`:                "looks like an ASCII one",
		`{"to":[{"n":"a\u200bb"}]}`:        "cannot be seen",
		`{"\u0440ath":"x"}`:                "looks like an ASCII one",
		`{"to":"Ann","n":"\u0041\\u202e"}`: "",
	} {
		all := Call{Tool: "mcp__bank__transfer", Args: []byte(args)}.Warnings()
		warned := slices.ContainsFunc(all, func(p Phrase) bool { return strings.Contains(p.Text, want) })
		if want == "" && len(all) > 0 || want != "" && !warned {
			t.Errorf("%s: %v, want %q", args, all, want)
		}
	}
}
