package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

func TestRecordAndVerify(t *testing.T) {
	o, keys := options(t)
	o.KV = newMemory()
	l := open(t, o)
	var hashes []string
	for i := range 12 {
		hashes = append(hashes, record(t, l, approver.Record{Event: approver.EventVerdict, Note: fmt.Sprint(i)}))
	}
	head := l.Head()
	if n := l.Work().Syncs; n != 12 {
		t.Errorf("12 records, one after another, took %d syncs", n)
	}
	closeLog(t, l)

	got := records(t, o.Dir)
	if len(got) != 12 {
		t.Fatalf("%d records, want 12", len(got))
	}
	for i, r := range got {
		if r.Hash != hashes[i] || r.Note != fmt.Sprint(i) {
			t.Errorf("record %d is %q %s, want hash %s", i, r.Note, r.Hash, hashes[i])
		}
	}
	if got[11].Hash != head.Hash || got[11].Seq != head.Seq {
		t.Errorf("head %+v is not the last record %d %s", head, got[11].Seq, got[11].Hash)
	}
	stored, err := ReadHead(t.Context(), o.KV, "test")
	must(t, err)
	report := mustVerify(t, o, keys, &stored)
	// 12 records, a checkpoint behind the first, the 6th, the 11th and at the end.
	if report.Records != 12 || report.Checkpoints != 4 || report.Lines != 16 || report.Last != 16 || report.First != 1 ||
		report.Signed != 15 || report.Unsigned() != 0 || report.Log != "test" || report.Files != 1 {
		t.Errorf("report %+v", report)
	}
	if stored.Seq != report.Last || stored.Hash != report.Hash {
		t.Errorf("stored head %+v, the log ends at %d %s", stored, report.Last, report.Hash)
	}
}

// The rule in the package comment, by itself: another program has no more.
func TestDocumentedRule(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 7)
	prev := strings.Repeat("0", 64)
	for i, line := range bytes.Split(bytes.TrimSpace(readFile(t, filepath.Join(o.Dir, activeName))), []byte("\n")) {
		var m struct {
			ID         string
			Seq        int
			Prev, Hash string
		}
		must(t, json.Unmarshal(line, &m))
		at := bytes.LastIndex(line, []byte(`,"hash":"`))
		sum := sha256.Sum256(line[:at])
		if m.Seq != i+1 || m.ID != fmt.Sprintf("test:%d", i+1) || m.Prev != prev || m.Hash != hex.EncodeToString(sum[:]) {
			t.Fatalf("line %d breaks the rule: %s", i+1, line)
		}
		prev = m.Hash
	}
}

func TestOpeningAgainContinuesTheChain(t *testing.T) {
	o, keys := options(t)
	o.KV = newMemory()
	for range 4 {
		newLog(t, o, 3)
	}
	head, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	if r := mustVerify(t, o, keys, &head); r.Records != 12 || r.Alarms != 0 {
		t.Errorf("report %+v, want 12 records and no alarm", r)
	}
}

func TestOneWriterOnly(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another process writes this log") {
		t.Errorf("a second Open: %v", err)
	}
	closeLog(t, l)
	open(t, o)
}

func TestFilesArePrivate(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 1)
	for path, want := range map[string]os.FileMode{o.Dir: 0o700, filepath.Join(o.Dir, activeName): 0o600} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no directory":            func(o *Options) { o.Dir = "" },
		"no signing key":          func(o *Options) { o.Key = Key{} },
		"the id":                  func(o *Options) { o.ID = `a"b` },
		"must be 1 to":            func(o *Options) { o.CheckpointEvery = MaxCheckpointEvery + 1 },
		"negative":                func(o *Options) { o.MaxSize = -1 },
		"the store is not there!": func(o *Options) { o.KV = &memory{get: errors.New("the store is not there!")} },
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			spoil(&o)
			l, err := Open(t.Context(), o)
			if err == nil {
				_ = l.Close(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one with %q", err, name)
			}
		})
	}
}

