package lazyregexp_test

import (
	"testing"

	"approver.example/internal/lazyregexp"
)

func TestRegexp(t *testing.T) {
	re := lazyregexp.New(`^a+$`)
	first := re()
	if !first.MatchString("aa") || first.MatchString("b") || re() != first {
		t.Error("the expression is another one, or is compiled anew")
	}
	// A wrong expression is found in a test, used or not.
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression passes")
		}
	}()
	lazyregexp.New(`(`)
}
