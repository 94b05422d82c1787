package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// fullAfter lets what is in the log become a full file, with others behind it, and returns
// the paths of all full files.
func fullAfter(t *testing.T, o Options) (paths []string) {
	t.Helper()
	o.MaxSize = 2000
	l := open(t, o)
	if l.Opened().Lost != "" || len(l.Alarms()) > 0 {
		t.Fatalf("the log that people accepted: %+v, %q", l.Opened(), l.Alarms())
	}
	write(t, l, 40)
	closeLog(t, l)
	full, err := rotated(o.Dir)
	if err != nil || len(full) < 4 {
		t.Fatalf("%d full files, %v", len(full), err)
	}
	for _, s := range full {
		paths = append(paths, s.path)
	}
	return paths
}

// The story: the accepted break was in a file that became full meanwhile, where no start
// looks. Whatever else is edited there, verify says so in spite of the accepted alarm.
func TestAnAcceptedBreakInAFullFileCoversNothingElse(t *testing.T) {
	for name, edit := range later(t) {
		t.Run(name, func(t *testing.T) {
			o, keys, _ := accepted(t)
			first := fullAfter(t, o)[0]
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); err != nil || len(r.Broken) != 1 {
				t.Fatalf("before: %v, %+v", err, r.Broken)
			}
			was := readFile(t, first)
			ls := bytes.SplitAfter(bytes.TrimSuffix(was, []byte("\n")), []byte("\n"))
			ls[len(ls)-1] = append(bytes.Clone(ls[len(ls)-1]), '\n')
			now := bytes.Join(edit(ls), nil)
			if bytes.Equal(now, was) {
				t.Fatal("nothing is edited")
			}
			writeFile(t, first, now)
			var b *BreakError
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) {
				t.Errorf("verify: %v, %+v", err, r)
			}
		})
	}
}

// Full files are taken away, swapped, cut and put in one another's place, beside an accepted
// break: verify says so each time.
func TestFullFilesBesideAnAcceptedBreak(t *testing.T) {
	cut := func(which, by int) func(*testing.T, []string) {
		return func(t *testing.T, f []string) {
			ls := bytes.SplitAfter(readFile(t, f[(which+len(f))%len(f)]), []byte("\n"))
			writeFile(t, f[(which+len(f))%len(f)], bytes.Join(ls[:max(len(ls)-1-by, 0)], nil))
		}
	}
	remove := func(which ...int) func(*testing.T, []string) {
		return func(t *testing.T, f []string) {
			for _, n := range which {
				must(t, os.Remove(f[(n+len(f))%len(f)]))
			}
		}
	}
	swap := func(i, j int) func(*testing.T, []string) {
		return func(t *testing.T, f []string) {
			j := (j + len(f)) % len(f)
			a, b := readFile(t, f[i]), readFile(t, f[j])
			writeFile(t, f[i], b)
			writeFile(t, f[j], a)
		}
	}
	for name, attack := range map[string]func(t *testing.T, full []string){
		"one in the middle removed": remove(1), "two in the middle removed": remove(1, 2), "the newest removed": remove(-1),
		"the oldest removed": remove(0), "the two oldest removed": remove(0, 1), "two swapped": swap(1, 2),
		"first and last swapped":   swap(0, -1),
		"the newest cut by a line": cut(-1, 1), "the newest cut by five": cut(-1, 5), "one in the middle cut": cut(1, 1),
		"the one with the break cut": cut(0, 1),
		"one over another":           func(t *testing.T, f []string) { writeFile(t, f[1], readFile(t, f[2])) },
		"the newest emptied": func(t *testing.T, f []string) {
			writeFile(t, f[len(f)-1], nil)
		},
		"one emptied": func(t *testing.T, f []string) { writeFile(t, f[1], nil) },
		"the newest torn": func(t *testing.T, f []string) {
			b := readFile(t, f[len(f)-1])
			writeFile(t, f[len(f)-1], b[:len(b)-40])
		},
		"a line edited": func(t *testing.T, f []string) {
			writeFile(t, f[2], bytes.Replace(readFile(t, f[2]), []byte("note"), []byte("nose"), 1))
		},
		"one renamed": func(t *testing.T, f []string) { must(t, os.Rename(f[1], f[1]+".bak")) },
		"the accepted line, forged, in another file": func(t *testing.T, f []string) {
			ls := bytes.SplitAfter(readFile(t, f[2]), []byte("\n"))
			ls[1] = forgedLine(5, genesis(), `{"v":1,"event":"verdict","note":"forged"}`)
			writeFile(t, f[2], bytes.Join(ls, nil))
		},
		"the broken part in another file": func(t *testing.T, f []string) {
			part := bytes.SplitAfter(readFile(t, f[0]), []byte("\n"))[4:8]
			ls := bytes.SplitAfter(readFile(t, f[2]), []byte("\n"))
			writeFile(t, f[2], bytes.Join(append(append(ls[:1:1], part...), ls[1:]...), nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, keys, _ := accepted(t)
			full := fullAfter(t, o)
			attack(t, full)
			var b *BreakError
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) {
				t.Errorf("verify: %v, %+v", err, r)
			}
		})
	}
}

// The story: the edited line was the first of its file. People accepted the alarm; when the
// file was full it got its name from the next line, verify missed a whole file for ever, and
// the next start said that the beginning was gone. The file keeps the number of the line
// that should be there.
func TestABreakInTheFirstLineOfAFile(t *testing.T) {
	for _, behind := range []bool{false, true} { // others
		o, keys := options(t)
		o.KV, o.MaxSize = newMemory(), 4000
		if behind {
			newLog(t, o, 20)
		} else {
			newLog(t, o, 3)
		}
		path := filepath.Join(o.Dir, activeName)
		writeFile(t, path, bytes.Replace(readFile(t, path), []byte("note"), []byte("nose"), 1))
		l := open(t, o)
		if l.Opened().Lost == "" || len(l.Alarms()) != 1 {
			t.Fatalf("it is not noticed: %+v, %q", l.Opened(), l.Alarms())
		}
		record(t, l, approver.Record{Event: approver.EventFrozen})
		closeLog(t, l)
		fullAfter(t, o)
		for range 2 {
			l = open(t, o)
			if l.Opened().Lost != "" || len(l.Alarms()) > 0 {
				t.Errorf("a restart: %+v, %q", l.Opened(), l.Alarms())
			}
			closeLog(t, l)
		}
		head, err := ReadHead(t.Context(), o.KV, o.ID)
		must(t, err)
		if r, err := Verify(t.Context(), []string{o.Dir}, keys, &head); err != nil || len(r.Broken) != 1 ||
			r.Losses.Count != 1 {
			t.Errorf("others before it: %v: verify: %v, %+v", behind, err, r)
		}
	}
}
