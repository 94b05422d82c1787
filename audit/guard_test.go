package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
)

// An assault is what somebody who may write to the log's folder does to it. content is
// of the active file.
type assault func(t *testing.T, dir, active string, content []byte)

func try(t *testing.T, errs ...error) {
	t.Helper()
	must(t, errors.Join(errs...))
}

// overwrite writes in place, without a new file.
func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	try(t, err)
	_, err = f.WriteAt(b, at)
	try(t, err, f.Close())
}

// withLines is content with its lines changed, and the rest of its size filled.
func withLines(content []byte, f func([][]byte) [][]byte) []byte {
	lines := bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	return bytes.Join(f(lines), nil)
}

var assaults = map[string]assault{
	"removed":                func(t *testing.T, _, active string, _ []byte) { try(t, os.Remove(active)) },
	"moved, as by logrotate": func(t *testing.T, _, active string, _ []byte) { try(t, os.Rename(active, active+".1")) },
	"cut to nothing":         func(t *testing.T, _, active string, _ []byte) { try(t, os.Truncate(active, 0)) },
	"cut in half": func(t *testing.T, _, active string,
		b []byte) {
		try(t, os.Truncate(active, int64(len(b)/2)))
	},
	"one byte cut off": func(t *testing.T, _, active string,
		b []byte) {
		try(t, os.Truncate(active, int64(len(b)-1)))
	},
	"the last line cut off": func(t *testing.T, _, active string, b []byte) { cutLines(t, active, b, 1) },
	"a link to nothing": func(t *testing.T, _, active string, _ []byte) {
		try(t, os.Remove(active), os.Symlink("/dev/null", active))
	},
	"a link to itself, moved": func(t *testing.T, dir, active string, _ []byte) {
		try(t, os.Rename(active, dir+"/x"), os.Symlink("x", active))
	},
	"a dangling link": func(t *testing.T, _, active string,
		_ []byte) {
		try(t, os.Remove(active), os.Symlink("gone", active))
	},
	"a folder": func(t *testing.T, _, active string,
		_ []byte) {
		try(t, os.Remove(active), os.Mkdir(active, 0o700))
	},
	"an empty file": func(t *testing.T, _, active string,
		_ []byte) {
		try(t, os.Remove(active))
		writeFile(t, active, nil)
	},
	"the same, copied": func(t *testing.T, _, active string,
		b []byte) {
		try(t, os.Remove(active))
		writeFile(t, active, b)
	},
	"an older copy": func(t *testing.T, _, active string, b []byte) {
		try(t, os.Remove(active))
		writeFile(t, active, withLines(b, func(l [][]byte) [][]byte { return l[:3] }))
	},
	"an older copy, in place": func(t *testing.T, _, active string, b []byte) {
		writeFile(t, active, withLines(b, func(l [][]byte) [][]byte { return l[:3] }))
	},
	"its beginning cut off": func(t *testing.T, _, active string, b []byte) {
		writeFile(t, active, withLines(b, func(l [][]byte) [][]byte { return l[4:] }))
	},
	"two lines swapped": func(t *testing.T, _, active string, b []byte) {
		overwrite(t, active, 0, withLines(b, func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l }))
	},
	"a word edited": func(t *testing.T, _, active string, b []byte) {
		overwrite(t, active, int64(bytes.Index(b, []byte("note 2"))), []byte("note 7"))
	},
	"edited, and the time set back": func(t *testing.T, _, active string, b []byte) {
		info, err := os.Stat(active)
		try(t, err)
		overwrite(t, active, int64(bytes.Index(b, []byte("note 2"))), []byte("note 7"))
		try(t, os.Chtimes(active, info.ModTime(), info.ModTime()))
	},
	"a line overwritten with zeros": func(t *testing.T, _, active string, b []byte) {
		overwrite(t, active, int64(bytes.IndexByte(b, '\n')+1), make([]byte, 50))
	},
	"a chain computed anew": func(t *testing.T, _, active string, b []byte) { overwrite(t, active, 0, forged(t, b)) },
	"a line appended": func(t *testing.T, _, active string, b []byte) {
		writeFile(t, active, append(b, `{"v":1,"event":"approved"}`+"\n"...))
	},
	"a sound line appended": func(t *testing.T, _, active string,
		b []byte) {
		writeFile(t, active, append(b, next(t, b, "test")...))
	},
	"the folder removed": func(t *testing.T, dir, _ string, _ []byte) { try(t, os.RemoveAll(dir)) },
	"the folder moved":   func(t *testing.T, dir, _ string, _ []byte) { try(t, os.Rename(dir, dir+".old")) },
	"an empty folder": func(t *testing.T, dir, _ string,
		_ []byte) {
		try(t, os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700))
	},
	"a copy of the folder": func(t *testing.T, dir, active string, b []byte) {
		try(t, os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700))
		writeFile(t, active, b)
	},
}

