package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A disk is the file system behind a log: while cause is set, nothing becomes
// durable.
type disk struct {
	mu    sync.Mutex
	cause error
	spoil func(*os.File) // what the first failed sync does to the file
	tries []time.Time    // of failed syncs
}

func (d *disk) sync(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cause == nil {
		return nil
	}
	d.tries = append(d.tries, time.Now())
	if d.spoil != nil {
		d.spoil(f)
		d.spoil = nil
	}
	return d.cause
}

// breaks makes every sync fail from now on; nil mends the disk.
func (d *disk) breaks(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cause = cause
}

// kinds are the notes of a log's records, or the kind for its own alarms.
func kinds(t *testing.T, o Options) (out []string) {
	t.Helper()
	for _, l := range records(t, o.Dir) {
		out = append(out, cmp.Or(l.Alarm, l.Note))
	}
	return out
}

func note(s string) approver.Record { return approver.Record{Event: approver.EventVerdict, Note: s} }

// The story: a disk is full for two minutes. Meanwhile every record is refused
// at once, so that callers deny. When there is room again, the daemon records
// again, without a restart, and says so once. What was refused never shows up.
func TestFullDiskHealsItself(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		t.Run(cause.Error(), func(t *testing.T) {
			o, keys := options(t)
			o.KV = newMemory()
			var said bytes.Buffer
			o.Log = slog.New(slog.NewTextHandler(&said, nil))
			synctest.Test(t, func(t *testing.T) {
				d := &disk{}
				o := o
				o.sync = d.sync
				l := open(t, o)
				record(t, l, note("before"))
				head := l.Head()
				d.breaks(cause)
				start := time.Now()
				_, err := l.Record(t.Context(), note("lost"))
				if !errors.Is(err, ErrFailed) || !errors.Is(err, cause) {
					t.Fatalf("Record on a broken disk: %v", err)
				}
				if cause == syscall.ENOSPC && !strings.Contains(err.Error(), "the disk is full: make room in") {
					t.Errorf("no hint in %v", err)
				}
				for time.Since(start) < 2*time.Minute {
					before := time.Now()
					if hash, err := l.Record(t.Context(), note("lost too")); !errors.Is(err, ErrFailed) || hash != "" ||
						time.Since(before) > 0 {
						t.Fatalf("after %v: Record = %q, %v, after %v", time.Since(start), hash, err, time.Since(before))
					}
					if !errors.Is(l.Err(), cause) || l.Head() != head {
						t.Fatalf("Err %v, head %+v, want the head %+v", l.Err(), l.Head(), head)
					}
					time.Sleep(500 * time.Millisecond)
				}
				d.breaks(nil)
				var after []int
				for _, at := range d.tries {
					after = append(after, int(at.Sub(start)/time.Second))
				}
				most, outage := healMost, "2m1s"
				want := []int{0, 1, 3, 7, 15, 31, 61, 91}
				if cause == syscall.ENOSPC { // somebody makes room, and sees that it helps
					most, outage, want = healRoom, "2m0", nil
					for i := range 240 {
						want = append(want, i/2)
					}
					after = after[:min(len(after), 240)]
				}
				if !slices.Equal(after, want) {
					t.Errorf("tries after %v s, want %v", after, want)
				}
				time.Sleep(most)
				synctest.Wait()
				record(t, l, note("again"))
				if a := l.Alarms(); len(a) != 1 || !strings.HasPrefix(a[0], "nothing could be recorded for "+outage) ||
					!strings.Contains(a[0], ", and every call was denied (241 of them are not in the audit): ") {
					t.Errorf("alarms %q", a)
				}
				closeLog(t, l)
			})
			stored, err := ReadHead(t.Context(), o.KV, o.ID)
			must(t, err)
			mustVerify(t, o, keys, &stored)
			if got := kinds(t, o); !slices.Equal(got, []string{"before", outageAlarm, "again"}) {
				t.Errorf("records %q", got)
			}
			if out := said.String(); strings.Count(out, "\n") != 2 || !strings.Contains(out, "every call is denied until") ||
				!strings.Contains(out, "works again") {
				t.Errorf("said:\n%s", out)
			}
		})
	}
}

