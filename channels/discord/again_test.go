package discord

import (
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
)

// A replica that loses the lease stops receiving, and begins anew when it has
// the lease again: what people press then counts.
func TestRunAgain(t *testing.T) {
	b := newBench(t, nil)
	for round := range 3 {
		b.run(nil)
		ref := b.post(b.here, high())
		deadline := time.Now().Add(30 * time.Second)
		before := len(b.got())
		for len(b.got()) == before && time.Now().Before(deadline) {
			_ = b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton)
			time.Sleep(50 * time.Millisecond)
		}
		if len(b.got()) == before {
			t.Errorf("round %d: no answer arrives", round)
		}
		if _, err := b.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
