package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"approver.example"
)

// The story: one byte of the log was edited, which raised an alarm and froze everything.
// People looked into it and lifted the freeze, but verify stopped at that line for ever: it
// printed no number, and hid every alarm behind it. Now it goes on behind the next
// signature, and what an alarm names is accepted as that alarm. What no alarm names is
// broken as ever.
func TestABreakThatAnAlarmNames(t *testing.T) {
	type edit func(ls [][]byte) [][]byte
	word := func(n int) edit {
		return func(ls [][]byte) [][]byte {
			ls[n] = bytes.Replace(ls[n], []byte("note"), []byte("nose"), 1)
			return ls
		}
	}
	for name, tt := range map[string]struct {
		edit  edit
		parts int // broken parts, if not one
	}{
		"a word":         {edit: word(3)},
		"the first line": {edit: word(0)},
		"a checkpoint": {edit: func(ls [][]byte) [][]byte {
			ls[6] = bytes.Replace(ls[6], []byte("time"), []byte("tame"),
				1)
			return ls
		}},
		"no JSON":       {edit: func(ls [][]byte) [][]byte { ls[3] = append([]byte("x"), ls[3]...); return ls }},
		"cut in two":    {edit: func(ls [][]byte) [][]byte { ls[3][20] = '\n'; return ls }},
		"an empty line": {edit: func(ls [][]byte) [][]byte { ls[3] = append([]byte("\n"), ls[3]...); return ls }},
		"one is gone":   {edit: func(ls [][]byte) [][]byte { return append(ls[:3:3], ls[4:]...) }},
		"two are gone":  {edit: func(ls [][]byte) [][]byte { return append(ls[:3:3], ls[5:]...) }},
		"one is twice":  {edit: func(ls [][]byte) [][]byte { return append(ls[:4:4], ls[3:]...) }},
		"two changed places": {edit: func(ls [][]byte) [][]byte {
			ls[3], ls[4] = ls[4], ls[3]
			return ls
		}},
		"two in one part":  {edit: func(ls [][]byte) [][]byte { return word(4)(word(3)(ls)) }},
		"two far away":     {edit: func(ls [][]byte) [][]byte { return word(15)(word(3)(ls)) }, parts: 2},
		"zeros":            {edit: func(ls [][]byte) [][]byte { copy(ls[3], bytes.Repeat([]byte{0}, 30)); return ls }},
		"a line of before": {edit: func(ls [][]byte) [][]byte { ls[4] = bytes.Clone(ls[2]); return ls }},
	} {
		t.Run(name, func(t *testing.T) {
			o, keys := options(t)
			o.KV = newMemory()
			l := open(t, o)
			for range 18 {
				record(t, l, approver.Record{Event: approver.EventVerdict, Note: "note"})
			}
			closeLog(t, l)
			path := filepath.Join(o.Dir, activeName)
			text, err := os.ReadFile(path)
			must(t, err)
			ls := tt.edit(bytes.SplitAfter(text, []byte("\n")))
			must(t, os.WriteFile(path, bytes.Join(ls, nil), 0o600))
			var b *BreakError
			if _, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) {
				t.Fatalf("before an alarm: %v", err)
			}
			l = open(t, o)
			if l.Opened().Lost == "" {
				t.Error("nothing is frozen for it")
			}
			record(t, l, approver.Record{Event: approver.EventFrozen})
			closeLog(t, l)
			r, err := Verify(t.Context(), []string{o.Dir}, keys, nil)
			if err != nil || r.Losses.Count == 0 || len(r.Broken) != max(tt.parts, 1) || r.Losses.Newest[0].Seq == 0 {
				t.Fatalf("%v, broken %v, alarms %+v", err, r.Broken, r.Losses)
			}
			accepted := r.Losses.Newest[len(r.Losses.Newest)-1].Seq

			text, err = os.ReadFile(path) // again: nobody was told of this one
			must(t, err)
			again := bytes.Replace(text, []byte(`"event":"frozen"`), []byte(`"event":"frozem"`), 1)
			must(t, os.WriteFile(path, again, 0o600))
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) || b.Seq <= accepted ||
				r.Losses.Count == 0 {
				t.Errorf("a later edit: %v, %d alarms", err, r.Losses.Count)
			}
			said := bytes.LastIndex(text, []byte(brokenAt)) // and an alarm that names it without a signature
			forged := bytes.Clone(text)
			copy(forged[said:], "THE LOG")
			must(t, os.WriteFile(path, forged, 0o600))
			if _, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) {
				t.Errorf("the alarm itself was edited: %v", err)
			}
		})
	}
}

