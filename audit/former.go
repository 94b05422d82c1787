package audit

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// Released holds the calls that an older version released, and whose run was not reported
// yet. That version recorded releases only in the audit. The nil value is empty. All
// methods are safe for concurrent use.
type Released struct {
	log   *Log
	mu    sync.Mutex
	calls map[string][]formerCall // by ownerKey
}

// A formerCall is the arguments of one call: their hash, and as the log shows them.
type formerCall struct{ hash, shown string }

// Released finds these calls in the lines since a time. Newer versions write Controls in
// their lines; such lines release nothing here and only report runs.
func (l *Log) Released(since time.Time) (*Released, error) {
	r := &Released{log: l, calls: map[string][]formerCall{}}
	err := l.active.dir.each(1, func(line Line) {
		if line.Timestamp.Before(since) || line.Tool == "" {
			return
		}
		switch key := ownerKey(line); {
		case (line.Event == approver.EventReleased || line.Event == approver.EventGrantUsed) && line.Controls == 0:
			r.calls[key] = append(r.calls[key], formerCall{line.ArgsHash, shownArgs(line.Args)})
		case line.Event == approver.EventRan || line.Event == approver.EventAlarm:
			r.reported(key, line)
		}
	})
	return r, err
}

// reported removes the call of a report. If several calls that look alike could be meant,
// it removes all of them, so that none counts for a second run.
func (r *Released) reported(key string, line Line) {
	if r.take(key, line.ArgsHash, argsHash(line.Args)) {
		return
	}
	shown, hashes := shownArgs(line.Args), map[string]bool{}
	for _, c := range r.calls[key] {
		if c.shown == shown {
			hashes[c.hash] = true
		}
	}
	for hash := range hashes {
		for one := true; one || len(hashes) > 1; one = false {
			if !r.take(key, hash) {
				break
			}
		}
	}
}

// take removes one call whose arguments have one of the hashes.
func (r *Released) take(key string, hashes ...string) bool {
	i := slices.IndexFunc(r.calls[key], func(c formerCall) bool { return slices.Contains(hashes, c.hash) })
	if i < 0 {
		return false
	}
	r.calls[key] = slices.Delete(r.calls[key], i, i+1)
	return true
}

// Take reports whether a call that ran is among them, and removes it. The arguments must
// be the same, as the agent sent them or as the store keeps them.
func (r *Released) Take(call approver.ToolCall) bool {
	if r == nil || call.Tool == "" || !call.Peer.Known {
		return false
	}
	key := ownerKey(r.log.red.lineOf(approver.Record{Event: approver.EventRan, Call: call}, "", time.Time{}))
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(key, hashOf(call.Args), argsHash(call.Args))
}

// shownArgs are the redacted arguments of a line, to compare. Arguments that are cut or
// not shown at all count as equal.
func shownArgs(args []byte) string {
	if len(args) > 0 && args[0] == '"' {
		return `"`
	}
	return string(canonical(args))
}

// ownerKey identifies who made a call, where and with which tool. A call and its report
// have the same key.
func ownerKey(l Line) string {
	uid := "nobody"
	if l.PeerUID != nil {
		uid = fmt.Sprint(*l.PeerUID)
	}
	return fmt.Sprintf("%s %q %q %q %q", uid, l.Agent, l.Session, l.Dir, l.Tool)
}
