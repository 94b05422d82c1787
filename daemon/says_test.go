package daemon

import (
	"testing"
	"time"

	"approver.example/display"
)

// Approver's own questions are sentences: what changes, and why people are asked.
func TestEffectOf(t *testing.T) {
	e := effectOf("text", "why", "Stop asking about every call for %s", display.Duration(10*time.Minute))
	if got := e.says.Title.Plain(); got != "Stop asking about every call for 10 min" || e.says.Why.Text != "why" ||
		e.text != "text" {
		t.Errorf("got %+v", e)
	}
	if e := effectOf("", "", "Lift the freeze of %s", "a\nb"); e.says.Title.Args[0] != "a ⏎ b" {
		t.Errorf("got %q", e.says.Title.Args)
	}
}
