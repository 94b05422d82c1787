package sqlitestore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// spoil changes one byte of the page on which a record's value has its end.
func spoil(t *testing.T, path, value string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, []byte(value))
	if at < 0 {
		t.Fatal("the value is not in the file")
	}
	b[at] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// One record cannot be read. The others can, are listed, and can be written, together with it,
// too; nobody gets it, and nothing is written over it. A command removes it.
func TestOneUnreadableRecordHidesNoOther(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	due := time.Now().Add(time.Hour)
	revs := map[string]approver.Rev{}
	key := func(i int) string { return approver.Key(fmt.Sprint("r", i), "x") } // one shard
	for i := range 20 {
		revs[key(i)] = approver.NewRev()
		value := strings.Repeat("v", 6000) + fmt.Sprintf("end of %02d", i)
		if err := s.Put(t.Context(), key(i), []byte(value), "", revs[key(i)], due, due); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	spoil(t, path, "end of 07")
	if err := CheckFile(path); err != nil {
		t.Errorf("CheckFile: %v", err)
	}
	if err := CheckRecords(path); err == nil ||
		!strings.Contains(err.Error(), key(7)+" cannot be read, and approver store drop") ||
		strings.Count(err.Error(), "cannot be read") != 1 {
		t.Errorf("CheckRecords: %v", err)
	}
	s = openFor(t, path)
	if _, _, err := s.Get(t.Context(), key(7)); !errors.Is(err, approver.ErrTampered) ||
		!strings.Contains(err.Error(), "approver store drop removes it while the daemon is stopped") {
		t.Errorf("it is read: %v", err)
	}
	var writes []approver.Write
	for i := range 20 {
		writes = append(writes, approver.Write{Key: key(i), Value: []byte("new"), Prev: revs[key(i)], Next: approver.NewRev(),
			Due: due, KeepUntil: due})
	}
	for i, err := range s.PutAll(t.Context(), writes) {
		if (i == 7) != errors.Is(err, approver.ErrTampered) || i != 7 && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	for i := range 20 {
		if i != 7 {
			wantValue(t, s, key(i), "new")
		}
	}
	if keys, err := s.Scheduled(t.Context(), approver.ShardOf("x"), 100); err != nil || len(keys) != 20 {
		t.Errorf("%d are listed, %v", len(keys), err)
	}
	if err := Drop(path, key(7)); !errors.Is(err, ErrLocked) {
		t.Errorf("under a running daemon: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lost, err := Damaged(path)
	if err != nil || len(lost) != 1 || lost[0].Key != key(7) {
		t.Fatalf("got %v, %v", lost, err)
	}
	if err := Drop(path, key(8)); err == nil || !strings.Contains(err.Error(), "is no record that cannot be read") {
		t.Errorf("one that can be read: %v", err)
	}
	if err := Drop(path, key(7)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(CheckFile(path), CheckRecords(path)); err != nil {
		t.Error(err)
	}
	s = openFor(t, path)
	if _, _, err := s.Get(t.Context(), key(7)); !errors.Is(err, approver.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	for i := range 20 {
		if i != 7 {
			wantValue(t, s, key(i), "new")
		}
	}
	checkFile(t, s)
}

// A record that is over and cannot be read keeps no other from being forgotten.
func TestAnUnreadableRecordIsNotForgotten(t *testing.T) {
	path := newPath(t)
	w := &wall{at: time.Now()}
	s, err := openWith(path, time.Hour, w.now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		value := strings.Repeat("v", 6000) + fmt.Sprintf("end of %02d", i)
		end := w.at.Add(time.Duration(i+1) * time.Second)
		if err := s.Put(t.Context(), approver.Key("r", fmt.Sprint(i)), []byte(value), "", approver.NewRev(), end,
			end); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	spoil(t, path, "end of 00")
	w.at = w.at.Add(time.Hour)
	if s, err = openWith(path, time.Hour, w.now); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 4 {
		mustPut(t, s, approver.Key("new", fmt.Sprint(i)), "v", "")
	}
	if n := len(column(t, s, `SELECT id FROM records`)); n != 4+1 {
		t.Errorf("%d records, want the new ones and the unreadable one", n)
	}
}

// A crash leaves the log, and then a bit of it flips. SQLite alone would drop all commits behind
// it without a word. Now the store is refused, or only the last commit is gone: that one cannot be
// told from one that the crash cut short.
func TestAFlippedBitInTheLogIsFound(t *testing.T) {
	const n = 12
	path := newPath(t)
	s := openFor(t, path)
	for i := range n {
		mustPut(t, s, approver.Key("r", fmt.Sprint(i)), strings.Repeat("v", 2000*i), "")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	refused, last := 0, 0
	written := len(bytes.TrimRight(log, "\x00")) // behind it is room
	for range 200 {
		at, bit := random.IntN(written), byte(1)<<random.IntN(8)
		b := bytes.Clone(log)
		b[at] ^= bit
		path := newPath(t)
		if err := errors.Join(os.WriteFile(path, file, 0o600), os.WriteFile(path+"-wal", b, 0o600)); err != nil {
			t.Fatal(err)
		}
		checked := CheckFile(path)
		s, err := Open(Config{Path: path}, quiet())
		if (checked == nil) != (err == nil) {
			t.Errorf("CheckFile: %v, Open: %v", checked, err)
		}
		if err != nil {
			if refused++; !strings.Contains(err.Error(), "-wal is damaged") {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		for i := range n {
			switch _, _, err := s.Get(t.Context(), approver.Key("r", fmt.Sprint(i))); {
			case err != nil && i < n-1:
				t.Errorf("byte %d, bit %08b: %d of %d: %v", at, bit, i, n, err)
			case err != nil:
				last++
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("of 200 flips, %d were refused, and %d took the last commit away", refused, last)
	if refused < 100 {
		t.Error("the flips show nothing")
	}
}

// Somebody puts a former copy of the file beside a log that belongs to the present one. SQLite
// would make one of the two; the store notices what does not fit.
func TestACopyBesideALogOfAnotherTime(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	due := time.Now().Add(time.Hour)
	put := func(from, to int) {
		for i := from; i < to; i++ {
			if err := s.Put(t.Context(), approver.Key("r", fmt.Sprint(i)), bytes.Repeat([]byte{byte(i)}, 3000), "",
				approver.NewRev(), due, due); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = openFor(t, path)
	put(50, 400) // and checkpoints
	s.checkpoints.moving.Lock()
	_, _, err = s.checkpoints.conn.WALCheckpoint("main", 1)
	s.checkpoints.moving.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	put(400, 420)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	other := newPath(t)
	if err := errors.Join(os.WriteFile(other, old, 0o600), os.WriteFile(other+"-wal", log, 0o600)); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(Config{Path: other}, quiet()); err == nil {
		t.Error("it is not refused")
		_ = s.Close()
	} else if !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
}

// One flipped bit of the file once took 30 open requests, or a freeze, away without a
// word, or ended the daemon with a panic at each start. Now the file is refused, or each
// read and write says what is wrong, and no record goes missing in silence.
func TestNoFlippedBitLosesARecordInSilence(t *testing.T) {
	const n = 30
	path := newPath(t)
	s := openFor(t, path)
	due := time.Now().Add(time.Hour)
	for i := range n {
		if err := s.Put(t.Context(), approver.Key("req", fmt.Sprint(i)), bytes.Repeat([]byte{'v'}, 100+i), "",
			approver.NewRev(), due, due.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	flips, refused, silent := 80, 0, 0
	if testing.Short() {
		flips = 30
	}
	tried, found := 0, 0
	for ; tried < flips || (refused == 0 || refused == tried) && tried < 20*flips; tried++ {
		at, bit := random.IntN(len(good)), byte(1)<<random.IntN(8)
		b := bytes.Clone(good)
		b[at] ^= bit
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Path: path}, quiet())
		if err != nil {
			refused++
			continue
		}
		if n := len(unreadables(t, s)); n > 0 {
			found++
		} else {
			t.Errorf("byte %d, bit %08b: nothing is found", at, bit)
		}
		if lost := missing(t, s, n); lost != "" {
			silent++
			t.Errorf("byte %d, bit %08b: %s", at, bit, lost)
		}
		_ = s.Put(t.Context(), approver.Key("req", "new"), []byte("v"), "", approver.NewRev(), due, due.Add(time.Hour))
		_ = s.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d flips: %d refused at the start, %d with a record that is named, %d lost in silence", tried, refused,
		found, silent)
	if refused == 0 || refused == tried {
		t.Error("the flips show nothing")
	}
}

// unreadables are the records that cannot be read.
func unreadables(t *testing.T, s *Store) (lost []Unreadable) {
	t.Helper()
	err := s.view(t.Context(), nil, func(c *conn) (err error) { lost, err = complete(c); return err })
	if err != nil {
		t.Error(err)
	}
	return lost
}

// missing says which of n records is gone without an error.
func missing(t *testing.T, s *Store, n int) string {
	listed := map[string]bool{}
	for shard := range approver.Shards {
		keys, err := s.Scheduled(t.Context(), shard, 1000)
		if err != nil {
			return ""
		}
		for _, key := range keys {
			listed[key] = true
		}
	}
	for i := range n {
		key := approver.Key("req", fmt.Sprint(i))
		if _, _, err := s.Get(t.Context(), key); errors.Is(err, approver.ErrNotFound) {
			return key + " is not found"
		} else if err == nil && !listed[key] {
			return key + " is in no list"
		}
	}
	return ""
}
