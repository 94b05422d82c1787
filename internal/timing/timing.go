// Package timing measures how long it takes to judge calls, in wall-clock time. It has a histogram
// for each part of the path, and counts the calls that exceeded the budget of a part. It limits
// nothing: the work for one call is limited elsewhere, in steps and bytes.
package timing

import (
	"sync/atomic"
	"time"
)

// A Part is one part of the path on which a call is judged, before people are asked.
type Part uint8

// The parts.
const (
	Reflex    Part = iota // judging the call itself, with all lookups
	Intuition             // the part of Reflex that judges earlier calls: loops, memory
	Coherence             // combining the verdicts
	Arbiter               // the whole deterministic path, before people or a model
	count
)

var names = [count]string{"reflex", "intuition", "coherence", "arbiter"}

// String returns the word; an unknown value is "arbiter".
func (p Part) String() string {
	if p < count {
		return names[p]
	}
	return names[Arbiter]
}

// Computing is a stage that only computes, and does not wait for a store, a model or a person. Such
// stages take turns and are measured.
type Computing interface{ Part() Part }

// Limits has a budget for each part. Zero means no budget.
type Limits [count]time.Duration

// DefaultLimits returns the budgets that are used if none are configured.
func DefaultLimits() Limits {
	return Limits{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}
}

// buckets are the upper bounds of a histogram, which has one more bucket for longer times.
var buckets = [...]struct {
	most time.Duration
	name string
}{
	{100 * time.Microsecond, "100us"}, {time.Millisecond, "1ms"}, {10 * time.Millisecond, "10ms"},
	{100 * time.Millisecond, "100ms"}, {time.Second, "1s"}, {10 * time.Second, "10s"},
}

// Times counts how long the parts took. The zero value is ready; it must not be copied. A
// nil Times measures nothing.
type Times struct {
	Limits Limits // must not be changed while it is in use

	taken  [count][len(buckets) + 1]atomic.Uint64
	over   [count]atomic.Uint64
	logged atomic.Int64 // when a warning was last logged, in Unix nanoseconds
}

// Took counts the time that a part took for one call, and reports whether it exceeds the part's
// budget.
func (t *Times) Took(p Part, took time.Duration) bool {
	if t == nil || p >= count {
		return false
	}
	i := 0
	for i < len(buckets) && took > buckets[i].most {
		i++
	}
	t.taken[p][i].Add(1)
	if t.Limits[p] <= 0 || took <= t.Limits[p] {
		return false
	}
	t.over[p].Add(1)
	return true
}

// logEvery is the shortest time between two warnings that calls took too long.
const logEvery = time.Minute

// MayLog reports whether to log now that calls took too long: at most once a minute. It returns true
// to only one of several concurrent callers.
func (t *Times) MayLog(now time.Time) bool {
	last := t.logged.Load()
	return now.UnixNano()-last >= int64(logEvery) && t.logged.CompareAndSwap(last, now.UnixNano())
}

// Over returns how many calls exceeded each budget since the start, by the names of the parts.
func (t *Times) Over() map[string]uint64 {
	out := map[string]uint64{}
	if t != nil {
		for p := range count {
			out[p.String()] = t.over[p].Load()
		}
	}
	return out
}

// Histograms returns the number of calls since the start, by the name of the part and the upper
// bound of the bucket: "100us" to "10s", and "more". Empty buckets are left out.
func (t *Times) Histograms() map[string]map[string]uint64 {
	out := map[string]map[string]uint64{}
	if t == nil {
		return out
	}
	for p := range count {
		of := map[string]uint64{}
		for i := range t.taken[p] {
			name := "more"
			if i < len(buckets) {
				name = buckets[i].name
			}
			if n := t.taken[p][i].Load(); n > 0 {
				of[name] = n
			}
		}
		if len(of) > 0 {
			out[p.String()] = of
		}
	}
	return out
}
