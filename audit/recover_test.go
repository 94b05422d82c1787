package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
)

// crashed is an open log's files as a crash would leave them: 5 records, the
// first vouched for, with a head in the store.
func crashed(t *testing.T) (o Options, keys Keys, content []byte) {
	t.Helper()
	o, keys = options(t)
	o.CheckpointEvery = 100
	l := open(t, o)
	write(t, l, 5)
	content = readFile(t, filepath.Join(o.Dir, activeName))
	o.Dir = t.TempDir()
	return o, keys, content
}

func TestRecoverTornTail(t *testing.T) {
	o, keys, content := crashed(t)
	ls := split(content)
	whole := len(content)
	last := len(ls[len(ls)-1]) + 1 // with its newline
	for name, tt := range map[string]struct {
		file []byte
		kept int    // bytes that stay
		torn []byte // what is set aside
	}{
		"half a line":         {content[:whole-last/2], whole - last, content[whole-last : whole-last/2]},
		"no newline":          {content[:whole-1], whole - last, content[whole-last : whole-1]},
		"one byte":            {append(bytes.Clone(content), '{'), whole, []byte("{")},
		"zeros":               {append(bytes.Clone(content), make([]byte, 4096)...), whole, make([]byte, 4096)},
		"garbage with a line": {append(bytes.Clone(content), "\x00\x00\n{}\n"...), whole, []byte("\x00\x00\n{}\n")},
		"a hole with sound lines behind it": {
			join(ls[0], ls[1], ls[2], make([]byte, len(ls[3])-1), ls[4], ls[5]), len(join(ls[:3]...)),
			join(make([]byte, len(ls[3])-1), ls[4], ls[5]),
		},
		"nothing but garbage": {[]byte("garbage"), 0, []byte("garbage")},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Dir = t.TempDir()
			writeFile(t, filepath.Join(o.Dir, activeName), tt.file)
			l := open(t, o)
			alarms := l.Alarms()
			if len(alarms) != 1 || !strings.Contains(alarms[0],
				fmt.Sprintf("the last %d bytes of the log were no sound lines", len(tt.torn))) {
				t.Fatalf("alarms %q", alarms)
			}
			record(t, l, approver.Record{Event: approver.EventVerdict, Note: "after"})
			closeLog(t, l)
			side, err := filepath.Glob(filepath.Join(o.Dir, "*.torn"))
			if err != nil || len(side) != 1 || !bytes.Equal(readFile(t, side[0]), tt.torn) {
				t.Errorf("side files %q do not hold the torn end", side)
			}
			if !strings.Contains(alarms[0], filepath.Base(side[0])) {
				t.Errorf("the alarm %q does not name %s", alarms[0], side[0])
			}
			if got := readFile(t, filepath.Join(o.Dir, activeName)); !bytes.HasPrefix(got, content[:tt.kept]) {
				t.Error("sound lines were touched")
			}
			if r := mustVerify(t, o, keys, nil); r.Alarms != 1 || r.Unsigned() != 0 {
				t.Errorf("report %+v", r)
			}
			// The alarm stands before what was recorded afterwards.
			all := records(t, o.Dir)
			if n := len(all); all[n-2].Note != alarms[0] || all[n-2].Event != approver.EventAlarm || all[n-1].Note != "after" {
				t.Errorf("last records %+v", all[n-2:])
			}
		})
	}
}

func TestSideFilesDoNotCollide(t *testing.T) {
	o, _, content := crashed(t)
	writeFile(t, filepath.Join(o.Dir, activeName), append(bytes.Clone(content), "x"...))
	writeFile(t, filepath.Join(o.Dir, "audit-7.torn"), []byte("earlier"))
	open(t, o)
	if got := string(readFile(t, filepath.Join(o.Dir, "audit-7.torn"))); got != "earlier" {
		t.Errorf("the earlier side file holds %q", got)
	}
	if got := string(readFile(t, filepath.Join(o.Dir, "audit-7-2.torn"))); got != "x" {
		t.Errorf("the new side file holds %q", got)
	}
}

