package approver

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Told is what the audit says of a request: that it came so far.
type Told struct {
	Request string
	Event   Event
	At      time.Time
	Once    string // of the record
	// shared are the numbers of the calls beside the first that were released. Nothing
	// that is told later hides them.
	Shared []int
}

// OnceShared names the record of the release of a call beside the first. It has the call's
// number: its id is the agent's to choose, and an audit may cut it or mask a part.
func OnceShared(request string, n int) string {
	return request + ":" + string(EventReleased) + ":#" + strconv.Itoa(n)
}

// sharedNow is the number of the call that this record says was released beside the first.
func (t Told) sharedNow() (n int, ok bool) {
	if t.Event != EventReleased {
		return 0, false
	}
	number, ok := strings.CutPrefix(t.Once, t.Request+":"+string(EventReleased)+":#")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// rank orders what can be told of one request. What has the same rank replaces what
// was told before: after a fail-over of the store a request can have another end.
func (t Told) rank() int {
	if t.Event == EventWithdrawn && strings.HasPrefix(t.Once, t.Request+":"+string(EventWithdrawn)+":") {
		return 0 // one of several calls left, and the others wait: see recordEnded
	}
	switch t.Event {
	case EventPosted, EventParked, EventGrantUsed:
		return 1
	case EventApproved, EventGranted:
		return 2
	case EventReleased, EventRepeated, EventDenied, EventExpired, EventWithdrawn, EventRevoked:
		return 3
	case EventAcked:
		return 4
	default:
		return 0 // it is of no request, or changes nothing of one
	}
}

// Tell adds what the audit says next to what it said, by request. Other events, and
// what is of no request, are left out.
func (t Told) Tell(all map[string]Told) {
	if t.Request == "" || t.rank() == 0 {
		return
	}
	was, known := all[t.Request]
	n, one := t.sharedNow()
	t.Shared = was.Shared
	if one && !slices.Contains(t.Shared, n) {
		t.Shared = append(slices.Clone(t.Shared), n)
	}
	// That one more call was released says less than what ended the request, or repeated
	// its yes, and does not hide it.
	if known && (t.rank() < was.rank() || one && t.rank() == was.rank()) {
		was.Shared = t.Shared
		t = was
	}
	all[t.Request] = t
}