func TestZeroLogRecordsNothing(t *testing.T) {
	for _, l := range []*Log{nil, {}} {
		if hash, err := l.Record(t.Context(), approver.Record{}); !errors.Is(err, ErrClosed) || hash != "" {
			t.Errorf("Record = %q, %v", hash, err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestRecordAfterClose(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	closeLog(t, l)
	closeLog(t, l) // once more is fine
	if _, err := l.Record(t.Context(), approver.Record{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Record after Close: %v", err)
	}
	if err := l.Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("Err after Close: %v", err)
	}
}

func TestRecordEndsWithContext(t *testing.T) {
	o, _ := options(t)
	hang := make(chan struct{})
	var armed atomic.Bool
	o.sync = func(f *os.File) error {
		if armed.Load() {
			<-hang
		}
		return nil
	}
	l := open(t, o)
	armed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if hash, err := l.Record(ctx, approver.Record{Event: approver.EventStarted}); !errors.Is(err,
		context.DeadlineExceeded) || hash != "" {
		t.Errorf("Record on a disk that hangs = %q, %v", hash, err)
	}
	if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close on a disk that hangs: %v", err)
	}
	close(hang)
	<-l.writeEnded
	cancel()
	if _, err := l.Record(ctx, approver.Record{}); err == nil {
		t.Error("Record with an ended context succeeded")
	}
}

// 64 writers: every acknowledged hash is in the log, once, and the writes were
// shared.
func TestGroupCommit(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery = 100
	var syncs atomic.Int64
	o.sync = func(f *os.File) error {
		syncs.Add(1)
		time.Sleep(100 * time.Microsecond)
		return nil
	}
	l := open(t, o)
	const writers, each = 64, 40
	var mu sync.Mutex
	acknowledged := map[string]string{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				note := fmt.Sprintf("%d/%d", w, i)
				hash, err := l.Record(t.Context(), approver.Record{Event: approver.EventVerdict, Note: note})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged[hash] = note
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
	got := records(t, o.Dir)
	if len(got) != writers*each || len(acknowledged) != writers*each {
		t.Fatalf("%d records, %d acknowledged, want %d", len(got), len(acknowledged), writers*each)
	}
	for _, r := range got {
		if acknowledged[r.Hash] != r.Note {
			t.Fatalf("record %d (%s) was acknowledged as %q", r.Seq, r.Note, acknowledged[r.Hash])
		}
	}
	if n := syncs.Load(); n > writers*each/4 {
		t.Errorf("%d syncs for %d records of %d writers: commits are not shared", n, writers*each, writers)
	}
}

// A failure in the middle of many writers: whoever got a hash is in the log,
// whoever got an error is not.
func TestFailureUnderLoad(t *testing.T) {
	o, keys := options(t)
	var syncs atomic.Int64
	o.sync = func(f *os.File) error {
		if syncs.Add(1) == 30 {
			return syscall.EIO
		}
		return nil
	}
	l := open(t, o)
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var failed atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				hash, err := l.Record(t.Context(), approver.Record{Event: approver.EventVerdict})
				if err != nil {
					failed.Add(1)
					continue
				}
				mu.Lock()
				acknowledged[hash] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	waitFor(t, func() bool { return l.Err() == nil }) // nothing of before may come back
	acknowledged[record(t, l, approver.Record{Event: approver.EventStarted})] = true
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
	got := records(t, o.Dir)
	if failed.Load() == 0 || len(got) != len(acknowledged)+1 { // and the alarm
		t.Errorf("%d records, %d acknowledged, %d failed", len(got), len(acknowledged), failed.Load())
	}
	for _, r := range got {
		if !acknowledged[r.Hash] && r.Alarm != outageAlarm {
			t.Errorf("record %d is in the log but was never acknowledged", r.Seq)
		}
	}
}

// What waits behind a failed write fails with it, and does not come back.
func TestFailureTakesTheQueueAlong(t *testing.T) {
	o, keys := options(t)
	var armed atomic.Bool
	busy, release := make(chan struct{}), make(chan struct{})
	o.sync = func(*os.File) error {
		if !armed.Swap(false) {
			return nil
		}
		close(busy)
		<-release
		return syscall.EIO
	}
	l := open(t, o)
	write(t, l, 1)
	armed.Store(true)
	errs := make(chan error, 2)
	try := func(note string) {
		_, err := l.Record(t.Context(), approver.Record{Event: approver.EventVerdict, Note: note})
		errs <- err
	}
	go try("in flight")
	<-busy
	go try("queued")
	waitFor(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.queue.batches) == 1 })
	close(release)
	for range 2 {
		if err := <-errs; !errors.Is(err, syscall.EIO) {
			t.Errorf("Record: %v", err)
		}
	}
	waitFor(t, func() bool { return l.Err() == nil })
	record(t, l, approver.Record{Event: approver.EventStarted, Note: "after"})
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
	if all := records(t, o.Dir); len(all) != 3 || all[1].Alarm != outageAlarm || all[2].Note != "after" {
		t.Errorf("records %+v", all)
	}
}

func TestCheckpointAfterSomeTime(t *testing.T) {
	o, keys := options(t)
	o.CheckpointAfter = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(t.Context(), o)
		must(t, err)
		for range 3 {
			if _, err := l.Record(t.Context(), approver.Record{Event: approver.EventVerdict}); err != nil {
				t.Fatal(err)
			}
		}
		if seq := l.Head().Seq; seq != 4 { // three records, one checkpoint behind the first
			t.Errorf("the log ends at %d, want 4", seq)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if seq := l.Head().Seq; seq != 5 {
			t.Errorf("after 11 s the log ends at %d, want a checkpoint at 5", seq)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if seq := l.Head().Seq; seq != 5 {
			t.Errorf("an idle log grew to %d", seq)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if r := mustVerify(t, o, keys, nil); r.Last != 5 || r.Unsigned() != 0 {
		t.Errorf("report %+v", r)
	}
}
