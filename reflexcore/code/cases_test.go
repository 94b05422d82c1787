package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
)

// A testCase is a source and everything that is found in it, in any order.
type testCase struct {
	src  string
	want []string
}

var cases = map[string][]testCase{
	"python": pythonCases, "node": nodeCases, "perl": perlCases, "ruby": rubyCases, "php": phpCases, "lua": luaCases,
	"awk": awkCases, "sed": sedCases, "powershell": powershellCases, "cmd": cmdCases,
}

func TestScan(t *testing.T) {
	for _, lang := range languages {
		t.Run(lang, func(t *testing.T) {
			for _, c := range cases[lang] {
				got := lines(lang, c.src, code.Limits{})
				want := slices.Clone(c.want)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s\n\tgot  %s\n\twant %s", c.src, strings.Join(got, " ; "), strings.Join(want, " ; "))
				}
			}
		})
	}
}

func is(want ...string) []string { return want }
