package match

import (
	"slices"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		expr  string
		rules []string
		text  string // in the first warning
	}{
		{expr: `\brm\s+-[a-z]*r`},
		{expr: `curl[^;|&\n]*\|\s*(?:ba)?sh`},
		{expr: `(?i)\bDELETE\s+FROM\b`},
		{expr: `^\s*mkfs\.[a-z0-9]+\b`},
		{expr: `(`, rules: []string{"syntax"}, text: "missing closing"},
		{expr: `a{1001}`, rules: []string{"syntax"}, text: "1001"},
		{expr: `x*`, rules: []string{"literal", "empty"}, text: "no word"},
		{expr: `(?:rm|)`, rules: []string{"literal", "empty"}},
		{expr: `\brm\b[^;]{1,80}important`, rules: []string{"states"}, text: "[^;]{1,80}"},
		{expr: `[^;]{1,80}r[a-z]{1,90}m`, rules: []string{"states"}, text: "[a-z]{1,90}"},
		{expr: `(?:[a-c]x){900}(?:[d-f]y){900}`, rules: []string{"size", "states"}, text: "3602 instructions"},
		{expr: `[a-z]+`, rules: []string{"literal"}, text: "no word"},
		{expr: `\b`, rules: []string{"literal"}},
		{expr: `DROP table`, rules: []string{"folded"}, text: "'D'"},
		{expr: `(?i)DROP table`},
		{expr: `[A-Z]xyz`, rules: []string{"folded"}, text: "[A-Z]"},
		{expr: `caf\x{e9}`, rules: []string{"folded"}, text: "'é'"},
		{expr: `(?i)caf\x{c9}`, rules: []string{"folded"}},
		{expr: `(?:rm|\x{430})x`, rules: []string{"folded"}, text: "'а'"},
		{expr: `rm\x{200b}`, rules: []string{"folded"}},
		{expr: `日本`, rules: []string{"literal"}},
		{expr: `rm\pL`},
	} {
		var rules []string
		found := Lint(tt.expr)
		for _, w := range found {
			rules = append(rules, w.Rule)
		}
		if !slices.Equal(rules, tt.rules) {
			t.Errorf("%s: %v, want rules %v", tt.expr, found, tt.rules)
		} else if len(found) > 0 && !strings.Contains(found[0].Text, tt.text) {
			t.Errorf("%s: %q does not say %q", tt.expr, found[0].Text, tt.text)
		}
	}
}
