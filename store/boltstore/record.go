package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"approver.example"
	"go.etcd.io/bbolt"
)

// A record in the file is a format byte, the revision, when it is due, until when it is kept,
// and the value.
const (
	format  = 1
	revLen  = 36
	headLen = 1 + revLen + 8 + 8
)

// never is the time of what never happens; it sorts last.
const never = math.MaxInt64

type record struct {
	rev   approver.Rev
	due   int64 // Unix nanoseconds, or never
	keep  int64 // the same
	value []byte
}

// nanos returns t in Unix nanoseconds; the zero time is never.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

// encode returns the record's bytes. The revision must have revLen bytes.
func (r record) encode() []byte {
	b := make([]byte, 0, headLen+len(r.value))
	b = append(b, format)
	b = append(b, r.rev...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.due))
	b = binary.BigEndian.AppendUint64(b, uint64(r.keep))
	return append(b, r.value...)
}

// decode reads a record. Its value shares b.
func decode(b []byte) (record, error) {
	if len(b) < headLen || b[0] != format {
		return record{}, fmt.Errorf("%w: it is not a record of format %d", approver.ErrTampered, format)
	}
	r := record{
		rev:   approver.Rev(b[1 : 1+revLen]),
		due:   int64(binary.BigEndian.Uint64(b[1+revLen:])),
		keep:  int64(binary.BigEndian.Uint64(b[1+revLen+8:])),
		value: b[headLen:],
	}
	if r.due < 0 || r.keep < 0 {
		return record{}, fmt.Errorf("%w: it has a time before 1970", approver.ErrTampered)
	}
	return r, nil
}

// dueEntry is the record's key in the due bucket: shard, time, key. Its value
// is the time until which the record is kept.
func dueEntry(shard int, due int64, key string) []byte {
	b := make([]byte, 0, 1+8+len(key))
	b = append(b, byte(shard))
	b = binary.BigEndian.AppendUint64(b, uint64(due))
	return append(b, key...)
}

// keepEntry is the record's key in the keep bucket: time, key.
func keepEntry(keep int64, key string) []byte {
	b := make([]byte, 0, 8+len(key))
	b = binary.BigEndian.AppendUint64(b, uint64(keep))
	return append(b, key...)
}

// forget frees the space of expired records, in one small step, and reports whether there may
// be more.
func (s *Store) forget() bool {
	n := 0
	err := s.transact(0, func(tx *bbolt.Tx) (bool, error) {
		now, _ := s.clock.read()
		var err error
		n, err = collect(tx, now, gcWhenIdle)
		return n > 0, err
	})
	if err != nil {
		s.log.Warn("could not forget old records", "error", err)
		return false
	}
	return n == gcWhenIdle
}

// collect removes up to limit expired records, oldest first.
func collect(tx *bbolt.Tx, now int64, limit int) (int, error) {
	var over []string
	c := tx.Bucket(keeps).Cursor()
	for k, _ := c.First(); len(k) > 8 && len(over) < limit; k, _ = c.Next() {
		if int64(binary.BigEndian.Uint64(k)) > now {
			break
		}
		over = append(over, string(k))
	}
	for _, entry := range over {
		key := entry[8:]
		if err := tx.Bucket(keeps).Delete([]byte(entry)); err != nil {
			return 0, err
		}
		shard, err := approver.ShardOfKey(key)
		if err != nil {
			return 0, err
		}
		r, err := decode(tx.Bucket(records).Get([]byte(key)))
		if err != nil {
			continue // damaged: it stays, so that Get can report it
		}
		err = errors.Join(unlistDue(tx, shard, key, r), unlistKeep(tx, key, r), tx.Bucket(records).Delete([]byte(key)))
		if err != nil {
			return 0, err
		}
	}
	return len(over), nil
}

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

// read returns the time, and whether the mark covers it. A reading that is not
// covered must not be given out before a later mark is on disk.
func (c *clock) read() (now int64, covered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.wall()
	passed := max(0, t.Sub(c.at))
	if lead := time.Duration(c.last) + passed - time.Duration(t.UnixNano()); lead > 0 && lead <= catchUp {
		passed = max(passed/slow, min(passed, 1))
	}
	now = max(t.UnixNano(), c.last+int64(passed))
	c.at, c.last = t, now
	return now, now <= c.mark
}

// marked tells the clock which mark is now on disk.
func (c *clock) marked(mark int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = max(c.mark, mark)
}
