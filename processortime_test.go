package approver

import (
	"runtime"
	"testing"
	"time"
)

// Sleeping takes no processor time, so that a machine with other work makes no
// honest call a suspect; computing does.
func TestProcessorTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clock is all there is")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := processorTime()
	time.Sleep(200 * time.Millisecond)
	if slept := processorTime() - before; slept > 100*time.Millisecond {
		t.Errorf("%v of processor time asleep", slept)
	}
	x := 0
	for give := time.Now().Add(30 * time.Second); processorTime()-before < 5*time.Millisecond; x++ {
		if time.Now().After(give) {
			t.Fatal("computing takes no time")
		}
	}
}
