package quota

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"approver.example"
)

// recordVersion is the version of the records' format.
const recordVersion = 1

// keepBuckets is how long a record is kept after its buckets are full. A missing record
// means full buckets, so it must not expire before.
const keepBuckets = 10 * time.Minute

// A bucket is a token bucket, stored as the time at which it will be full again, in Unix
// nanoseconds. Zero is a full one.
type bucket int64

// clocksDiffer is more than the store's clocks of two replicas differ by.
const clocksDiffer = 100 * time.Millisecond

// fill returns the bucket as it is now. It is at most empty: a clock that was ahead, or a
// changed rate, must not keep it empty for longer. But a replica whose clock is a little behind
// that of the last writer must not make it fuller.
func (b bucket) fill(r Rate, now time.Time) bucket {
	at := bucket(now.UnixNano())
	empty := at + bucket(r.Burst)*bucket(r.interval())
	if b > empty+bucket(clocksDiffer) {
		return empty
	}
	return max(b, at)
}

// next is when there is a token; not after now if there is one. b comes from fill.
func (b bucket) next(r Rate) time.Time {
	return time.Unix(0, int64(b)-int64(r.Burst-1)*int64(r.interval()))
}

// buckets are the buckets of one uid, or the overall one.
type buckets struct {
	Version int               `json:"v"`
	All     bucket            `json:"all"`
	Names   map[string]bucket `json:"names,omitempty"` // by nameOf; those that are not full
}

func checkBuckets(s *buckets, _ string) error {
	switch {
	case s.Version != recordVersion:
		return fmt.Errorf("its version is %d, not %d", s.Version, recordVersion)
	case s.All <= 0:
		return fmt.Errorf("its bucket is full at %d", s.All)
	case len(s.Names) > MaxNames:
		return fmt.Errorf("it has %d names, more than %d", len(s.Names), MaxNames)
	}
	for name, b := range s.Names {
		if len(name) != 16 || b <= 0 {
			return fmt.Errorf("the name %.20q is full at %d", name, b)
		}
	}
	return nil
}

// nameOf is the short hash under which a claimed name is stored. Names with the same hash
// share a bucket, which only tightens.
func nameOf(agent string) string {
	sum := sha256.Sum256([]byte(agent))
	return hex.EncodeToString(sum[:8])
}

func overallKey() string { return approver.Key("quota", "rate/all") }

func userKey(uid uint32) string {
	return approver.Key("quota", "rate/uid/"+strconv.FormatUint(uint64(uid), 10))
}

func overallSchema() schema[buckets] { return bucketSchema(overallKey()) }

// bucketSchema is the schema of a record of buckets.
func bucketSchema(key string) schema[buckets] {
	return schema[buckets]{
		name:  key,
		key:   func(time.Time) string { return key },
		check: checkBuckets,
		times: func(s *buckets, now time.Time) times {
			last := max(s.All, bucket(now.UnixNano()))
			for _, b := range s.Names {
				last = max(last, b)
			}
			return times{keep: time.Unix(0, int64(last)).Add(keepBuckets)}
		},
	}
}

// lookOverall refuses if the overall bucket is empty, and takes nothing.
func (q *Quota) lookOverall(s *buckets, now time.Time) (bool, error) {
	was := s.All
	s.Version, s.All = recordVersion, was.fill(q.c.Overall, now)
	if next := s.All.next(q.c.Overall); next.After(now) {
		return s.All < was, rateRefusal(q.c.Overall, next, "all agents together")
	}
	return false, nil
}

// takeOverall takes a token from the overall bucket.
func (q *Quota) takeOverall(s *buckets, now time.Time) (bool, error) {
	if changed, err := q.lookOverall(s, now); err != nil {
		return changed, err
	}
	s.All += bucket(q.c.Overall.interval())
	return true, nil
}

// takeUser takes a token from a uid's bucket and one from its name's, or none.
func (q *Quota) takeUser(s *buckets, now time.Time, name string) (changed bool, err error) {
	was := s.All
	s.Version, s.All = recordVersion, was.fill(q.c.User, now)
	changed = s.All < was
	for n, b := range s.Names {
		filled := b.fill(q.c.Agent, now)
		changed = changed || filled < b
		if s.Names[n] = filled; b <= bucket(now.UnixNano()) {
			delete(s.Names, n) // a full one is like none
		}
	}
	if next := s.All.next(q.c.User); next.After(now) {
		return changed, rateRefusal(q.c.User, next, "this user's agents together")
	}
	mine, known := s.Names[name]
	mine = mine.fill(q.c.Agent, now)
	if next := mine.next(q.c.Agent); next.After(now) {
		return changed, rateRefusal(q.c.Agent, next, "this agent")
	}
	if !known && len(s.Names) >= q.c.Names {
		first := bucket(1<<63 - 1)
		for _, b := range s.Names {
			first = min(first, b)
		}
		return changed, namesRefusal(len(s.Names), time.Unix(0, int64(first)))
	}
	if s.Names == nil {
		s.Names = make(map[string]bucket)
	}
	s.All += bucket(q.c.User.interval())
	s.Names[name] = mine + bucket(q.c.Agent.interval())
	return true, nil
}

func rateRefusal(r Rate, again time.Time, who string) *RefusedError {
	return &RefusedError{
		Kind: ErrRate, Again: again,
		Text: fmt.Sprintf("the rate limit of %s (%v) is reached: run the call again after %s", who, r, clockText(again)),
	}
}

func namesRefusal(names int, again time.Time) *RefusedError {
	return &RefusedError{
		Kind: ErrRate, Again: again,
		Text: fmt.Sprintf("this user's agents go by %d names already, as many as may at a time: use one of these names, "+
			"or run the call again after %s", names, clockText(again)),
	}
}