// Full files that were moved away are not missed, whichever they are: the newest alone was
// a freeze at the next start.
func TestFullFilesThatWereArchived(t *testing.T) {
	for name, keep := range map[string]func(i, n int) bool{
		"all":                func(int, int) bool { return false },
		"the newest":         func(i, n int) bool { return i < n-1 },
		"the oldest":         func(i, n int) bool { return i > 0 },
		"one of the middle":  func(i, n int) bool { return i != n/2 },
		"all but the oldest": func(i, _ int) bool { return i == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			o.KV, o.MaxSize = newMemory(), 4096
			l := open(t, o)
			for range 60 {
				record(t, l, approver.Record{Event: approver.EventVerdict, Note: "note"})
			}
			closeLog(t, l)
			full, err := rotated(o.Dir)
			if err != nil || len(full) < 4 {
				t.Fatalf("%d files, %v", len(full), err)
			}
			for i, f := range full {
				if !keep(i, len(full)) {
					must(t, os.Remove(f.path))
				}
			}
			l = open(t, o)
			if found := l.Opened(); found.Lost+found.Older != "" || len(l.Alarms()) > 0 {
				t.Errorf("%+v, %v", found, l.Alarms())
			}
		})
	}
}

// The story: root replaced the signing key with approver audit rotate-key. The new files
// were root's, and the daemon, which has a user of its own, did not start any more.
func TestANewKeyHasTheOwnerOfTheOld(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can write for others")
	}
	path := filepath.Join(t.TempDir(), "audit.key")
	if _, err := LoadOrCreateKey(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".pub"} {
		must(t, os.Chown(name, 61234, 61235))
	}
	must(t, os.Chmod(path+".pub", 0o640))
	for _, again := range []bool{false, true} {
		if again { // the list of public keys is made anew, as its key is
			must(t, os.Remove(path+".pub"))
		}
		if _, err := RotateKey(path); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{path: 0o600,
			path + ".pub": map[bool]os.FileMode{false: 0o640, true: 0o644}[again]} {
			info, err := os.Stat(name)
			must(t, err)
			if st := info.Sys().(*syscall.Stat_t); st.Uid != 61234 || st.Gid != 61235 || info.Mode().Perm() != mode {
				t.Errorf("%s is of %d:%d with %v", filepath.Base(name), st.Uid, st.Gid, info.Mode())
			}
		}
	}
}

// The calls of one card can be joined by argsHash, however their arguments are spelled.
func TestOneHashForOneCall(t *testing.T) {
	for _, same := range [][]string{
		{`{"command":"cd x && git push >log <<EOF"}`, `{"command":"cd x \u0026\u0026 git push \u003elog \u003c\u003cEOF"}`,
			"{ \"command\" :\n\t\"cd x && git push >log <<EOF\"}"},
		{`{"a":1}`, ` { "a" : 1 } `}, {`no JSON`}, {``},
	} {
		for _, s := range same {
			if argsHash([]byte(s)) != argsHash([]byte(same[0])) {
				t.Errorf("%s and %s differ", s, same[0])
			}
		}
	}
	if argsHash([]byte(`{"a":"x"}`)) == argsHash([]byte(`{"a":"x "}`)) || argsHash(nil) != "" {
		t.Error("another text has the same hash")
	}
}
