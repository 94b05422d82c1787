package demo

import (
	"testing"
	"time"
)

// Even if the demo itself is killed, its processes end: Linux ties a child's life to
// its parent's.
func TestKilledDemoLeavesNoProcess(t *testing.T) {
	p := startPlay(t, "three cards, no answer", "--store", "redis")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	var processes []string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if processes, _ = p.left(t); len(processes) == 0 {
			return
		}
	}
	t.Errorf("left behind: %q", processes)
}
