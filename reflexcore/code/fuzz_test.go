package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
)

var languages = []string{"python", "node", "perl", "ruby", "php", "lua", "awk", "sed", "powershell", "cmd"}

// Whatever the source is, a scan ends within its limits, says the same twice, and
// stops when it is told to.
func FuzzScan(f *testing.F) {
	for i, lang := range languages {
		for _, c := range cases[lang] {
			f.Add(i, c.src)
		}
	}
	for _, c := range slices.Concat(pipeCases, pipeQuiet, looseCases, looseQuiet) {
		f.Add(slices.Index(languages, c.lang), c.src)
	}
	lim := code.Limits{Bytes: 4 << 10, Tokens: 2000, Steps: 5000, Depth: 24, Args: []string{"a b", "-x"}}
	f.Fuzz(func(t *testing.T, which int, src string) {
		lang := languages[max(0, which)%len(languages)]
		first := everything(lang, src, lim)
		again := everything(lang, src, lim)
		if len(first) != len(again) {
			t.Fatalf("%d findings, then %d", len(first), len(again))
		}
		stopped := 0
		code.Scan(lang, src, lim, func(code.Found) bool { stopped++; return false })
		if stopped > 1 {
			t.Errorf("%d findings after a stop", stopped)
		}
		for _, found := range first {
			if found.Op == code.Argv && len(found.Args) == 0 {
				t.Error("a command without words")
			}
			if found.Op == code.Code && found.Lang != "" && code.Language(found.Lang) == "" {
				t.Errorf("code in %q", found.Lang)
			}
		}
	})
}

func everything(lang, src string, lim code.Limits) (out []code.Found) {
	code.Scan(lang, src, lim, func(f code.Found) bool {
		out = append(out, f)
		return len(out) < 10_000
	})
	return out
}

// line writes a Found in one line, as the tables of cases have it.
func line(f code.Found) string {
	out := f.Op.String()
	if f.Lang != "" {
		out += ":" + f.Lang
	}
	switch {
	case f.Op == code.Argv:
		out += " [" + strings.Join(f.Args, "|") + "]"
	case f.Text != "":
		out += " " + f.Text
	}
	if f.Dir != "" {
		out += " in " + f.Dir
	}
	if f.Bits != 0 {
		out += " " + f.Bits.String()
	}
	if f.Taint != 0 {
		out += " from " + f.Taint.String()
	}
	if f.Op == code.Write && f.Args != nil {
		out += " = " + strings.Join(f.Args, "|")
	}
	return effect.Show(out)
}
