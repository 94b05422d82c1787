package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// snapshot is a log's files by name.
func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if e.Name() != lockName {
			files[e.Name()] = readFile(t, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// restore writes files to a new directory.
func restore(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		writeFile(t, filepath.Join(dir, name), b)
	}
	return dir
}

// threeFiles is a closed log of three files and where it ends.
func threeFiles(t *testing.T) (files map[string][]byte, keys Keys, head Head) {
	t.Helper()
	o, keys := options(t)
	o.MaxSize, o.CheckpointEvery, o.KV = 1700, 3, newMemory()
	l := open(t, o)
	for i := range 9 {
		record(t, l, approver.Record{Event: approver.EventStarted, Note: fmt.Sprint("n", i)})
	}
	closeLog(t, l)
	head, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	files = snapshot(t, o.Dir)
	if len(files) != 3 {
		t.Fatalf("files %v, want three", slices.Sorted(maps.Keys(files)))
	}
	mustVerify(t, o, keys, &head)
	return files, keys, head
}

// Every byte of a log counts, and the line that it is in is named.
func TestEveryByteFlipIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	files, keys, head := threeFiles(t)
	dir := restore(t, files)
	for name, content := range files {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
		must(t, err)
		for i := range content {
			changed := content[i] ^ []byte{0x01, 0x20, 0x80}[i%3]
			if _, err := f.WriteAt([]byte{changed}, int64(i)); err != nil {
				t.Fatal(err)
			}
			b := wantBreak(t, dir, keys, &head)
			line := 1 + bytes.Count(content[:i], []byte("\n"))
			if b.File != name || b.Line != line || !slices.Contains([]Kind{BadHash, BadLine, CutTail}, b.Kind) {
				t.Fatalf("byte %d of %s, line %d (%q to %q): %v", i, name, line, content[i], changed, b)
			}
			if _, err := f.WriteAt(content[i:i+1], int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		must(t, f.Close())
	}
}

func split(b []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

func join(lines ...[]byte) []byte {
	var out []byte
	for _, l := range lines {
		out = append(out, bytes.TrimSuffix(l, []byte("\n"))...)
		out = append(out, '\n')
	}
	return out
}

// Every line that is deleted, doubled, or exchanged with another is noticed at
// the place where the log stops making sense.
func TestEveryLineCounts(t *testing.T) {
	files, keys, head := threeFiles(t)
	dir := restore(t, files)
	names := slices.Sorted(maps.Keys(files)) // audit-…1, audit-…N, audit.jsonl
	check := func(name string, changed []byte, what string, want ...Kind) *BreakError {
		t.Helper()
		path := filepath.Join(dir, name)
		writeFile(t, path, changed)
		defer writeFile(t, path, files[name])
		b := wantBreak(t, dir, keys, &head)
		if !slices.Contains(want, b.Kind) {
			t.Errorf("%s of %s: %v, want %v", what, name, b, want)
		}
		return b
	}
	for n, name := range names {
		lines := split(files[name])
		for i := range lines {
			what := fmt.Sprintf("deletion of line %d", i+1)
			want := Gap
			switch {
			case i == 0 && n == 0:
				want = CutHead
			case i == 0 && name == activeName:
				want = MissingFile // which of the two it was cannot be told
			case i == len(lines)-1:
				want = CutTail
			}
			b := check(name, join(slices.Delete(slices.Clone(lines), i, i+1)...), what, want)
			if want == Gap && (b.File != name || b.Line != i+1) {
				t.Errorf("%s of %s is named %v", what, name, b)
			}

			b = check(name, join(slices.Insert(slices.Clone(lines), i, lines[i])...),
				fmt.Sprintf("doubling of line %d", i+1), Duplicate)
			if b.File != name || b.Line != i+2 {
				t.Errorf("doubling of line %d of %s is named %v", i+1, name, b)
			}

			for j := i + 1; j < len(lines); j++ {
				swapped := slices.Clone(lines)
				swapped[i], swapped[j] = swapped[j], swapped[i]
				want := []Kind{Reordered}
				if i == 0 { // the first line of a file is the wrong one
					want = append(want, CutHead, MissingFile)
				}
				b := check(name, join(swapped...), fmt.Sprintf("exchange of lines %d and %d", i+1, j+1), want...)
				if i > 0 && (b.File != name || b.Line != i+1) {
					t.Errorf("exchange of lines %d and %d of %s is named %v", i+1, j+1, name, b)
				}
			}
		}
		for cut := 1; cut < len(lines); cut++ { // whole lines from the end
			check(name, join(lines[:cut]...), fmt.Sprintf("truncation to %d lines", cut), CutTail, MissingFile)
		}
		for _, size := range []int{1, 50, len(files[name]) - 1} { // in the middle of a line
			check(name, files[name][:size], fmt.Sprintf("truncation to %d bytes", size), CutTail)
		}
		check(name, nil, "truncation to nothing", CutTail, MissingFile, CutHead)
	}
}

func TestEveryFileCounts(t *testing.T) {
	files, keys, head := threeFiles(t)
	names := slices.Sorted(maps.Keys(files))
	for i, want := range []BreakError{
		{File: names[1], Kind: CutHead},
		{File: names[1], Kind: MissingFile},
		{File: activeName, Kind: MissingFile},
	} {
		left := maps.Clone(files)
		delete(left, names[i])
		b := wantBreak(t, restore(t, left), keys, nil)
		if b.File != want.File || b.Kind != want.Kind {
			t.Errorf("without %s: %v, want %s in %s", names[i], b, want.Kind, want.File)
		}
	}
	// Both full files gone, and everything gone.
	if b := wantBreak(t, restore(t, map[string][]byte{activeName: files[activeName]}), keys, nil); b.Kind != CutHead {
		t.Errorf("without the full files: %v", b)
	}
	if b := wantBreak(t, t.TempDir(), keys, &head); b.Kind != MissingFile {
		t.Errorf("without any file: %v", b)
	}
	if _, err := Verify(t.Context(), []string{t.TempDir()}, keys, nil); !errors.Is(err, ErrNoLog) {
		t.Errorf("no log at all: %v", err)
	}
	// Names exchanged.
	mixed := maps.Clone(files)
	mixed[names[0]], mixed[names[1]] = mixed[names[1]], mixed[names[0]]
	if b := wantBreak(t, restore(t, mixed), keys, nil); b.Kind != CutHead || b.File != names[0] {
		t.Errorf("exchanged files: %v", b)
	}
	mixed = maps.Clone(files)
	mixed[names[1]], mixed[activeName] = mixed[activeName], mixed[names[1]]
	if b := wantBreak(t, restore(t, mixed), keys, nil); b.Kind != Gap || b.File != names[1] || b.Line != 1 {
		t.Errorf("exchanged files: %v", b)
	}
}

func TestArchivedFiles(t *testing.T) {
	files, keys, head := threeFiles(t)
	names := slices.Sorted(maps.Keys(files))
	archive := restore(t, map[string][]byte{names[0]: files[names[0]]})
	delete(files, names[0])
	dir := restore(t, files)
	for _, paths := range [][]string{{dir, archive}, {archive, dir}, {dir, filepath.Join(archive, names[0])}} {
		if r, err := Verify(t.Context(), paths, keys, &head); err != nil || r.Files != 3 || r.Last != head.Seq {
			t.Errorf("%q: %v (%+v)", paths, err, r)
		}
	}
	all := []string{filepath.Join(dir, activeName), filepath.Join(dir, names[1]), filepath.Join(archive, names[0])}
	if r, err := Verify(t.Context(), all, keys, &head); err != nil || r.Files != 3 {
		t.Errorf("by name: %v (%+v)", err, r)
	}
}

// A log cut at a checkpoint makes sense by itself. The store knows better.
func TestStoreKnowsTheEnd(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery, o.KV = 9, newMemory()
	newLog(t, o, 107)
	head, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	if head.Seq != 120 {
		t.Fatalf("the log ends at %d; the test wants 120", head.Seq)
	}
	ls := lines(t, o)
	writeFile(t, filepath.Join(o.Dir, activeName), join(ls[:90]...))
	b := wantBreak(t, o.Dir, keys, &head)
	if b.Kind != CutTail || b.Seq != 91 || b.Line != 90 ||
		!strings.Contains(b.Error(), "the log ends at seq 90 but the store knows 120: the last 30 lines are gone") {
		t.Errorf("%v", b)
	}
	// The daemon sees it too when it starts, says so first, and goes on.
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "ends at seq 90 but the store knows 120") {
		t.Errorf("alarms %q", a)
	}
	write(t, l, 1)
	closeLog(t, l)
	all := records(t, o.Dir)
	if a := all[len(all)-2]; a.Event != approver.EventAlarm || !strings.Contains(a.Note, "the last 30 lines are gone") {
		t.Errorf("the record before the new one is %+v", a)
	}
	if head, err = ReadHead(t.Context(), o.KV, o.ID); err != nil {
		t.Fatal(err)
	}
	if r := mustVerify(t, o, keys, &head); r.Alarms != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestVerifyWantsKeys(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 3)
	if b := wantBreak(t, o.Dir, nil, nil); b.Kind != UnknownKey || b.Line != 2 {
		t.Errorf("without keys: %v", b)
	}
	for id := range keys {
		keys[id] = keys[id][:5]
	}
	if b := wantBreak(t, o.Dir, keys, nil); b.Kind != UnknownKey {
		t.Errorf("with a broken key: %v", b)
	}
}

func TestHeadOfAnotherLog(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 3)
	r := mustVerify(t, o, keys, nil)
	if b := wantBreak(t, o.Dir, keys, &Head{Log: "another", Seq: r.Last, Hash: r.Hash}); b.Kind != Rewritten {
		t.Errorf("%v", b)
	}
}

func TestVerifyStopsWithContext(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery = 200
	l := open(t, o)
	var body []byte
	l.mu.Lock()
	for range 3000 {
		l.mu.Unlock()
		body = []byte(`{"v":1,"event":"started"}`)
		_, _, err := l.add(body, time.Time{}, atOnce)
		must(t, err)
		l.mu.Lock()
	}
	l.mu.Unlock()
	closeLog(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, []string{o.Dir}, keys, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify with an ended context: %v", err)
	}
}

// A log may be verified while it is written and rotated.
func TestVerifyWhileWriting(t *testing.T) {
	o, keys := options(t)
	o.MaxSize = 20_000
	o.sync = func(*os.File) error { return nil }
	l := open(t, o)
	write(t, l, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1500 {
			if _, err := l.Record(t.Context(), approver.Record{Event: approver.EventVerdict, Call: shell("ls")}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for n := 0; ; n++ {
		head := l.Head()
		r, err := Verify(t.Context(), []string{o.Dir}, keys, &head)
		if err != nil {
			t.Fatalf("round %d: %v (%+v)", n, err, r)
		}
		select {
		case <-done:
			if n < 2 {
				t.Errorf("only %d rounds while writing", n)
			}
			return
		default:
		}
	}
}

// Between the two steps of a rotation there is no audit.jsonl for a moment.
func TestVerifyWaitsForARotation(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 3)
	active := filepath.Join(o.Dir, activeName)
	must(t, os.Rename(active, filepath.Join(o.Dir, rotatedName(1))))
	made := time.AfterFunc(30*time.Millisecond, func() { _ = os.WriteFile(active, nil, 0o600) })
	defer made.Stop()
	if r := mustVerify(t, o, keys, nil); r.Files != 2 {
		t.Errorf("report %+v", r)
	}
}

func TestLongLineIsNoLine(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 3)
	path := filepath.Join(o.Dir, activeName)
	content := readFile(t, path)
	n := bytes.Count(content, []byte("\n"))
	writeFile(t, path, append(content, append(bytes.Repeat([]byte("x"), 3*MaxLine), '\n')...))
	if b := wantBreak(t, o.Dir, keys, nil); b.Kind != BadLine || b.Line != n+1 {
		t.Errorf("%v", b)
	}
	// It is no part of the log for the daemon either.
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], fmt.Sprintf("the last %d bytes", 3*MaxLine+1)) {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
}

// Only what the log lost or what was changed in it counts against it. What an
// agent ran, a new key and an outage are told, and so is what cannot be read.
func TestVerifyTellsAlarmsApart(t *testing.T) {
	o, keys := options(t)
	l := open(t, o)
	ran := shell("rm -rf build")
	record(t, l, approver.Record{Event: approver.EventAlarm, Call: ran, Note: "it ran although\nit was denied"})
	for _, a := range []alarm{{keyAlarm, "a key", Part{}}, {outageAlarm, "an outage", Part{}},
		{lossAlarm, "a loss", Part{}}, {"", "of an older version", Part{}}, {"news", "of a newer version", Part{}}} {
		must(t, l.alarm(t.Context(), a))
	}
	if _, err := l.put(t.Context(), []byte(`{"v":1,"event":"alarm","note":7}`), time.Time{}); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	r := mustVerify(t, o, keys, nil)
	told := func(list AlarmList) (out []string) {
		for _, a := range list.Newest {
			out = append(out, fmt.Sprintf("%s:%d %d %s: %s", a.File, a.Line, a.Seq, a.Kind, a.What))
		}
		return out
	}
	if got, want := told(r.Losses), []string{
		"audit.jsonl:5 5 loss: a loss", "audit.jsonl:6 6 loss: of an older version",
		"audit.jsonl:7 7 loss: of a newer version", "audit.jsonl:9 9 loss: an alarm that cannot be read",
	}; !slices.Equal(got, want) || r.Losses.Count != 4 {
		t.Errorf("losses %q, want %q", got, want)
	}
	if got, want := told(r.Others), []string{
		"audit.jsonl:1 1 call: claude: rm -rf build: it ran although ⏎ it was denied",
		"audit.jsonl:3 3 key: a key", "audit.jsonl:4 4 outage: an outage",
	}; !slices.Equal(got, want) || r.Others.Count != 3 || r.Alarms != 7 {
		t.Errorf("others %q, want %q; %d in all", got, want, r.Alarms)
	}
}

// An agent reports without end calls that were denied. The memory of Verify is
// bounded, and a loss is not pushed out by them.
func TestVerifyKeepsTheNewestAlarms(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery, o.sync = 1000, func(*os.File) error { return nil }
	l := open(t, o)
	if err := l.alarm(t.Context(), alarm{kind: lossAlarm, text: "a loss"}); err != nil {
		t.Fatal(err)
	}
	for range 2 * maxAlarms {
		record(t, l, approver.Record{Event: approver.EventAlarm, Call: shell("ls")})
	}
	last := l.Head().Seq
	closeLog(t, l)
	r := mustVerify(t, o, keys, nil)
	if n := len(r.Others.Newest); n != maxAlarms || r.Others.Count != 2*maxAlarms || r.Others.Newest[n-1].Seq != last {
		t.Errorf("%d of %d are kept, the last is %+v", n, r.Others.Count, r.Others.Newest[n-1])
	}
	if len(r.Losses.Newest) != 1 {
		t.Errorf("losses %+v", r.Losses)
	}
}
