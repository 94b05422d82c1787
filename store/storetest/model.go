package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"approver.example"
)

var modelTests = []test{
	{"any order of calls does what a map would do", modelAgrees},
}

// A model is what a store must behave like: a map.
type model struct {
	records map[string]modelRecord
	shard   int
}

type modelRecord struct {
	value string
	rev   approver.Rev
	due   time.Time
}

// put returns the error that the store must return.
func (m *model) put(key, value string, prev, next approver.Rev, due time.Time) error {
	old := m.records[key]
	switch {
	case old.rev == next && old.value == value:
		return nil
	case old.rev == next, old.rev != prev:
		return approver.ErrConflict
	}
	m.records[key] = modelRecord{value, next, due}
	return nil
}

// due returns the keys that are due in the order of a store.
func (m *model) due(now time.Time, limit int) []string {
	var keys []string
	for key, r := range m.records {
		if !r.due.IsZero() && !r.due.After(now) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return m.records[a].due.Compare(m.records[b].due) })
	return keys[:min(limit, len(keys))]
}

// A step is one write of a random history.
type step struct {
	key, value string
	prev, next approver.Rev
	due        time.Time
}

func modelAgrees(t *testing.T, f *fixture) {
	const steps = 400
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	s := f.open()
	m := &model{records: make(map[string]modelRecord), shard: 21}
	var keys []string
	for range 6 {
		keys = append(keys, newKeyIn(m.shard))
	}
	start := time.Now()
	var history []step
	for n := range steps {
		st := m.step(r, n, keys, history, start)
		history = append(history, st)
		want := m.put(st.key, st.value, st.prev, st.next, st.due)
		got := s.Put(t.Context(), st.key, []byte(st.value), st.prev, st.next, st.due, later())
		if !errors.Is(got, want) {
			t.Fatalf("step %d, %+v: got %v, want %v", n, st, got, want)
		}
		if r.IntN(100) == 0 {
			s = f.other(s)
		}
		key := keys[r.IntN(len(keys))]
		if record, ok := m.records[key]; ok {
			wantRecord(t, s, key, record.value, record.rev)
		} else {
			wantGone(t, s, key)
		}
		limit := 1 + r.IntN(len(keys))
		wantDue(t, s, m.shard, limit, m.due(start, limit)...)
	}
}

// step invents a write: mostly a good one, else one with a wrong revision, or
// one that was sent before.
func (m *model) step(r *rand.Rand, n int, keys []string, history []step, start time.Time) step {
	if len(history) > 0 && r.IntN(5) == 0 {
		return history[max(0, len(history)-1-r.IntN(4))]
	}
	st := step{key: keys[r.IntN(len(keys))], value: fmt.Sprintf("value %d", n), next: approver.NewRev()}
	st.prev = m.records[st.key].rev
	switch r.IntN(6) {
	case 0:
		st.prev = approver.NewRev()
	case 1:
		st.prev = ""
	}
	switch r.IntN(3) {
	case 0:
		// A time of its own for each step, so that the order is certain.
		st.due = start.Add(-time.Hour + time.Duration(r.IntN(1000)*1000+n)*time.Millisecond)
	case 1:
		st.due = start.Add(time.Hour)
	}
	return st
}
