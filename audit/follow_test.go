package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"approver.example"
)

func follow(t *testing.T, l *Log, note string) approver.Written {
	t.Helper()
	written, err := l.Follow(approver.Record{Event: approver.EventAsked, Note: note})
	must(t, err)
	return written
}

// Lines that nobody waits for are durable soon, in order, and share a sync.
func TestFollowedLinesShareASync(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	defer closeLog(t, l)
	record(t, l, approver.Record{Event: approver.EventVerdict, Note: "first"})
	before := l.Work().Syncs
	var all []approver.Written
	for i := range 20 {
		all = append(all, follow(t, l, fmt.Sprint(i)))
	}
	for _, written := range all {
		must(t, written(t.Context(), false))
	}
	if n := l.Work().Syncs - before; n > 5 {
		t.Errorf("20 lines took %d syncs", n)
	}
	for i, r := range records(t, o.Dir)[1:] {
		if r.Note != fmt.Sprint(i) {
			t.Errorf("line %d is %q", i, r.Note)
		}
	}
}

// Whoever waits for a later line waits for no other: what follows goes with it.
func TestARecordTakesWhatFollowsWithIt(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	defer closeLog(t, l)
	written := follow(t, l, "follows")
	record(t, l, approver.Record{Event: approver.EventVerdict, Note: "waited for"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := written(ended, false); err != nil {
		t.Errorf("the line before is not durable: %v", err)
	}
}

// The disk hangs: what follows the store piles up for a second, and then nothing may be
// released until it is written.
func TestNothingIsReadyWhileTheLogIsBehind(t *testing.T) {
	o, _ := options(t)
	var mu sync.Mutex
	o.sync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		return f.Sync()
	}
	l := open(t, o)
	defer closeLog(t, l)
	must(t, l.Ready())
	mu.Lock()
	written := follow(t, l, "before")
	must(t, l.Ready())
	time.Sleep(MaxBehind + 2*followWithin)
	if err := l.Ready(); !errors.Is(err, ErrBehind) {
		t.Errorf("it is ready: %v", err)
	}
	if _, err := l.Follow(approver.Record{Event: approver.EventReleased}); !errors.Is(err, ErrBehind) {
		t.Errorf("it takes a release: %v", err)
	}
	mu.Unlock()
	must(t, written(t.Context(), false))
	must(t, l.Ready())
}

// A line that was taken and is lost with the disk says so to whoever asks: it is made again.
func TestALostLineIsKnown(t *testing.T) {
	o, _ := options(t)
	full := errors.New("no space left")
	var mu sync.Mutex
	var fails bool
	o.sync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		if fails {
			return full
		}
		return f.Sync()
	}
	l := open(t, o)
	defer closeLog(t, l)
	mu.Lock()
	fails = true
	mu.Unlock()
	written := follow(t, l, "lost")
	if err := written(t.Context(), false); !errors.Is(err, full) {
		t.Errorf("it is said to be written: %v", err)
	}
	if err := l.Ready(); !errors.Is(err, ErrFailed) {
		t.Errorf("it is ready: %v", err)
	}
	mu.Lock()
	fails = false
	mu.Unlock()
	for end := time.Now().Add(time.Minute); l.Ready() != nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	must(t, follow(t, l, "again")(t.Context(), true))
	notes := []string{}
	for _, r := range records(t, o.Dir) {
		if r.Event == approver.EventAsked {
			notes = append(notes, r.Note)
		}
	}
	if !slices.Equal(notes, []string{"again"}) {
		t.Errorf("the log has %q", notes)
	}
}

// Somebody changes the file while nothing is written: the next look before a release finds it,
// and not the guard that comes later.
func TestReadyLooksAtTheFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed":   os.Remove,
		"moved":     func(path string) error { return os.Rename(path, path+".1") },
		"truncated": func(path string) error { return os.Truncate(path, 10) },
		"replaced": func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600))
		},
		"edited": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("X"), 40)
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			o.Changed = func(context.Context, string) error { return errors.New("not yet") } // so that it does not heal
			l := open(t, o)
			defer func() { _ = l.Close(t.Context()) }()
			record(t, l, approver.Record{Event: approver.EventVerdict, Note: "first"})
			time.Sleep(20 * time.Millisecond) // the clock of the file system is coarse
			must(t, l.Ready())
			must(t, change(filepath.Join(o.Dir, activeName)))
			if err := l.Ready(); !errors.Is(err, ErrChanged) {
				t.Errorf("it is ready: %v", err)
			}
		})
	}
}

// Whoever is in a hurry does not wait for more lines to come.
func TestAHurryDoesNotLinger(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	defer closeLog(t, l)
	took := time.Hour
	for range 10 {
		began := time.Now()
		must(t, follow(t, l, "x")(t.Context(), true))
		took = min(took, time.Since(began))
	}
	if took >= followWithin/2 {
		t.Errorf("it took %v", took)
	}
}
