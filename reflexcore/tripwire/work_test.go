package tripwire

import (
	"strings"
	"testing"
)

// When the work for a text is used up, reading ends.
func TestWorkIsBounded(t *testing.T) {
	r := new(reader)
	r.read("instructions rules restrictions above. " + strings.Repeat("ignore you act are not all ", 200))
	r.work = 10
	r.judge(nil, "", 1)
	if r.work >= 0 {
		t.Errorf("%d of 10 steps are left", r.work)
	}
	if r.work < -len(r.hits)*len(templates) {
		t.Errorf("it went on after the work was used up: %d", r.work)
	}
}
