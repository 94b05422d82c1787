package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

func passing(note string) approver.Record {
	return approver.Record{Event: approver.EventVerdict, Note: note, Verdict: approver.Verdict{Decision: approver.Pass}}
}

// Calls that pass are durable soon, in order, and share a sync.
func TestPassesShareASync(t *testing.T) {
	o, keys := options(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, o)
		record(t, l, approver.Record{Event: approver.EventVerdict, Note: "first"})
		before, end := l.Work().Syncs, l.Head().Seq
		for i := range 20 {
			must(t, l.Pass(t.Context(), passing(fmt.Sprint(i))))
		}
		if n := l.Work().Syncs - before; n != 0 {
			t.Errorf("%d syncs before the answers", n)
		}
		time.Sleep(MaxPassBehind)
		synctest.Wait()
		if n := l.Work().Syncs - before; n != 1 || l.Head().Seq < end+20 {
			t.Errorf("%d syncs after %v, up to %d", n, MaxPassBehind, l.Head().Seq-end)
		}
		for i, r := range records(t, o.Dir)[1:] {
			if r.Note != fmt.Sprint(i) {
				t.Errorf("line %d is %q", i, r.Note)
			}
		}
		closeLog(t, l)
	})
	mustVerify(t, o, keys, nil)
}

// A call beside those that pass is durable when it is answered, with what came before it. So is
// everything at the end.
func TestOtherRecordsDoNotWaitForPasses(t *testing.T) {
	o, keys := options(t)
	l := open(t, o)
	must(t, l.Pass(t.Context(), passing("pass")))
	for _, r := range []approver.Record{
		{Event: approver.EventVerdict, Note: "denied"},
		{Event: approver.EventVerdict, Note: "asked", Verdict: approver.Verdict{Decision: approver.Ask}},
		{Event: approver.EventReleased, Note: "released", Verdict: approver.Verdict{Decision: approver.Allow}},
	} {
		must(t, l.Pass(t.Context(), r))
		if all := records(t, o.Dir); all[len(all)-1].Note != r.Note || all[0].Note != "pass" {
			t.Errorf("%s: %d lines, the last is %q", r.Note, len(all), all[len(all)-1].Note)
		}
	}
	must(t, l.Pass(t.Context(), passing("last")))
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.Records != 5 {
		t.Errorf("%d records", r.Records)
	}
}

// Calls that pass fill one file after the other. Each file is written in time, and so is the end.
func TestPassesGoOverFiles(t *testing.T) {
	o, keys := options(t)
	o.MaxSize = 2000
	synctest.Test(t, func(t *testing.T) {
		l := open(t, o)
		for range 20 {
			must(t, l.Pass(t.Context(), passing("pass")))
		}
		time.Sleep(MaxPassBehind)
		synctest.Wait()
		if l.mu.Lock(); len(l.queue.batches) > 0 || l.queue.end.seq != l.durable.Seq {
			t.Errorf("%d batches wait, %d of %d lines are durable", len(l.queue.batches), l.durable.Seq, l.queue.end.seq)
		}
		l.mu.Unlock()
		for range 20 {
			must(t, l.Pass(t.Context(), passing("last")))
		}
		closeLog(t, l)
	})
	if r := mustVerify(t, o, keys, nil); r.Records != 40 || r.Files < 4 {
		t.Errorf("%d records in %d files", r.Records, r.Files)
	}
}

// The disk hangs. What passed in the first 10 ms is all that a power failure takes: the next call
// waits until the disk is back, or until its agent gives up, and is stopped after a second.
func TestNothingPassesWhileTheLogIsBehind(t *testing.T) {
	o, _ := options(t)
	var disk sync.Mutex
	o.sync = func(f *os.File) error {
		disk.Lock()
		defer disk.Unlock()
		return f.Sync()
	}
	l := open(t, o)
	defer closeLog(t, l)
	disk.Lock()
	must(t, l.Pass(t.Context(), passing("before")))
	time.Sleep(2 * MaxPassBehind)
	brief, cancel := context.WithTimeout(t.Context(), 2*MaxPassBehind)
	defer cancel()
	if err := l.Pass(brief, passing("behind")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it passes while the disk hangs: %v", err)
	}
	waits := make(chan error, 1)
	go func() { waits <- l.Pass(t.Context(), passing("waits")) }()
	time.Sleep(MaxBehind)
	if err := l.Pass(t.Context(), passing("late")); !errors.Is(err, ErrBehind) {
		t.Errorf("it passes a second later: %v", err)
	}
	if err := l.Ready(); !errors.Is(err, ErrBehind) {
		t.Errorf("a release is ready: %v", err)
	}
	disk.Unlock()
	must(t, <-waits)
	if all := records(t, o.Dir); all[len(all)-1].Note != "waits" {
		t.Errorf("the last line is %q", all[len(all)-1].Note)
	}
	must(t, l.Pass(t.Context(), passing("again")))
}

