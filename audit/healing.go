package audit

import (
	"slices"
	"time"
)

// This file has what is known of a log that has failed.

// A pace says how long to wait before the next try: longer while the log fails
// again soon after it was healed.
type pace struct {
	wait   time.Duration
	healed time.Time
}

func (p *pace) begin() {
	if p.wait == 0 || time.Since(p.healed) > healMost {
		p.wait = healFirst
		return
	}
	p.double()
}

func (p *pace) double() { p.wait = min(2*p.wait, healMost) }

// healing is what is known of a log that has failed. It belongs to the writing goroutine.
type healing struct {
	pace    pace
	changed bool    // somebody else changed the file
	lost    string  // what is gone from the log, or was changed; empty once it is recorded
	found   []alarm // not yet in the log
}

// add keeps what a try to heal found, once, until it can be written.
func (h *healing) add(a alarm) {
	if !slices.Contains(h.found, a) {
		h.found = append(h.found, a)
	}
}

// Bounds of healing.
const (
	healFirst = time.Second // before the first try, doubled with each
	healMost  = 30 * time.Second
	// stopTimeout is for Options.Changed.
	stopTimeout = 5 * time.Second
)
