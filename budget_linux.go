package approver

import (
	"syscall"
	"time"
)

const rusageThread = 1 // RUSAGE_THREAD

// processorTime is what the current thread has used, in user and system mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return time.Since(processStart)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var processStart = time.Now()
