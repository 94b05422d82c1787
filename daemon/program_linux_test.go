package daemon

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// What was read of the program's file is no longer mapped, and the program runs on.
func TestTheProgramIsDropped(t *testing.T) {
	mapped := func() int {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip(err)
		}
		_, after, _ := strings.Cut(string(status), "RssFile:")
		kib, err := strconv.Atoi(strings.Fields(after)[0])
		if err != nil {
			t.Skip(err)
		}
		return kib
	}
	before := mapped()
	dropProgram()
	if after := mapped(); after > before/2 {
		t.Errorf("%d KiB of the program are mapped, before it were %d", after, before)
	}
}
