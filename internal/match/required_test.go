package match_test

import (
	"fmt"
	"regexp/syntax"
	"testing"

	"approver.example/internal/match"
)

func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`git\s+push`:         "[[push] [git] [\t \n \f \r  ]]",
		`(?:^|;)\s*rm\s+-rf`: "[[-rf] [rm] [\t \n \f \r  ]]",
		`foo|bar\d|(?:baz)+`: "[[foo bar baz]]",
		`foo|\d`:             "[]",
		`(?i)DROP\s+table`:   "[[table] [drop] [\t \n \f \r  ]]",
		`(?i)drop|keep`:      "[[drop keep]]",
		`DROP|(?i)drop`:      "[[drop drop]]",
		`(?:abc)?`:           "[]",
		`(?:abc){0,3}`:       "[]",
		`(?:abc){2}x`:        "[[abcabcx]]",
		`.*`:                 "[]",
		`a�b`:                "[[a]]",
		`(?i)é`:              "[]",
		`x(?:a|b|c|d)longest(?:e)?`: "[[xalongeste xalongest xblongeste xblongest xclongeste xclongest xdlongeste " +
			"xdlongest]]",
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(match.Required(tree)); got != want {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
}
