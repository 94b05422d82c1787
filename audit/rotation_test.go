package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"approver.example"
)

func TestRotation(t *testing.T) {
	o, keys := options(t)
	o.MaxSize = 4000
	o.CheckpointEvery = 7
	o.KV = newMemory()
	l := open(t, o)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { write(t, l, 12) })
	}
	wg.Wait()
	closeLog(t, l)
	head, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	r := mustVerify(t, o, keys, &head)
	files, err := rotated(o.Dir)
	must(t, err)
	if len(files) < 5 || r.Files != len(files)+1 || r.Records != 96 {
		t.Errorf("%d full files, report %+v", len(files), r)
	}
	for _, s := range files {
		b := readFile(t, s.path)
		if len(b) > int(o.MaxSize)+1000 {
			t.Errorf("%s has %d bytes, more than %d and a checkpoint", s.path, len(b), o.MaxSize)
		}
		last := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		if !isCheckpoint(last[len(last)-1]) {
			t.Errorf("%s does not end with a checkpoint", s.path)
		}
	}
	// The chain goes on over a restart, and over a crash in the middle of a
	// rotation, which leaves no audit.jsonl or an empty one.
	newLog(t, o, 5)
	active := filepath.Join(o.Dir, activeName)
	must(t, os.Rename(active, filepath.Join(o.Dir, rotatedName(firstSeq(t, active)))))
	newLog(t, o, 20)
	mustVerify(t, o, keys, nil)
	must(t, os.Rename(active, filepath.Join(o.Dir, rotatedName(firstSeq(t, active)))))
	writeFile(t, active, nil)
	newLog(t, o, 20)
	if r := mustVerify(t, o, keys, nil); r.Records != 96+5+20+20 || r.Alarms != 0 {
		t.Errorf("report %+v", r)
	}
}

func firstSeq(t *testing.T, path string) uint64 {
	t.Helper()
	first, _, _ := bytes.Cut(readFile(t, path), []byte("\n"))
	l, err := readLink(first)
	must(t, err)
	return l.seq
}

func TestRotationThatCannotRenameFails(t *testing.T) {
	o, _ := options(t)
	o.MaxSize = 2000
	l := open(t, o)
	writeFile(t, filepath.Join(o.Dir, rotatedName(1)), []byte("mine"))
	var err error
	for range 20 {
		if _, err = l.Record(t.Context(), approver.Record{Event: approver.EventVerdict}); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("Record: %v", err)
	}
}