// What no crash does stays where it is, for Verify to name, and alarms.
func TestRecoverLeavesTampering(t *testing.T) {
	o, keys, content := crashed(t)
	ls := split(content) // record, checkpoint, 4 records
	for name, tt := range map[string]struct {
		file []byte
		want string
		line int
	}{
		"a line is missing":     {join(ls[0], ls[1], ls[2], ls[4], ls[5]), "does not follow", 4},
		"a line is there twice": {join(ls[0], ls[1], ls[2], ls[2], ls[3]), "does not follow", 4},
		"edited before the checkpoint": {join(bytes.Replace(ls[0], []byte("note"), []byte("nose"), 1), ls[1], ls[2]),
			"was changed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Dir = t.TempDir()
			writeFile(t, filepath.Join(o.Dir, activeName), tt.file)
			l := open(t, o)
			if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "the log is broken at audit.jsonl:") ||
				!strings.Contains(a[0], tt.want) {
				t.Errorf("alarms %q", a)
			}
			write(t, l, 2)
			closeLog(t, l)
			if got := readFile(t, filepath.Join(o.Dir, activeName)); !bytes.HasPrefix(got, tt.file) {
				t.Error("the evidence was touched")
			}
			r, err := Verify(t.Context(), []string{o.Dir}, keys, nil)
			var b *BreakError
			switch {
			case err == nil && len(r.Broken) == 1 && r.Losses.Count == 1: // the alarm names it
				b = &r.Broken[0]
			default:
				t.Fatalf("%v, %+v", err, r)
			}
			if b.Line != tt.line {
				t.Errorf("%v, want line %d", b, tt.line)
			}
		})
	}
}

func TestNewKeyAlarms(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 2)
	old := o.Key
	var more Keys
	o.Key, more = testKey(t)
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], o.Key.ID()) || !strings.Contains(a[0], old.ID()) {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	if b := wantBreak(t, o.Dir, keys, nil); b.Kind != UnknownKey {
		t.Errorf("with the old key alone: %v", b)
	}
	keys[o.Key.ID()] = more[o.Key.ID()]
	if r := mustVerify(t, o, keys, nil); len(r.KeyIDs) != 2 {
		t.Errorf("report %+v", r)
	}
}

func TestBrokenFullFileAlarms(t *testing.T) {
	o, _ := options(t)
	o.MaxSize = 1700
	newLog(t, o, 12)
	files, err := rotated(o.Dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	last := files[len(files)-1].path
	b := readFile(t, last)
	writeFile(t, last, b[:len(b)-10])
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "at the end of "+filepath.Base(last)) {
		t.Errorf("alarms %q", a)
	}
	record(t, l, approver.Record{Event: approver.EventStarted})
}