func cutLines(t *testing.T, active string, content []byte, n int) {
	t.Helper()
	writeFile(t, active, withLines(content, func(l [][]byte) [][]byte { return l[:len(l)-n] }))
}

// next is a line that follows content, as somebody without the key can make it.
func next(t *testing.T, content []byte, id string) []byte {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	last, err := readLink(lines[len(lines)-1])
	try(t, err)
	body := []byte(`{"v":1,"event":"approved","timestamp":"2026-03-01T12:00:00Z","eventType":"approved","note":"by Ada"}`)
	return seal(nil, body, id, &last.place)
}

// forged is content with a word changed in its first line and every hash made to fit.
func forged(t *testing.T, content []byte) (out []byte) {
	t.Helper()
	at := place{hash: genesis()}
	for line := range bytes.Lines(content) {
		body := line[:bytes.LastIndex(line, []byte(`,"id":"`))]
		out = seal(out, append(bytes.Replace(body, []byte("note 1"), []byte("note 9"), 1), '}'), "test", &at)
	}
	return out
}

// The story: somebody with write access to the audit's folder removed the log, cut it,
// put an older copy or a link to /dev/null in its place, or edited a line, while the
// daemon ran. It went on releasing calls, and status was content. Now the next record
// is refused, and nothing is recorded before every call is stopped until people act.
func TestALogThatIsChangedUnderTheDaemon(t *testing.T) {
	for name, attack := range assaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, keys := options(t)
			o.KV = newMemory()
			var stops atomic.Int32
			var works atomic.Bool
			works.Store(name != "removed" && name != "a word edited") // once the store is away at first
			o.Changed = func(context.Context, string) error {
				stops.Add(1)
				if !works.Load() {
					return errors.New("the store is away")
				}
				return nil
			}
			l := open(t, o)
			write(t, l, 9)
			time.Sleep(2 * headEvery) // the store has the head, and the file's time is another
			active := filepath.Join(o.Dir, activeName)
			attack(t, o.Dir, active, readFile(t, active))
			if hash, err := l.Record(t.Context(), approver.Record{Event: approver.EventReleased}); !errors.Is(err, ErrFailed) ||
				hash != "" {
				t.Fatalf("a release after it: %q, %v", hash, err)
			}
			if info, err := os.Lstat(active); err == nil && !info.Mode().IsRegular() {
				try(t, os.Remove(active)) // the operator moves it away
			}
			if !works.Load() {
				time.Sleep(3 * healFirst / 2)
				if stops.Load() == 0 || l.Err() == nil {
					t.Fatalf("%d tries to stop every call, failed with %v", stops.Load(), l.Err())
				}
				works.Store(true)
			}
			for end := time.Now().Add(10 * time.Second); l.Err() != nil && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			record(t, l, note("again"))
			record(t, l, approver.Record{Event: approver.EventFrozen})
			if stops.Load() == 0 {
				t.Error("nobody stopped every call")
			}
			if a := l.Alarms(); len(a) == 0 || !strings.Contains(a[0], "was changed while it was written") {
				t.Errorf("alarms %q", a)
			}
			closeLog(t, l)
			head, err := ReadHead(t.Context(), o.KV, o.ID)
			try(t, err)
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, &head); err == nil && r.Losses.Count == 0 {
				t.Error("audit verify finds nothing")
			}
			// It was told, and people know: the next start does not stop calls again.
			next := open(t, o)
			if found := next.Opened(); found.Lost != "" {
				t.Errorf("the next start: %q", found.Lost)
			}
			closeLog(t, next)
		})
	}
}

// A look at an idle log finds it too, so that status tells before a call comes.
func TestAnIdleLogIsLookedAt(t *testing.T) {
	t.Parallel()
	o, _ := options(t)
	l := open(t, o)
	write(t, l, 3)
	try(t, os.Remove(filepath.Join(o.Dir, activeName)))
	time.Sleep(guardEvery + time.Second/2)
	if err := l.Err(); !errors.Is(err, ErrChanged) {
		t.Errorf("Err: %v", err)
	}
	time.Sleep(2 * healFirst)
	if err := l.Err(); !errors.Is(err, ErrChanged) { // Options.Changed is nil
		t.Errorf("it healed although nobody could stop calls: %v", err)
	}
}

