package sqlitestore

import (
	"strconv"
	"testing"
	"time"

	"approver.example"
)

// A wall is a system clock that can be set. Its readings have no monotonic part,
// so the difference of two of them stands for the time that has passed.
type wall struct{ at time.Time }

func (w *wall) now() time.Time { return w.at }

func TestClockNeverGoesBackOrStandsStill(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	w := &wall{at: start}
	c := newClock(w.now, 0)
	read := func() time.Time {
		now, _ := c.read()
		return time.Unix(0, now)
	}
	steps := []struct {
		name string
		set  time.Duration // from the start
		want time.Duration
	}{
		{"at the start", 0, 0},
		{"a second later", time.Second, time.Second},
		{"set back", -time.Hour, time.Second},
		{"a second after that", -time.Hour + time.Second, 2 * time.Second},
		{"still behind", -time.Hour + 3*time.Second, 4 * time.Second},
		{"back again", -2 * time.Hour, 4 * time.Second},
	}
	for _, step := range steps {
		w.at = start.Add(step.set)
		if got := read().Sub(start); got != step.want {
			t.Errorf("%s: got %v, want %v", step.name, got, step.want)
		}
	}
	w.at = start.Add(24 * time.Hour)
	if got := read().Sub(start); got < 24*time.Hour {
		t.Errorf("set forward: got %v, want at least a day", got)
	}
}

// A daemon that crashes again and again begins each time a little ahead. That
// must not add up, or deadlines would show hours that are still to come.
func TestLeadOfCrashesDoesNotAddUp(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	w := &wall{at: start}
	var mark, last int64
	for range 1000 { // one crash in a second, for a quarter of an hour
		c := newClock(w.now, mark)
		for range 10 {
			now, covered := c.read()
			if now <= last {
				t.Fatalf("the clock went from %d to %d", last, now)
			}
			if last = now; covered < 0 {
				mark = now + int64(reserve)
				c.marked(mark)
			}
			w.at = w.at.Add(100 * time.Millisecond)
		}
	}
	if lead := time.Duration(last - w.at.UnixNano()); lead > 5*time.Second {
		t.Errorf("after 1000 crashes the clock is %v ahead", lead)
	}
}

func TestClockBeginsAtItsMark(t *testing.T) {
	w := &wall{at: time.Unix(1000, 0)}
	late := newClock(w.now, time.Unix(2000, 0).UnixNano())
	if now, covered := late.read(); now != time.Unix(2000, 0).UnixNano() || covered < 0 {
		t.Errorf("a wall that is late: got %d, %v", now, covered)
	}
	early := newClock(w.now, time.Unix(500, 0).UnixNano())
	now, covered := early.read()
	if now != time.Unix(1000, 0).UnixNano() || covered >= 0 {
		t.Errorf("a wall that is not: got %d, %v", now, covered)
	}
	early.marked(now)
	if _, covered := early.read(); covered < 0 {
		t.Error("a reading up to the mark is not covered")
	}
	w.at = w.at.Add(time.Nanosecond)
	if _, covered := early.read(); covered >= 0 {
		t.Error("a reading past the mark is covered")
	}
	early.marked(1)
	if early.mark != now {
		t.Error("the mark went back")
	}
}

// The computer's clock is set back while approver is down: the store's goes on
// where it was, and a request that was overdue stays overdue.
func TestNowGoesOnAcrossARestart(t *testing.T) {
	path := newPath(t)
	w := &wall{at: time.Now()}
	open := func() *Store {
		s, err := openWith(path, time.Hour, w.now)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	key := approver.Key("req", "due")
	w.at = w.at.Add(time.Minute)
	if err := s.Put(t.Context(), key, nil, "", approver.NewRev(), w.at, time.Time{}); err != nil {
		t.Fatal(err)
	}
	w.at = w.at.Add(time.Hour)
	before, err := s.Now(t.Context())
	if err != nil || !before.Equal(w.at) {
		t.Fatalf("got %v, %v, want %v", before, err, w.at)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.at = w.at.Add(-30 * 24 * time.Hour)
	s = open()
	defer s.Close()
	after, err := s.Now(t.Context())
	if err != nil || after.Before(before) || after.Sub(before) > time.Second {
		t.Errorf("the clock went from %v to %v, %v", before, after, err)
	}
	if keys, err := s.Due(t.Context(), approver.ShardOf("due"), 1); err != nil || len(keys) != 1 {
		t.Errorf("due: got %q, %v", keys, err)
	}
}

// A reading is on disk before it is given out: even a crash right after cannot
// take it back.
func TestReadingsAreCoveredByTheFile(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	for range 5 {
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mark, err := strconv.ParseInt(column(t, s, `SELECT mark FROM clock`)[0], 10, 64)
		if err != nil || mark < now.UnixNano() {
			t.Errorf("the file's mark %d, %v is before the reading %d", mark, err, now.UnixNano())
		}
		if ahead := time.Duration(mark - now.UnixNano()); ahead > reserve+time.Second {
			t.Errorf("the mark is %v ahead, want about %v", ahead, reserve)
		}
		time.Sleep(time.Millisecond)
	}
	before := commits(t, s)
	for range 1000 {
		if _, err := s.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := commits(t, s) - before; n > 1 {
		t.Errorf("1,000 readings took %d transactions", n)
	}
}