const (
	childDir = "APPROVER_AUDIT_TEST_DIR"
	childKey = "APPROVER_AUDIT_TEST_KEY"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := writeUntilKilled(dir, os.Getenv(childKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeUntilKilled records with many writers and prints each acknowledged hash.
func writeUntilKilled(dir, keyPath string) error {
	key, err := LoadOrCreateKey(keyPath)
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := Open(ctx, Options{Dir: dir, ID: "test", Key: key, MaxSize: 30_000, CheckpointEvery: 20})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				hash, err := l.Record(ctx, approver.Record{
					Event: approver.EventApproved, Note: fmt.Sprintf("%d/%d", w, i), Call: shell(strings.Repeat("x", i%700)),
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				fmt.Println(hash)
			}
		})
	}
	wg.Wait()
	return nil
}

// A writer is killed in the middle of its work, again and again, on one log. No
// acknowledged record may be missing, and the chain must hold.
func TestKilledWriterLosesNothing(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	keyPath := filepath.Join(t.TempDir(), "audit.key")
	key, err := LoadOrCreateKey(keyPath)
	must(t, err)
	o := Options{Dir: t.TempDir(), ID: "test", Key: key}
	acknowledged := map[string]bool{}
	for round := range 6 {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), childDir+"="+o.Dir, childKey+"="+keyPath)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		r := bufio.NewReader(out)
		for n := 0; ; n++ {
			hash, err := r.ReadString('\n')
			if err != nil {
				break // the last one may be cut: it was not read, so it does not count
			}
			acknowledged[strings.TrimSpace(hash)] = true
			if n == 40+round*37 {
				if err := cmd.Process.Kill(); err != nil { // SIGKILL
					t.Fatal(err)
				}
			}
		}
		_, _ = io.Copy(io.Discard, r)
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("round %d: the child was not killed: %v", round, err)
		}
	}
	l := open(t, o)
	record(t, l, approver.Record{Event: approver.EventStarted})
	closeLog(t, l)
	r := mustVerify(t, o, Keys{key.ID(): key.Public()}, nil)
	have := map[string]bool{}
	for _, line := range records(t, o.Dir) {
		have[line.Hash] = true
	}
	for hash := range acknowledged {
		if !have[hash] {
			t.Errorf("acknowledged record %s is lost", hash)
		}
	}
	if len(acknowledged) < 6*40 || r.Files < 3 {
		t.Errorf("%d acknowledged records in %d files: the test did too little", len(acknowledged), r.Files)
	}
}

func TestHeadKeeper(t *testing.T) {
	ctx := t.Context()
	head := func(seq uint64) Head { return Head{Log: "test", Seq: seq, Hash: strings.Repeat("a", hashLength)} }
	kv := newMemory()
	k := headKeeper{kv: kv, log: "test"}
	put := func(seq uint64) error { return k.put(ctx, head(seq)) }
	want := func(seq uint64) {
		t.Helper()
		if got, err := ReadHead(ctx, kv, "test"); err != nil || got.Seq != seq {
			t.Errorf("stored head %+v, %v, want seq %d", got, err, seq)
		}
	}
	must(t, put(3))
	want(3)
	if err := put(3); err != nil || kv.puts != 1 {
		t.Errorf("the same head was written again: %v, %d puts", err, kv.puts)
	}
	// Lost, then written with an answer that is lost, then again: never an alarm.
	boom := fmt.Errorf("boom")
	kv.fail = func(n int) (lost, ambiguous error) {
		switch n {
		case 2:
			return boom, nil
		case 3:
			return nil, boom
		}
		return nil, nil
	}
	for _, seq := range []uint64{4, 5} {
		if err := put(seq); err == nil {
			t.Error("a failed put was not reported")
		}
	}
	want(4)
	if err := put(6); err != nil {
		t.Errorf("put after an ambiguous error: %v", err)
	}
	want(6)
	// Somebody else writes.
	kv.records[approver.Key(headKind, "test")] = memoryRecord{[]byte("{}"), "foreign"}
	if err := put(7); err == nil || !strings.Contains(err.Error(), "two logs share one id") {
		t.Errorf("put over a foreign head: %v", err)
	}
	if err := put(7); err != nil {
		t.Errorf("the next put: %v", err)
	}
	want(7)
}

// The story: Redis fails over to a replica that had not heard of the last heads.
// What is in the store then is our own, only older: nobody tampered with it, so
// there is no alarm, and the present head is written again.
func TestAHeadThatAFailOverTookBack(t *testing.T) {
	kv := newMemory()
	k := headKeeper{kv: kv, log: "test"}
	key := approver.Key(headKind, "test")
	head := func(seq uint64) Head { return Head{Log: "test", Seq: seq, Hash: strings.Repeat("a", hashLength)} }
	var old memoryRecord
	for seq := range uint64(5) {
		must(t, k.put(t.Context(), head(seq+1)))
		if seq == 2 {
			old = kv.records[key]
		}
	}
	kv.records[key] = old
	if err := k.put(t.Context(), head(6)); err != nil {
		t.Errorf("after a fail-over: %v", err)
	}
	if h, err := ReadHead(t.Context(), kv, "test"); err != nil || h.Seq != 6 {
		t.Errorf("the store has %+v, %v", h, err)
	}
	delete(kv.records, key)
	if err := k.put(t.Context(), head(7)); err != errForeign {
		t.Errorf("a store that forgot: %v", err)
	}
}

