package gate

import (
	"testing"

	"approver.example"
)

// However many calls are denied, only so many are remembered.
func TestDenialsAreBounded(t *testing.T) {
	a := &Appeals{}
	for i := range MaxDenials + 10 {
		a.offer(approver.ToolCall{ID: string(rune('a'+i%26)) + string(rune('a'+i/26)),
			Peer: approver.Peer{Known: true, UID: 1000}})
	}
	if n := len(a.denials); n != MaxDenials {
		t.Errorf("%d denials are remembered", n)
	}
}