// What administrators and backups do to a log changes no line of it, and stops nothing.
func TestHonestTouchesAreNoChange(t *testing.T) {
	for name, touch := range map[string]assault{
		"chmod":        func(t *testing.T, _, active string, _ []byte) { try(t, os.Chmod(active, 0o640)) },
		"touch":        func(t *testing.T, _, active string, _ []byte) { try(t, os.Chtimes(active, time.Now(), time.Now())) },
		"another name": func(t *testing.T, _, active string, _ []byte) { try(t, os.Link(active, active+".snapshot")) },
		"name and back": func(t *testing.T, _, active string, _ []byte) {
			try(t, os.Rename(active, active+"x"), os.Rename(active+"x", active))
		},
		"a copy": func(t *testing.T, _, active string, b []byte) { writeFile(t, active+".copy", b) },
		"read":   func(t *testing.T, _, active string, _ []byte) { readFile(t, active) },
		"opened": func(t *testing.T, _, active string, _ []byte) { overwrite(t, active, 0, nil) },
		"the same line": func(t *testing.T, _, active string,
			b []byte) {
			overwrite(t, active, 0, b[:bytes.IndexByte(b, '\n')])
		},
		"folder and back": func(t *testing.T, dir, _ string, _ []byte) {
			try(t, os.Rename(dir, dir+"x"), os.Rename(dir+"x", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, keys := options(t)
			o.MaxSize = 4000 // the touch comes in a file behind others
			l := open(t, o)
			write(t, l, 20)
			for range 2 {
				time.Sleep(20 * time.Millisecond)
				active := filepath.Join(o.Dir, activeName)
				_ = os.Remove(active + ".snapshot")
				touch(t, o.Dir, active, readFile(t, active))
				write(t, l, 1)
				time.Sleep(rereadEvery)
				write(t, l, 1)
			}
			closeLog(t, l)
			if r := mustVerify(t, o, keys, nil); r.Alarms != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The story: while the daemon did not run, somebody cut the log, took its beginning
// away, edited it, or wrote lines behind its end that say what they like, such as a yes
// of Ada's; the next start raised an alarm at most, and vouched for the lines. Now the
// store knows where the log ended, and that it ended there.
func TestALogThatIsChangedWhileTheDaemonIsAway(t *testing.T) {
	offline := map[string]assault{
		"nothing": func(*testing.T, string, string, []byte) {},
		"two sound lines appended": func(t *testing.T, _, active string, b []byte) {
			b = append(b, next(t, b, "test")...)
			writeFile(t, active, append(b, next(t, b, "test")...))
		},
		"a sound line in a file of its own": func(t *testing.T, dir, active string, b []byte) {
			try(t, os.Rename(active, filepath.Join(dir, rotatedName(1))))
			writeFile(t, active, next(t, b, "test"))
		},
		"a sound line before an empty file": func(t *testing.T, dir, active string, b []byte) {
			writeFile(t, active, append(b, next(t, b, "test")...))
			try(t, os.Rename(active, filepath.Join(dir, rotatedName(1))))
			writeFile(t, active, nil)
		},
		"all but the last lines removed": func(t *testing.T, _, active string, b []byte) {
			writeFile(t, active, withLines(b, func(l [][]byte) [][]byte { return l[len(l)-2:] }))
		},
	}
	honest := []string{"nothing", "the same, copied", "a copy of the folder"}
	for name, attack := range assaults {
		if name != "a folder" && !strings.Contains(name, "link") { // the start refuses those
			offline[name] = attack
		}
	}
	for name, attack := range offline {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(t)
			o.KV = newMemory()
			o.Hold = true
			l := open(t, o)
			l.Accept()
			write(t, l, 9)
			closeLog(t, l)
			active := filepath.Join(o.Dir, activeName)
			attack(t, o.Dir, active, readFile(t, active))
			for n := range 2 { // killed before anybody could act, it is found again
				l := open(t, o)
				if lost := l.Opened().Lost + l.Opened().Older; (lost == "") != slices.Contains(honest, name) {
					t.Errorf("start %d: %q", n, lost)
				}
				closeLog(t, l)
			}
			l = open(t, o)
			l.Accept()
			record(t, l, approver.Record{Event: approver.EventFrozen}) // people know
			closeLog(t, l)
			l = open(t, o)
			if lost := l.Opened().Lost + l.Opened().Older; lost != "" {
				t.Errorf("after it was judged: %q", lost)
			}
			closeLog(t, l)
		})
	}
}

// A daemon that is killed leaves lines that its store was not told of: they are its
// own, and stay, also right behind an end in order.
func TestLinesBehindTheStoresHeadOfAKilledDaemonStay(t *testing.T) {
	o, keys := options(t)
	kv := newMemory()
	o.KV = kv
	newLog(t, o, 5)
	for range 20 {
		killed := o
		killed.Dir = filepath.Join(t.TempDir(), "log")
		o.Hold = true // the store hears of nothing
		l := open(t, o)
		write(t, l, 2)
		try(t, os.CopyFS(killed.Dir, os.DirFS(o.Dir)))
		closeLog(t, l)
		o = killed
		l = open(t, o)
		if found := l.Opened(); found.Lost != "" || found.Seq < 2 {
			t.Fatalf("after a kill: %+v", found)
		}
		closeLog(t, l)
	}
	if r := mustVerify(t, o, keys, nil); r.Losses.Count != 0 || r.Records != 5+20*2 {
		t.Errorf("%+v", r)
	}
}
