package terminal

import (
	"strings"
	"testing"
)

// A terminal that breaks a long line itself goes on at its left edge, in the middle of a
// word: doctor's and status's lines ran into each other at 80 columns.
func TestFold(t *testing.T) {
	for name, c := range map[string]struct {
		hang, width int
		in, want    string
	}{
		"short":            {0, 20, "daemon    up\n", "daemon    up\n"},
		"as wide as it is": {0, 12, "daemon    up\n", "daemon    up\n"},
		"under a label": {0, 30, "store  one two three four five six\n",
			"store  one two three four five\n       six\n"},
		"under a given column": {10, 24, "evaluator none of those that are\n",
			"evaluator none of those\n          that are\n"},
		"its own indent and 2": {0, 20, "    one two three four five\n", "    one two three\n      four five\n"},
		"prose":                {0, 10, "one two three four\n", "one two\n  three\n  four\n"},
		"a long word": {0, 12, "see /a/very/long/path/to/it and more words\n",
			"see\n  /a/very/long/path/to/it\n  and more\n  words\n"},
		"a long word at first": {5, 12, "fix: /a/very/long/path/to/it now\n", "fix: /a/very/long/path/to/it\n     now\n"},
		"one word":             {0, 5, "abcdefghijkl\n", "abcdefghijkl\n"},
		"wide characters":      {0, 10, "日本語 日本語 ab\n", "日本語\n  日本語\n  ab\n"},
		"several lines":        {0, 10, "a b\n\none two three\n", "a b\n\none two\n  three\n"},
		"a caret below": {0, 10, "f.yaml: wrong\n    key: a value that is long\n         ^\nand more of it\n",
			"f.yaml:\n  wrong\n    key: a value that is long\n         ^\nand more\n  of it\n"},
		"more room than screen": {18, 20, "ok   config       one two three four\n", "ok   config\n  one two three four\n"},
		"a label too wide": {0, 30, "0123456789abcdef-0123  one two three four\n",
			"0123456789abcdef-0123  one two\n  three four\n"},
		"no end":                {0, 10, "one two three", "one two\n  three"},
		"spaces at the end":     {0, 10, "one two       \n", "one two\n"},
		"only spaces":           {0, 3, "       \n", "       \n"},
		"a table keeps its gap": {0, 20, "a   b   c   d   e   f   g\n", "a   b   c   d   e\n    f   g\n"},
		"no width":              {0, 0, "one two three four five six\n", "one two three four five six\n"},
		"width 1":               {0, 1, "a b c\n", "a b\n  c\n"},
	} {
		var b strings.Builder
		f := Folder{W: &b, Width: c.width, Hang: c.hang}
		for i := range len(c.in) { // as a buffer that ends anywhere would write it
			if name == "a caret below" {
				continue
			}
			if n, err := f.Write([]byte(c.in[i : i+1])); n != 1 && err == nil {
				t.Fatal(n)
			}
		}
		if name == "a caret below" {
			_, _ = f.Write([]byte(c.in))
		}
		if err := f.Flush(); err != nil || b.String() != c.want {
			t.Errorf("%s:\n%q, want\n%q", name, b.String(), c.want)
		}
	}
}

// Nothing but spaces at a break is lost, whatever the text and the width.
func FuzzFold(f *testing.F) {
	f.Add("warn people       nobody can approve ANY request: /a/long/path and so on", uint8(18), uint8(80))
	f.Add("  a  b\n   ^\n\n 日本 \t x", uint8(0), uint8(7))
	f.Fuzz(func(t *testing.T, text string, hang, width uint8) {
		var b strings.Builder
		to := Folder{W: &b, Width: int(width), Hang: int(hang)}
		_, _ = to.Write([]byte(text))
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		bare := strings.NewReplacer(" ", "", "\n", "")
		if bare.Replace(b.String()) != bare.Replace(text) {
			t.Errorf("%q became %q", text, b.String())
		}
		if width == 0 && b.String() != text {
			t.Errorf("without a width %q became %q", text, b.String())
		}
	})
}
