package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/display"
)

// small makes logs of many files.
func small(t *testing.T) (Options, Keys) {
	o, keys := options(t)
	o.MaxSize, o.CheckpointEvery, o.KV = 4000, 7, newMemory()
	return o, keys
}

func TestRetentionBySize(t *testing.T) {
	o, keys := small(t)
	o.Keep.Size = 3 * o.MaxSize
	l := open(t, o)
	write(t, l, 80)
	deadline := time.Now().Add(30 * time.Second)
	for {
		full, err := rotated(o.Dir)
		must(t, err)
		if len(full) <= 3 && full[0].first > 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d full files are left", len(full))
		}
		time.Sleep(5 * time.Millisecond)
	}
	write(t, l, 3)
	closeLog(t, l)
	head, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	r := mustVerify(t, o, keys, &head)
	if r.First <= 1 || r.Removed == nil || r.Removed.To < r.First-1 || r.Losses.Count != 0 {
		t.Errorf("%+v", r)
	}
	// It goes on after a restart, with nothing to alarm anybody.
	newLog(t, o, 5)
	if r := mustVerify(t, o, keys, nil); r.Losses.Count != 0 {
		t.Errorf("after a restart: %+v", r.Losses)
	}
}

func TestRetentionByAge(t *testing.T) {
	o, keys := small(t)
	l := open(t, o)
	write(t, l, 40)
	<-l.retainEnded // it had nothing to do
	l.o.Keep.Age = time.Hour
	before, _ := rotated(o.Dir)
	must(t, l.removeOld(t.Context(), time.Now()))
	if now, _ := rotated(o.Dir); len(now) != len(before) {
		t.Errorf("of %d young files %d are left", len(before), len(now))
	}
	must(t, l.removeOld(t.Context(), time.Now().Add(2*time.Hour)))
	if now, _ := rotated(o.Dir); len(now) > 1 { // one may have come with the line itself
		t.Errorf("of %d old files %d are left", len(before), len(now))
	}
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.First == 1 || r.Removed == nil {
		t.Errorf("%+v", r)
	}
}

// Somebody who may delete files deletes the oldest, and hopes that it passes for
// retention: in a log that never removed any, in one that removed less, and with
// a line that they wrote themselves.
//
// This test verifies that only a signed line of the log excuses a missing
// beginning, and only as far as it goes.
func TestAMissingBeginningIsNoRetention(t *testing.T) {
	o, keys := small(t)
	l := open(t, o)
	write(t, l, 60)
	full, err := rotated(o.Dir)
	if err != nil || len(full) < 4 {
		t.Fatal(full, err)
	}
	<-l.retainEnded // it had nothing to do
	l.o.Keep.Size = 1 << 40
	one := full[1].first - 1
	end, err := lastPlace(full[0].path)
	must(t, err)
	cutHead := func(what string) {
		t.Helper()
		var b *BreakError
		if _, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) || b.Kind != CutHead {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Remove(full[0].path))
	cutHead("nothing was ever removed")
	if err := l.putRemoved(t.Context(), Removed{To: one, Hash: strings.Repeat("0", hashLength), Files: 1}); err != nil {
		t.Fatal(err)
	}
	cutHead("the line knows another end")
	if err := l.putRemoved(t.Context(), Removed{To: one, Hash: end.hash.String(), Files: 1}); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, o, keys, nil)
	must(t, os.Remove(full[1].path))
	cutHead("more is missing than was removed")
	closeLog(t, l)

	// Not signed: the line is there, and the checkpoint behind it is not.
	o, keys = small(t)
	o.CheckpointEvery = 1000
	l = open(t, o)
	write(t, l, 30)
	if full, err = rotated(o.Dir); err != nil || len(full) == 0 {
		t.Fatal(full, err)
	}
	if end, err = lastPlace(full[0].path); err != nil {
		t.Fatal(err)
	}
	line := l.red.lineOf(approver.Record{Event: approver.EventRemoved}, "h", time.Now())
	line.Removed = &Removed{To: end.seq, Hash: end.hash.String(), Files: 1}
	body, err := display.EncodeJSON(line)
	must(t, err)
	if _, err := l.put(t.Context(), body, time.Time{}); err != nil {
		t.Fatal(err)
	}
	must(t, os.Remove(full[0].path))
	cutHead("an unsigned line")
}

// A crash after the line and before the removal leaves more than the line says.
func TestRetentionThatCrashed(t *testing.T) {
	o, keys := small(t)
	l := open(t, o)
	write(t, l, 40)
	full, err := rotated(o.Dir)
	if err != nil || len(full) < 3 {
		t.Fatal(full, err)
	}
	end, err := lastPlace(full[1].path)
	must(t, err)
	if err := l.putRemoved(t.Context(), Removed{To: end.seq, Hash: end.hash.String(), Files: 2}); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, o, keys, nil) // nothing is gone yet
	must(t, os.Remove(full[0].path))
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.First != full[1].first {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, activeName)); err != nil {
		t.Error(err)
	}
}