func TestForeignHeadAlarms(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV = kv
	l := open(t, o)
	write(t, l, 1)
	waitFor(t, func() bool { h, err := ReadHead(t.Context(), kv, o.ID); return err == nil && h.Seq == 2 })
	kv.mu.Lock()
	kv.records[approver.Key(headKind, o.ID)] = memoryRecord{[]byte("{}"), "foreign"}
	kv.mu.Unlock()
	write(t, l, 1)
	waitFor(t, func() bool { return len(l.Alarms()) == 1 })
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.Alarms != 1 {
		t.Errorf("report %+v", r)
	}
}

// The story: a daemon is killed while its last write of the head is on the way to
// Redis. The next daemon has read the head before that write arrives. What is in
// the store then names a line of this very log: nobody tampered with it.
func TestTheLastWordOfAKilledDaemonIsNoAlarm(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV = kv
	newLog(t, o, 7)
	key := approver.Key(headKind, o.ID)
	late := kv.records[key]
	late.rev = "of the one that was killed"
	l := open(t, o)
	kv.mu.Lock()
	kv.records[key] = late
	kv.mu.Unlock()
	write(t, l, 3)
	waitFor(t, func() bool { h, err := ReadHead(t.Context(), kv, o.ID); return err == nil && h == l.Head() })
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.Alarms != 0 {
		t.Errorf("report %+v", r)
	}
}

// The same head with a line that this log does not have is somebody else's.
func TestAHeadOfAnotherHistoryAlarms(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV = kv
	newLog(t, o, 7)
	key := approver.Key(headKind, o.ID)
	other := fmt.Sprintf(`{"log":"test","seq":3,"hash":%q}`, strings.Repeat("a", hashLength))
	l := open(t, o)
	kv.mu.Lock()
	kv.records[key] = memoryRecord{[]byte(other), "of another history"}
	kv.mu.Unlock()
	write(t, l, 1)
	waitFor(t, func() bool { return len(l.Alarms()) == 1 })
	closeLog(t, l)
	if r := mustVerify(t, o, keys, nil); r.Losses.Count != 1 {
		t.Errorf("report %+v", r)
	}
}

// The log has lines in files that were rotated away, too, and its beginning.
func TestHasFindsEveryLine(t *testing.T) {
	o, _ := options(t)
	o.MaxSize = 1700
	newLog(t, o, 12)
	l := open(t, o)
	var heads []Head
	var all []Line
	for _, r := range records(t, o.Dir) {
		heads, all = append(heads, Head{Log: o.ID, Seq: r.Seq, Hash: r.Hash}), append(all, r)
	}
	if files, err := rotated(o.Dir); err != nil || len(files) < 2 || len(all) < 12 {
		t.Fatal(files, err, len(all))
	}
	heads = append(heads, Head{Log: o.ID, Hash: genesis().String()})
	for _, h := range heads {
		if ok, err := logDir(l.o.Dir).hasLine(h); !ok || err != nil {
			t.Errorf("seq %d: %v, %v", h.Seq, ok, err)
		}
		h.Seq++
		if ok, err := logDir(l.o.Dir).hasLine(h); ok || err != nil {
			t.Errorf("seq %d with the hash of another line: %v, %v", h.Seq, ok, err)
		}
	}
}