// The disk fails below calls that pass. Nothing passes any more, and the log says how many are lost.
func TestNothingPassesOnALogThatFailed(t *testing.T) {
	o, keys := options(t)
	var fails atomic.Bool
	o.sync = func(f *os.File) error {
		if fails.Load() {
			return syscall.EIO
		}
		return f.Sync()
	}
	synctest.Test(t, func(t *testing.T) {
		l := open(t, o)
		record(t, l, approver.Record{Event: approver.EventVerdict, Note: "first"})
		fails.Store(true)
		for range 3 {
			must(t, l.Pass(t.Context(), passing("lost")))
		}
		time.Sleep(MaxPassBehind)
		synctest.Wait()
		if err := l.Pass(t.Context(), passing("after")); !errors.Is(err, syscall.EIO) {
			t.Errorf("it passes on a log that failed: %v", err)
		}
		fails.Store(false)
		time.Sleep(2 * healFirst)
		synctest.Wait()
		must(t, l.Pass(t.Context(), passing("again")))
		closeLog(t, l)
	})
	mustVerify(t, o, keys, nil)
	all := records(t, o.Dir)
	if len(all) != 3 || all[1].Alarm != outageAlarm || !strings.Contains(all[1].Note,
		"3 calls that were let run just before are not in the audit") || all[2].Note != "again" {
		t.Errorf("%d lines: %+v", len(all), all)
	}
}

// Somebody moves the log away: the next call does not pass, as nothing is released.
func TestNothingPassesOnAnotherFile(t *testing.T) {
	o, _ := options(t)
	o.Changed = func(context.Context, string) error { return nil }
	l := open(t, o)
	defer func() { _ = l.Close(context.Background()) }() // it has failed
	must(t, l.Pass(t.Context(), passing("before")))
	time.Sleep(2 * MaxPassBehind)
	must(t, os.Rename(filepath.Join(o.Dir, activeName), filepath.Join(o.Dir, "elsewhere")))
	if err := l.Pass(t.Context(), passing("after")); !errors.Is(err, ErrChanged) {
		t.Errorf("it passes: %v", err)
	}
}

// Nobody passes on a log that is closed, or after its agent has gone.
func TestPassNeedsALogAndAnAgent(t *testing.T) {
	o, _ := options(t)
	if err := (*Log)(nil).Pass(t.Context(), passing("nil")); !errors.Is(err, ErrClosed) {
		t.Errorf("no log: %v", err)
	}
	l := open(t, o)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Pass(ended, passing("gone")); !errors.Is(err, context.Canceled) {
		t.Errorf("a courier that has gone: %v", err)
	}
	closeLog(t, l)
	if err := l.Pass(t.Context(), passing("closed")); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed log: %v", err)
	}
}

func BenchmarkPass(b *testing.B) {
	o, _ := options(b)
	l := open(b, o)
	defer closeLog(b, l)
	r := passing("")
	r.Call = shell("ls -l")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.Pass(b.Context(), r); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// The story: one call ran, three waited for the same disk and were denied when it failed. The alarm said
// that four ran.
func TestTheAlarmCountsOnlyCallsThatRan(t *testing.T) {
	o, _ := options(t)
	var disk sync.Mutex
	var fails atomic.Bool
	o.sync = func(f *os.File) error {
		disk.Lock()
		defer disk.Unlock()
		if fails.Load() {
			return syscall.EIO
		}
		return f.Sync()
	}
	l := open(t, o)
	record(t, l, approver.Record{Event: approver.EventVerdict, Note: "first"})
	disk.Lock()
	fails.Store(true)
	must(t, l.Pass(t.Context(), passing("ran")))
	time.Sleep(2 * MaxPassBehind)
	errs := make(chan error, 3)
	for range 3 {
		go func() { errs <- l.Pass(t.Context(), passing("waits")) }()
	}
	time.Sleep(5 * MaxPassBehind)
	disk.Unlock()
	for range 3 {
		if <-errs == nil {
			t.Error("a call runs that was not recorded")
		}
	}
	fails.Store(false)
	for end := time.Now().Add(10 * time.Second); l.Err() != nil && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	closeLog(t, l)
	alarm := ""
	for _, r := range records(t, o.Dir) {
		if r.Event == approver.EventAlarm {
			alarm += r.Note
		}
	}
	if !strings.Contains(alarm, "1 call") {
		t.Errorf("the alarm says %q", alarm)
	}
}