// A failed disk may keep what was written, whole or in part, and not let go of
// it either. Callers were told that it is not recorded, so it is not.
func TestWhatWasRefusedDoesNotComeBack(t *testing.T) {
	for name, spoil := range map[string]func(*os.File){
		"all of it stays": func(f *os.File) { _ = f.Close() },
		"half of it stays": func(f *os.File) {
			if info, err := f.Stat(); err == nil {
				_ = f.Truncate(info.Size() - 100)
			}
			_ = f.Close()
		},
	} {
		for _, first := range []int{0, 1, 4, 7} { // durable before; a file holds about 4
			t.Run(name, func(t *testing.T) {
				o, keys := options(t)
				o.MaxSize = 1700
				synctest.Test(t, func(t *testing.T) {
					d := &disk{}
					o := o
					o.sync = d.sync
					l := open(t, o)
					for range first {
						record(t, l, note("before"))
					}
					d.spoil = spoil
					d.breaks(syscall.EIO)
					if _, err := l.Record(t.Context(), note("lost")); !errors.Is(err, syscall.EIO) {
						t.Fatalf("Record: %v", err)
					}
					time.Sleep(5 * time.Second)
					d.breaks(nil)
					time.Sleep(5 * time.Second)
					for range 4 {
						record(t, l, note("again"))
					}
					closeLog(t, l)
				})
				mustVerify(t, o, keys, nil)
				want := slices.Concat(slices.Repeat([]string{"before"}, first), []string{outageAlarm},
					slices.Repeat([]string{"again"}, 4))
				if got := kinds(t, o); !slices.Equal(got, want) {
					t.Errorf("%d before: records %q", first, got)
				}
			})
		}
	}
}

// A rotation fails between its steps. Nothing durable may be lost with it.
func TestRotationHeals(t *testing.T) {
	t.Run("something is in the way", func(t *testing.T) {
		o, keys := options(t)
		o.MaxSize = 2000
		synctest.Test(t, func(t *testing.T) {
			l := open(t, o)
			obstacle := filepath.Join(o.Dir, rotatedName(1))
			writeFile(t, obstacle, []byte("mine"))
			for l.Err() == nil {
				_, _ = l.Record(t.Context(), note("full"))
			}
			if err := l.Err(); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "in the way") {
				t.Errorf("Err: %v", err)
			}
			must(t, os.Remove(obstacle))
			time.Sleep(2 * healFirst)
			synctest.Wait()
			for range 5 {
				record(t, l, note("again"))
			}
			closeLog(t, l)
		})
		if r := mustVerify(t, o, keys, nil); r.Files < 2 || r.Alarms != 1 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("the new file is there, empty, and the directory failed", func(t *testing.T) {
		o, keys := options(t)
		synctest.Test(t, func(t *testing.T) {
			l := open(t, o)
			write(t, l, 3)
			active := filepath.Join(o.Dir, activeName)
			must(t, os.Rename(active, filepath.Join(o.Dir, rotatedName(1))))
			writeFile(t, active, nil)
			synctest.Wait() // the writing goroutine waits, so its fields are ours
			l.active.first, l.active.size = l.Head().Seq+1, 0
			l.fail(nil, syscall.EIO)
			signal(l.queue.wake)
			time.Sleep(2 * healFirst)
			synctest.Wait()
			record(t, l, note("again"))
			closeLog(t, l)
		})
		if r := mustVerify(t, o, keys, nil); r.Records != 5 {
			t.Errorf("report %+v", r)
		}
	})
}

// While the log is down somebody cuts it. The alarm of that is not lost when the
// first try to heal fails.
func TestLossDuringAnOutageAlarms(t *testing.T) {
	o, keys := options(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		o := o
		o.sync = d.sync
		o.Changed = func(context.Context, string) error { return nil }
		l := open(t, o)
		write(t, l, 4)
		path := filepath.Join(o.Dir, activeName)
		content := readFile(t, path)
		d.breaks(syscall.EIO)
		_, _ = l.Record(t.Context(), note("lost"))
		writeFile(t, path, append(content[:len(content)-300], "x\n"...))
		time.Sleep(10 * time.Second)
		d.breaks(nil)
		time.Sleep(10 * time.Second)
		record(t, l, note("again"))
		closeLog(t, l)
	})
	mustVerify(t, o, keys, nil)
	if got := kinds(t, o); !slices.Equal(got, []string{"note 1", "note 2", "note 3", lossAlarm, outageAlarm, "again"}) {
		t.Errorf("records %q", got)
	}
	if side, err := filepath.Glob(filepath.Join(o.Dir, "*.torn")); err != nil || len(side) != 1 {
		t.Errorf("side files %q, %v", side, err)
	}
}