// The story: the daemon is killed before its first line was told to the store.
// The store knows of the beginning, so nothing counts as lost.
func TestKilledBeforeTheFirstHead(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV = kv
	killed := open(t, o)
	kv.mu.Lock()
	kv.fail = func(int) (lost, ambiguous error) { return errors.New("away"), nil }
	kv.mu.Unlock()
	write(t, killed, 2)
	content := readFile(t, filepath.Join(o.Dir, activeName))
	_ = killed.Close(t.Context()) // the store is away
	kv.fail = nil
	o.Dir = t.TempDir()
	writeFile(t, filepath.Join(o.Dir, activeName), content)
	l := open(t, o)
	if a := l.Alarms(); len(a) != 0 {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
}

// The story: SIGKILL in the middle of a write that crosses a page leaves half a
// line. Nobody was told that it is recorded, and what the store vouches for is
// there: that is no loss.
func TestHalfALineOfAKilledWriteIsNoLoss(t *testing.T) {
	o, keys, content := crashed(t)
	ls := split(content)
	end := func(n int) Head {
		l, err := readLink(bytes.TrimSuffix(ls[n-1], []byte("\n")))
		must(t, err)
		return Head{Log: o.ID, Seq: l.seq, Hash: l.hash.String()}
	}
	for name, tt := range map[string]struct {
		torn   string
		head   Head
		losses uint64
	}{
		"half a line":                    {`{"seq":7,"ti`, end(6), 0},
		"the store is behind":            {`{"seq":7,"ti`, end(3), 0},
		"whole lines that are not sound": {"{}\n{}", end(6), 1},
		"the store knows the torn line": {`{"seq":7,"ti`,
			Head{Log: o.ID, Seq: 7, Hash: strings.Repeat("a", hashLength)}, 2},
		"the store knows what was before": {`{"seq":7,"ti`,
			Head{Log: o.ID, Seq: 6, Hash: strings.Repeat("a", hashLength)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Dir = t.TempDir()
			kv := newMemory()
			value, err := json.Marshal(tt.head)
			must(t, err)
			kv.records[approver.Key(headKind, o.ID)] = memoryRecord{value, "1"}
			o.KV = kv
			writeFile(t, filepath.Join(o.Dir, activeName), append(bytes.Clone(content), tt.torn...))
			l := open(t, o)
			write(t, l, 1)
			closeLog(t, l)
			if r := mustVerify(t, o, keys, nil); r.Losses.Count != tt.losses || r.Alarms == 0 {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestStoreThatForgotAlarms(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 2)
	o.KV = newMemory()
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "the store knows no end of this log") {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	l = open(t, o)
	if a := l.Alarms(); len(a) != 0 {
		t.Errorf("alarms %q the next time", a)
	}
	closeLog(t, l)
	// The log is gone, the store knows of it.
	o.Dir = t.TempDir()
	l = open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "the log ends at seq 0") {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	if _, err := ReadHead(t.Context(), o.KV, "unknown"); err == nil {
		t.Error("ReadHead of an unknown log succeeded")
	}
}

// The end of the log is rewritten between two starts, with the same length.
func TestRewrittenEndAlarms(t *testing.T) {
	o, _, content := crashed(t)
	kv := newMemory()
	o.KV = kv
	path := filepath.Join(o.Dir, activeName)
	writeFile(t, path, content)
	l := open(t, Options{Dir: o.Dir, ID: o.ID, Key: o.Key, CheckpointEvery: 100})
	must(t, l.Close(t.Context()))
	k := headKeeper{kv: kv, log: o.ID}
	if err := k.put(t.Context(), Head{Log: o.ID, Seq: 5, Hash: strings.Repeat("0", hashLength)}); err != nil {
		t.Fatal(err)
	}
	l = open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "the line with seq 5 is not the one that the store knows") {
		t.Errorf("alarms %q", a)
	}
}

// The store is away while the log goes on; the head follows when it is back.
func TestHeadFollowsLater(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	kv.fail = func(n int) (lost, ambiguous error) {
		if n < 3 {
			return fmt.Errorf("away"), nil
		}
		return nil, nil
	}
	o.KV = kv
	l := open(t, o)
	write(t, l, 4)
	want := l.Head()
	waitFor(t, func() bool { h, err := ReadHead(t.Context(), kv, o.ID); return err == nil && h == want })
	closeLog(t, l)
	head, err := ReadHead(t.Context(), kv, o.ID)
	must(t, err)
	mustVerify(t, o, keys, &head)
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not happen within 5 s")
}
