package approver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file compares what the audit says of requests with what a store says of them.

// A Told is what the audit says of a request: that it came so far.
type Told struct {
	Request string
	Event   Event
	At      time.Time
	Once    string // of the record
	// shared are the numbers of the calls beside the first that were released. Nothing
	// that is told later hides them.
	shared []int
}

// onceShared names the record of the release of a call beside the first. It has the call's
// number: its id is the agent's to choose, and an audit may cut it or mask a part.
func onceShared(request string, n int) string {
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
	t.shared = was.shared
	if one && !slices.Contains(t.shared, n) {
		t.shared = append(slices.Clone(t.shared), n)
	}
	// That one more call was released says less than what ended the request, or repeated
	// its yes, and does not hide it.
	if known && (t.rank() < was.rank() || one && t.rank() == was.rank()) {
		was.shared = t.shared
		t = was
	}
	all[t.Request] = t
}

// A heard is what a store says of how far a request came. It is not sealed.
type heard struct {
	State   State     `json:"state"`
	Acked   time.Time `json:"acked"`
	Repeats int       `json:"repeats"`
	N       int       `json:"n"` // of the first call
	Also    []Caller  `json:"also"`
}

// gave reports that the call with a number took its yes. By a request without a yes nobody
// gets one.
func (h heard) gave(n int) bool {
	if h.State != Consumed || h.N == n {
		return h.State.Settled()
	}
	return slices.ContainsFunc(h.Also, func(c Caller) bool { return c.N == n && !c.Taken.IsZero() })
}

// holds reports whether a store that says so has heard of it.
func (t Told) holds(r heard) bool {
	if slices.ContainsFunc(t.shared, func(n int) bool { return !r.gave(n) }) {
		return false
	}
	switch t.Event {
	case EventPosted, EventParked, EventGrantUsed:
		return true
	case EventApproved, EventGranted:
		return r.State != Pending
	case EventReleased:
		return r.State == Consumed
	case EventRepeated:
		return r.State == Consumed && r.Repeats >= t.repeats()
	case EventAcked:
		return r.State == Consumed && !r.Acked.IsZero()
	default:
		return r.State.Settled()
	}
}

// repeats is how often the yes had been repeated then; see releases.runs.
func (t Told) repeats() int {
	times, err := strconv.Atoi(t.Once[strings.LastIndexByte(t.Once, ':')+1:])
	if err != nil {
		return 0 // no such record
	}
	return times
}

// Unheard returns what the store has not heard of: it has no record of the request,
// or one of before. The oldest come first.
func Unheard(ctx context.Context, store KV, told map[string]Told) (missing []Told, err error) {
	for _, t := range slices.SortedFunc(maps.Values(told), func(a, b Told) int { return a.At.Compare(b.At) }) {
		value, _, err := store.Get(ctx, Key("req", t.Request))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		var r heard
		if err != nil || json.Unmarshal(value, &r) != nil || !t.holds(r) {
			missing = append(missing, t)
		}
	}
	return missing, nil
}
