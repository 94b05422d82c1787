package term

import (
	"io"
	"strings"
	"testing"
)

// A newcomer typed y, as in approver watch, and "nothing was approved": the request was
// lost two minutes later. Whoever means it is asked for the whole word now; everything
// else stays a no.
func TestOnlyTheWholeYesCounts(t *testing.T) {
	for typed, want := range map[string]bool{
		"yes\n": true, " yes \n": true, "yes": true, "y\nyes\n": true, "Y\ny\nyes\n": true, "YES\nyes\n": true,
		"Yes\nyes": true,
		"":         false, "\n": false, "no\n": false, "y\n": false, "y\ny\ny\n": false, "y\ny\ny\nyes\n": false,
		"y\nno\nyes\n": false, "\nyes\n": false,
		"ja\nyes\n": false, "yes please\n": false, "yess\n": false, "1\nyes\n": false, "CONFIRM-AAAA\nyes\n": false,
		"y e s\n": false, "n\nyes\n": false,
	} {
		if got := TypedYes(strings.NewReader(typed), io.Discard, "?"); got != want {
			t.Errorf("%q: %t", typed, got)
		}
	}
}
