package timing

import (
	"maps"
	"testing"
	"time"
)

// What took longer than a budget is counted, and said at most once a minute.
func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	times := Times{Limits: DefaultLimits()}
	times.Limits[Coherence] = 0
	for _, c := range []struct {
		part Part
		took time.Duration
		over bool
	}{
		{Reflex, 0, false}, {Reflex, 100 * time.Microsecond, false}, {Reflex, 10 * ms, false}, {Reflex, 10*ms + 1, true},
		{Reflex, time.Hour, true}, {Intuition, 20 * ms, false}, {Coherence, time.Hour, false}, {count, time.Hour, false},
	} {
		if over := times.Took(c.part, c.took); over != c.over {
			t.Errorf("%v of %v: %v", c.part, c.took, over)
		}
	}
	over := map[string]uint64{"reflex": 2, "intuition": 0, "coherence": 0, "arbiter": 0}
	if got := times.Over(); !maps.Equal(got, over) {
		t.Errorf("over: %v", got)
	}
	reflex := map[string]uint64{"100us": 2, "10ms": 1, "100ms": 1, "more": 1}
	all := times.Histograms()
	if !maps.Equal(all["reflex"], reflex) || all["intuition"]["100ms"] != 1 || all["coherence"]["more"] != 1 ||
		len(all) != 3 {
		t.Errorf("took: %v", all)
	}
	now := time.Now()
	if !times.MayLog(now) || times.MayLog(now.Add(59*time.Second)) || !times.MayLog(now.Add(time.Minute)) {
		t.Error("it is said more or less often than once a minute")
	}
	var none *Times
	if none.Took(Reflex, time.Hour) || len(none.Over()) != 0 || len(none.Histograms()) != 0 {
		t.Error("nothing was to be measured")
	}
}
