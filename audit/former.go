package audit

import (
	"fmt"
	"slices"
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
	calls map[string][]formerCall // by whose they are, see ownerKey
}

// A formerCall is the arguments of one.
type formerCall struct{ hash, shown string }

// Released looks for them in the lines since a time. A line that knows of a record of
// the controls is of a version that keeps its own, and counts as a report only.
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

// reported takes out the call of a report. Where it is not known which of several
// calls that look alike it is, all of them go: none may count for a second run.
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

// take takes out one call whose arguments have one of the hashes.
func (r *Released) take(key string, hashes ...string) bool {
	i := slices.IndexFunc(r.calls[key], func(c formerCall) bool { return slices.Contains(hashes, c.hash) })
	if i < 0 {
		return false
	}
	r.calls[key] = slices.Delete(r.calls[key], i, i+1)
	return true
}

// Take reports whether a call that ran is one of them: with the same arguments, as the
// agent sent them or as the store keeps them. Each counts once.
func (r *Released) Take(call approver.ToolCall) bool {
	if r == nil || call.Tool == "" || !call.Peer.Known {
		return false
	}
	key := ownerKey(r.log.red.lineOf(approver.Record{Event: approver.EventRan, Call: call}, "", time.Time{}))
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(key, hashOf(call.Args), argsHash(call.Args))
}

// shownArgs are the arguments of a line, with secrets hidden, to compare. All that are
// cut, or not shown, look alike.
func shownArgs(args []byte) string {
	if len(args) > 0 && args[0] == '"' {
		return `"`
	}
	return string(canonical(args))
}

// ownerKey is the same for a call and its report, whatever its arguments.
func ownerKey(l Line) string {
	uid := "nobody"
	if l.PeerUID != nil {
		uid = fmt.Sprint(*l.PeerUID)
	}
	return fmt.Sprintf("%s %q %q %q %q", uid, l.Agent, l.Session, l.Dir, l.Tool)
}
