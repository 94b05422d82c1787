package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"approver.example"
)

// The power is cut at any moment of a busy store: of what was written since the last sync of a
// file, any part is on the disk, and any part is not. Whatever was acknowledged is there when the
// store is opened again, records that were written together are there together, and nothing is
// there that nobody wrote. APPROVER_KILLS sets how often; by default it is quick.
func TestPowerCutLosesNothing(t *testing.T) {
	cuts := 60
	if n, err := strconv.Atoi(os.Getenv("APPROVER_KILLS")); err == nil {
		cuts = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newRecorder()
	path := newPath(t)
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &history{of: r, versions: map[string][]version{}}
	for range 3 {
		h.work(t, path, random.Uint64())
	}
	points := make([]int, cuts)
	for i := range points {
		points[i] = random.IntN(len(r.events) + 1)
	}
	slices.Sort(points)
	files, done := platters{"": {synced: base, named: true}}, 0
	for _, point := range points {
		for ; done < point; done++ {
			files.apply(r.events[done])
		}
		h.check(t, files.cut(t, random), point)
		if t.Failed() {
			t.Fatalf("the power was cut at event %d of %d", point, len(r.events))
		}
	}
	syncs, checkpoints, begun := 0, 0, 0
	for _, e := range r.events {
		switch {
		case e.do == doSync && e.file == "-wal":
			syncs++
		case e.do == doSync:
			checkpoints++
		case e.do == doWrite && e.file == "-wal" && e.at == 0:
			begun++
		}
	}
	t.Logf("%d cuts in %d writes and syncs: %d syncs of the log, %d of the file, %d logs; %d versions of %d records", cuts,
		len(r.events), syncs, checkpoints, begun, h.count, len(h.versions))
	if checkpoints < 5 || begun < 4 {
		t.Error("the work shows nothing")
	}
}

// A history is what was written to a store, by when it was sent and acknowledged.
type history struct {
	of       *recorder
	mu       sync.Mutex
	versions map[string][]version
	readings []version
	count    int
}

// A version is what a record had for a while.
type version struct {
	value       []byte
	rev         approver.Rev
	with        string // the record that is written with it, with the same value
	brief       bool   // it is forgotten soon
	sent, acked int    // events; acked is 0 if it never was
	clock       int64
}

// work writes from several goroutines, and closes the store.
func (h *history) work(t *testing.T, path string, seed uint64) {
	t.Helper()
	o := usual()
	o.below, o.logPages, o.gcEvery = h.of, 60, 5*time.Millisecond
	s, err := open(Config{Path: path}, quiet(), o)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for range 40 {
				if err := h.step(s, w, random); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// step writes one record, or two together, or reads the clock.
func (h *history) step(s *Store, w int, random *rand.Rand) error {
	if random.IntN(10) == 0 {
		now, err := s.Now(context.Background())
		h.mu.Lock()
		defer h.mu.Unlock()
		h.readings = append(h.readings, version{clock: now.UnixNano(), acked: h.of.now()})
		return err
	}
	// One writer, one shard: nobody else writes its records.
	key := approver.Key(fmt.Sprint("w", w, "r", random.IntN(8)), "x")
	v := version{value: make([]byte, random.IntN(12000)), rev: approver.NewRev(), brief: random.IntN(5) == 0}
	for i := range v.value {
		v.value[i] = byte(random.IntN(256))
	}
	due := time.Now().Add(time.Duration(random.IntN(3)) * time.Hour)
	write := approver.Write{Key: key, Value: v.value, Next: v.rev, Due: due, KeepUntil: due.Add(time.Hour)}
	if v.brief {
		write.Due, write.KeepUntil = time.Time{}, time.Now().Add(-time.Second)
	} else if random.IntN(3) == 0 {
		v.with = approver.Key(fmt.Sprint("w", w, "with"), "x")
	}
	v.sent = h.of.now()
	h.mu.Lock()
	write.Prev = h.last(key)
	if v.with != "" {
		write.With = []approver.Write{{Key: v.with, Value: v.value, Prev: h.last(v.with), Next: v.rev,
			KeepUntil: write.KeepUntil}}
		h.versions[v.with] = append(h.versions[v.with], v)
	}
	h.versions[key] = append(h.versions[key], v)
	h.count++
	h.mu.Unlock()
	if err := errors.Join(s.PutAll(context.Background(), []approver.Write{write})...); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range []string{key, v.with} {
		if n := len(h.versions[k]); n > 0 {
			h.versions[k][n-1].acked = h.of.now()
		}
	}
	return nil
}

// last is the revision of a record; the caller has the lock.
func (h *history) last(key string) approver.Rev {
	if n := len(h.versions[key]); n > 0 && !h.versions[key][n-1].brief {
		return h.versions[key][n-1].rev
	}
	return ""
}

// check opens what a power cut left.
func (h *history) check(t *testing.T, path string, point int) {
	t.Helper()
	if err := CheckFile(path); err != nil {
		t.Errorf("CheckFile: %v", err)
	}
	o := usual()
	o.below, o.gcEvery = newRecorder(), time.Hour
	s, err := open(Config{Path: path}, quiet(), o)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if lost := unreadables(t, s); len(lost) > 0 {
		t.Errorf("%d records cannot be read", len(lost))
	}
	clock, err := s.Now(t.Context())
	for _, r := range h.readings {
		if err != nil || r.acked <= point && r.clock > clock.UnixNano() {
			t.Errorf("the clock went back to %v, %v", clock, err)
		}
	}
	is := map[string]int{} // the version that is there
	for key, versions := range h.versions {
		value, rev, err := s.Get(t.Context(), key)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			t.Errorf("%s: %v", key, err)
		}
		acked := -1
		for i, v := range versions {
			if v.acked != 0 && v.acked <= point {
				acked = i
			}
		}
		is[key] = -1
		if err == nil {
			is[key] = slices.IndexFunc(versions, func(v version) bool { return v.rev == rev })
		}
		switch i := is[key]; {
		case err == nil && (i < 0 || versions[i].sent >= point || !bytes.Equal(versions[i].value, value)):
			t.Errorf("%s has what nobody wrote: version %d", key, i)
		case i < acked && (i >= 0 || !slices.ContainsFunc(versions[acked:], func(v version) bool {
			return v.brief && v.sent < point
		})):
			t.Errorf("%s has version %d, and %d was acknowledged", key, i, acked)
		}
	}
	h.checkTogether(t, is)
}

// checkTogether makes sure that no record is there without the one that it was written with, or
// a later version of that.
func (h *history) checkTogether(t *testing.T, is map[string]int) {
	t.Helper()
	for key, versions := range h.versions {
		i := is[key]
		if i < 0 || versions[i].with == "" {
			continue
		}
		for other, of := range h.versions {
			at := slices.IndexFunc(of, func(v version) bool { return v.rev == versions[i].rev })
			// A brief one may be gone.
			if other != key && at > is[other] && !slices.ContainsFunc(of[at:], func(v version) bool { return v.brief }) {
				t.Errorf("%s has version %d, and %s, which was written with it, version %d of %d", key, i, other, is[other], at)
			}
		}
	}
}
