package ladder

import (
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// A Clock is a time of the day on the wall, in minutes since midnight.
type Clock int

// UnmarshalText reads a time of the day such as 22:00.
func (c *Clock) UnmarshalText(b []byte) error {
	t, err := time.Parse("15:04", string(b))
	if err != nil {
		return fmt.Errorf("%q is no time of the day: write it like \"22:00\", in quotes", b)
	}
	*c = Clock(t.Hour()*60 + t.Minute())
	return nil
}

// String writes the time like 22:00.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// hours are quiet hours with their chats and zone looked up.
type hours struct {
	to       []approver.Destination
	from, by Clock
	zone     *time.Location
	except   []approver.Severity
}

// are reports whether it is quiet at a time.
func (h hours) are(now time.Time) bool {
	now = now.In(h.zone)
	clock := Clock(now.Hour()*60 + now.Minute())
	if h.from < h.by {
		return h.from <= clock && clock < h.by
	}
	return h.from <= clock || clock < h.by // over midnight
}

// until is when quiet hours that are now are over. It looks at each minute, because clocks are put forward and
// back, also within quiet hours.
func (h hours) until(now time.Time) time.Time {
	at := now.Truncate(time.Minute)
	for h.are(at) {
		at = at.Add(time.Minute)
	}
	return at.In(h.zone)
}

// Quiet is until when a chat is to get nothing of a request; zero if it may get something now.
func (p Plan) Quiet(to approver.Destination, q Question) (until time.Time) {
	if q.Awake {
		return time.Time{}
	}
	for _, h := range p.hours {
		if !slices.Contains(h.to, to) || slices.Contains(h.except, q.Severity) || !h.are(q.Now) {
			continue
		}
		if end := h.until(q.Now); end.After(until) {
			until = end
		}
	}
	return until
}
