//go:build !linux

package approver

import "time"

// processorTime is the time on the clock: no other is known here.
func processorTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()
