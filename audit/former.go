package audit

import (
	"fmt"
	"sync"
	"time"

	"approver.example"
)

// A Released is the calls that people let run under a version that kept no record of
// it beside the audit, and that were not reported yet. The nil value has none. All
// methods are safe for concurrent use.
type Released struct {
	log   *Log
	mu    sync.Mutex
	calls map[string]int
}

// Released looks for them in the lines since a time. A line that knows of a record of
// the controls is of a version that keeps its own, and counts as a report only.
func (l *Log) Released(since time.Time) (*Released, error) {
	r := &Released{log: l, calls: map[string]int{}}
	err := l.each(1, func(line Line) {
		if line.Timestamp.Before(since) || line.Tool == "" {
			return
		}
		switch key := callKey(line); {
		case (line.Event == approver.EventReleased || line.Event == approver.EventGrantUsed) && line.Controls == 0:
			r.calls[key]++
		case line.Event == approver.EventRan || line.Event == approver.EventAlarm:
			r.calls[key] = max(0, r.calls[key]-1)
		}
	})
	return r, err
}

// Take reports whether a call that ran is one of them, to the byte. Each counts once.
func (r *Released) Take(call approver.ToolCall) bool {
	if r == nil || call.Tool == "" || !call.Peer.Known {
		return false
	}
	key := callKey(r.log.red.lineOf(approver.Record{Event: approver.EventRan, Call: call}, "", time.Time{}))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[key] == 0 {
		return false
	}
	r.calls[key]--
	return true
}

// callKey is the same for a call and its report.
func callKey(l Line) string {
	uid := "nobody"
	if l.PeerUID != nil {
		uid = fmt.Sprint(*l.PeerUID)
	}
	return fmt.Sprintf("%s %q %q %q %q %s", uid, l.Agent, l.Session, l.Dir, l.Tool, l.ArgsHash)
}
