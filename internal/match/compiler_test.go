package match_test

import (
	"testing"

	"approver.example"
	"approver.example/internal/match"
)

// A compiler's matcher is that of New, and none is none: an interface with a nil set
// in it would be one that panics later.
func TestCompiler(t *testing.T) {
	var c approver.PatternCompiler = match.Compiler{}
	m, err := c.Compile([]approver.Pattern{{ID: "a", Expr: `\brm\b`}, {ID: "b", Expr: `\bmv\b`}})
	if err != nil {
		t.Fatal(err)
	}
	if ids, complete := m.MatchBytes(nil, c.Fold(nil, "ＭＶ x")); len(ids) != 1 || ids[0] != 1 || !complete {
		t.Error(ids, complete)
	}
	if m, err := c.Compile([]approver.Pattern{{ID: "a", Expr: `(`}}); m != nil || err == nil {
		t.Error(m, err)
	}
}
