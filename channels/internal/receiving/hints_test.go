package receiving

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/display"
)

// Whoever repeats themselves is told again, five times a minute, and the last word says that it is the last.
func TestHintsHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hints[string]
		for i := range 8 {
			left, ok := h.Take("ann", time.Minute)
			text := display.Texts{}.Message(Hint(display.Msg("No."), left))
			if ok != (i < 5) || ok && strings.Contains(text, lastText) != (i == 4) || !strings.HasPrefix(text, "No.") {
				t.Errorf("hint %d: %v, %q", i, ok, text)
			}
		}
		if _, ok := h.Take("bob", time.Minute); !ok {
			t.Error("the hints of one person are used up by another")
		}
		time.Sleep(time.Minute)
		if left, ok := h.Take("ann", time.Minute); !ok || left != 4 {
			t.Errorf("a minute later: %v, %d left", ok, left)
		}
	})
}