// A disk that fails again as soon as it was healed is not tried every second.
func TestFlappingDiskIsGivenTime(t *testing.T) {
	o, _ := options(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		o := o
		o.sync = d.sync
		l := open(t, o)
		var away []time.Duration
		for range 7 {
			d.breaks(syscall.EIO)
			_, _ = l.Record(t.Context(), note("lost"))
			d.breaks(nil)
			start := time.Now()
			for l.Err() != nil {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			away = append(away, time.Since(start)/time.Second)
		}
		if !slices.Equal(away, []time.Duration{1, 2, 4, 8, 16, 30, 30}) {
			t.Errorf("healed after %d s", away)
		}
		time.Sleep(time.Hour)
		d.breaks(syscall.EIO)
		_, _ = l.Record(t.Context(), note("lost"))
		d.breaks(nil)
		time.Sleep(healFirst + 1)
		synctest.Wait()
		record(t, l, note("again"))
		if n := len(l.Alarms()); n != 8 {
			t.Errorf("%d alarms", n)
		}
		for range 2 * maxAlarms {
			if err := l.alarm(t.Context(), alarm{outageAlarm, "x", Part{}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(l.Alarms()); n != maxAlarms {
			t.Errorf("%d alarms are kept in memory", n)
		}
		closeLog(t, l)
	})
}

func TestCloseDoesNotWaitForHealing(t *testing.T) {
	o, _ := options(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		o := o
		o.sync = d.sync
		l := open(t, o)
		d.breaks(syscall.EIO)
		_, _ = l.Record(t.Context(), note("lost"))
		time.Sleep(20 * time.Second) // in the middle of a wait
		start := time.Now()
		if err := l.Close(context.Background()); !errors.Is(err, ErrFailed) || time.Since(start) > 0 {
			t.Errorf("Close of a failed log must say so, at once: %v, after %v", err, time.Since(start))
		}
		if _, err := l.Record(t.Context(), note("x")); !errors.Is(err, ErrClosed) {
			t.Errorf("Record: %v", err)
		}
	})
}

// The story: a log is cut, and the daemon starts on it and dies before its alarm
// is durable. The next start must still know: the store may not hear of the new
// end before.
func TestAlarmComesBeforeTheNewEnd(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery, o.KV = 100, newMemory()
	newLog(t, o, 8)
	before, err := ReadHead(t.Context(), o.KV, o.ID)
	must(t, err)
	ls := lines(t, o)
	writeFile(t, filepath.Join(o.Dir, activeName), join(ls[:5]...)) // ends unsigned
	var syncs atomic.Int64
	dying := o
	dying.sync = func(*os.File) error {
		if syncs.Add(1) == 2 { // the first is that of the repaired end
			return syscall.EIO
		}
		return nil
	}
	if l, err := Open(t.Context(), dying); err == nil {
		_ = l.Close(t.Context())
		t.Fatal("Open did not fail")
	}
	if head, err := ReadHead(t.Context(), o.KV, o.ID); err != nil || head != before {
		t.Errorf("the store knows %+v, %v, want %+v", head, err, before)
	}
	l := open(t, o)
	if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], "the last 5 lines are gone") {
		t.Errorf("alarms %q", a)
	}
	closeLog(t, l)
	mustVerify(t, o, keys, nil)
}
