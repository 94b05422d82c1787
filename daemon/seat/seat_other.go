//go:build !linux

package seat

import "time"

func process(int32) (parent int32, terminal uint64, ok bool) { return 0, 0, false }

func lastRead(uint64) (at time.Time, ok bool) { return time.Time{}, false }
