// Package timing measures how long judging takes, by the clock: a histogram for each part
// of the path, and a count of the calls that took more than the part's budget. It decides
// nothing: the work for one call is bounded in steps and bytes.
package timing

import (
	"sync/atomic"
	"time"
)

// A Part is one step of the way from a call to what needs people.
type Part uint8

// The parts.
const (
	Reflex    Part = iota // what the call itself says, with all that is looked up for it
	Intuition             // of that, what calls before it say: loops, memory
	Coherence             // whether all that was said fits together: the combination
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

// Computing is a stage that computes, and waits for no store, model or person: it takes
// turns with others, and is measured.
type Computing interface{ Part() Part }

// Limits is a budget for each part. Zero is none.
type Limits [count]time.Duration

// DefaultLimits are the budgets where nothing is configured.
func DefaultLimits() Limits {
	return Limits{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}
}

// buckets are the upper bounds of a histogram; what took longer is in one more.
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
	logged atomic.Int64 // when something was last said of it, in Unix nanoseconds
}

// Took counts what a part took for one call, and reports whether that is more than its
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

// logEvery is how often it is said that calls took too long.
const logEvery = time.Minute

// MayLog reports whether it is time to say again that calls took too long.
func (t *Times) MayLog(now time.Time) bool {
	last := t.logged.Load()
	return now.UnixNano()-last >= int64(logEvery) && t.logged.CompareAndSwap(last, now.UnixNano())
}

// Over counts the calls that took more than each budget since the start, by the names of
// the parts.
func (t *Times) Over() map[string]uint64 {
	out := map[string]uint64{}
	if t != nil {
		for p := range count {
			out[p.String()] = t.over[p].Load()
		}
	}
	return out
}

// Histograms count the calls since the start, by the names of the parts and by the most that
// they took: "100us" to "10s", and "more". Buckets without a call are left out.
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
