package ladder

import (
	"fmt"
	"time"

	"approver.example"
)

// A Start is the day and the time of the day, on the wall, of the first hand-over.
type Start struct {
	day   time.Time // its midnight, in UTC
	clock Clock
}

// startFormat is how a Start is written.
const startFormat = "2006-01-02 15:04"

// UnmarshalText reads a day and a time such as 2026-11-30 09:00.
func (s *Start) UnmarshalText(b []byte) error {
	t, err := time.Parse(startFormat, string(b))
	if err != nil {
		return fmt.Errorf("%q is no day with a time: write it like \"2026-11-30 09:00\"", b)
	}
	*s = Start{day: day(t), clock: Clock(t.Hour()*60 + t.Minute())}
	return nil
}

// IsZero reports that no start was given.
func (s Start) IsZero() bool { return s.day.IsZero() }

// day is the date on the wall, as a midnight in UTC, so that days can be counted.
func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// A duty is a schedule with its chats and zone looked up.
type duty struct {
	start Start
	days  int
	zone  *time.Location
	turns [][]approver.Destination
}

// turn is whose turn it is at a time: an index of turns. Before the start it is the first one's. Hand-overs
// are at the same time on the wall each time, also when clocks are changed in between.
func (d duty) turn(now time.Time) int {
	now = now.In(d.zone)
	days := int(day(now).Sub(d.start.day) / (24 * time.Hour))
	if Clock(now.Hour()*60+now.Minute()) < d.start.clock {
		days--
	}
	if days < 0 {
		return 0
	}
	return days / d.days % len(d.turns)
}

// at are the chats of whoever is on duty.
func (d duty) at(now time.Time) []approver.Destination { return d.turns[d.turn(now)] }
