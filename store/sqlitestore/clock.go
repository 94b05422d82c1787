package sqlitestore

import (
	"sync"
	"time"
)

// reserve is how far the persisted mark lies ahead of the readings. After a crash the clock
// starts at the mark, so it may jump ahead by this much. In return, readings cost only one
// commit in this time.
const reserve = 500 * time.Millisecond

// A clock that is ahead by at most catchUp runs at 1/slow of its pace until the system's clock
// has caught up, so that its jumps after crashes do not add up. A greater lead means that the
// system's clock was set back; then it keeps its pace, because deadlines must come.
const (
	catchUp = time.Minute
	slow    = 10
)

// A clock never goes back and never stands still. It is the system's clock until that is set
// back. From then on it runs at the pace of the monotonic clock, until the system's clock has
// caught up. Readings are Unix nanoseconds.
type clock struct {
	wall func() time.Time // time.Now, whose readings carry a monotonic part

	mu   sync.Mutex
	at   time.Time // the last reading of wall
	last int64     // our reading at that moment
	mark int64     // on disk: a restarted clock begins here or later
}

// newClock returns a clock that begins at the mark or later.
func newClock(wall func() time.Time, mark int64) *clock {
	at := wall()
	return &clock{wall: wall, at: at, last: max(at.UnixNano(), mark), mark: mark}
}

// read returns the time, and how far the mark covers the readings that follow. A reading that
// is not covered (less than 0) must not be given out before a later mark is on disk.
func (c *clock) read() (now int64, covered time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.wall()
	passed := max(0, t.Sub(c.at))
	if lead := time.Duration(c.last) + passed - time.Duration(t.UnixNano()); lead > 0 && lead <= catchUp {
		passed = max(passed/slow, min(passed, 1))
	}
	now = max(t.UnixNano(), c.last+int64(passed))
	c.at, c.last = t, now
	return now, time.Duration(c.mark - now)
}

// marked tells the clock which mark is now on disk.
func (c *clock) marked(mark int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = max(c.mark, mark)
}
