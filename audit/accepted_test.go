package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"approver.example"
)

// accepted is a stopped log of which one line was edited, which people looked into: the
// alarm names it, everything was frozen, and calls went on. ls are its lines.
func accepted(t *testing.T) (o Options, keys Keys, ls [][]byte) {
	t.Helper()
	o, keys = options(t)
	o.KV = newMemory()
	newLog(t, o, 30)
	path := filepath.Join(o.Dir, activeName)
	writeFile(t, path, bytes.Replace(readFile(t, path), []byte("note 4"), []byte("note X"), 1))
	l := open(t, o)
	if l.Opened().Lost == "" || len(l.Alarms()) != 1 {
		t.Fatalf("it is not noticed: %+v, %q", l.Opened(), l.Alarms())
	}
	record(t, l, approver.Record{Event: approver.EventFrozen})
	write(t, l, 14)
	closeLog(t, l)
	ls = lines(t, o)
	ls[len(ls)-1] = append(ls[len(ls)-1], '\n')
	return o, keys, ls
}

// forgedLine is a line that somebody without the key makes: it calls itself seq.
func forgedLine(seq uint64, prev digest, body string) []byte {
	at := place{seq - 1, prev}
	return seal(nil, []byte(body), "test", &at)
}

// at is the index of the line with a seq.
func at(ls [][]byte, seq uint64) int {
	return slices.IndexFunc(ls, func(line []byte) bool {
		l, err := readLink(bytes.TrimSuffix(line, []byte("\n")))
		return err == nil && l.seq == seq
	})
}

func linkOf(t *testing.T, line []byte) link {
	t.Helper()
	l, err := readLink(bytes.TrimSuffix(line, []byte("\n")))
	must(t, err)
	return l
}

// later are edits of a log that has an accepted break: the edited line has seq 5, and
// a signature with seq 8 ends the part.
func later(t *testing.T) map[string]func(ls [][]byte) [][]byte {
	const record = `{"v":1,"event":"verdict","note":"forged"}`
	part := func(ls [][]byte) string {
		i := slices.IndexFunc(ls, func(line []byte) bool { return bytes.Contains(line, []byte(`"broken":{`)) })
		line := ls[i][bytes.Index(ls[i], []byte(`"broken":{`)):]
		return string(line[:bytes.IndexByte(line, '}')+1])
	}
	// in the place of the lines from one seq up to, and without, another
	put := func(from, to uint64, with ...[]byte) func([][]byte) [][]byte {
		return func(ls [][]byte) [][]byte { return slices.Replace(ls, at(ls, from), at(ls, to), with...) }
	}
	word := func(seq uint64) func([][]byte) [][]byte {
		return func(ls [][]byte) [][]byte {
			i := at(ls, seq)
			ls[i] = bytes.Replace(ls[i], []byte("note"), []byte("nose"), 1)
			return ls
		}
	}
	checkpoints := func(ls [][]byte) (seqs []uint64) {
		for _, line := range ls {
			if l, err := readLink(bytes.TrimSuffix(line, []byte("\n"))); err == nil && l.checkpoint {
				seqs = append(seqs, l.seq)
			}
		}
		return seqs
	}
	// in the place of a signed part before the alarm, with what stands behind its own signature left
	chained := func(body func(ls [][]byte) string) func([][]byte) [][]byte {
		return func(ls [][]byte) [][]byte {
			return put(15, 19, forgedLine(15, linkOf(t, ls[at(ls, 14)]).hash, body(ls)))(ls)
		}
	}
	return map[string]func(ls [][]byte) [][]byte{
		"lines of the part removed": func(ls [][]byte) [][]byte { return slices.Delete(ls, 4, 5) },
		"all of the part removed":   func(ls [][]byte) [][]byte { return slices.Delete(ls, 4, at(ls, 8)) },
		"removed up to a later signature": func(ls [][]byte) [][]byte {
			return slices.Delete(ls, 4, at(ls, 20))
		},
		"removed behind the part's line": func(ls [][]byte) [][]byte { return slices.Delete(ls, 5, at(ls, 20)) },
		"removed up to the last signature before the alarm": func(ls [][]byte) [][]byte {
			i := slices.IndexFunc(ls, func(line []byte) bool { return bytes.Contains(line, []byte(`"broken":{`)) })
			return slices.Delete(ls, 4, i-1)
		},
		"a forged line with the named seq":               put(15, 19, forgedLine(5, genesis(), record)),
		"a forged line with the named seq, to signature": put(15, 20, forgedLine(5, genesis(), record)),
		"a forged line with the seq before the part":     put(15, 19, forgedLine(4, genesis(), record)),
		"a forged line with the signature's seq":         put(15, 19, forgedLine(8, genesis(), record)),
		"the edited line again, elsewhere":               func(ls [][]byte) [][]byte { return put(15, 19, ls[4])(ls) },
		"the part again, elsewhere": func(ls [][]byte) [][]byte {
			return put(15, 19,
				slices.Clone(ls[4:at(ls, 8)+1])...)(ls)
		},
		"a line before the part":         word(3),
		"the line right before the part": word(4),
		"one more line of the part":      word(7),
		"one more byte in the edited line": func(ls [][]byte) [][]byte {
			ls[4] = bytes.Replace(ls[4], []byte("note X"), []byte("note Y"), 1)
			return ls
		},
		"the edited line taken back and another edited": func(ls [][]byte) [][]byte {
			ls[4] = bytes.Replace(ls[4], []byte("note X"), []byte("note 4"), 1)
			return word(7)(ls)
		},
		"a line put into the part": func(ls [][]byte) [][]byte { return slices.Insert(ls, 5, []byte("\n")) },
		"the part's signature": func(ls [][]byte) [][]byte {
			ls[7] = bytes.Replace(ls[7], []byte("time"),
				[]byte("tame"), 1)
			return ls
		},
		"the part's signature removed":   func(ls [][]byte) [][]byte { return slices.Delete(ls, 7, 8) },
		"a line right behind the part":   word(9),
		"a line far behind the part":     word(22),
		"two lines far behind":           func(ls [][]byte) [][]byte { return word(22)(word(13)(ls)) },
		"a line removed behind the part": put(15, 16),
		"two lines swapped behind it": func(ls [][]byte) [][]byte {
			i := at(ls, 15)
			ls[i], ls[i+1] = ls[i+1],
				ls[i]
			return ls
		},
		"a line behind the alarm":        func(ls [][]byte) [][]byte { return word(linkOf(t, ls[len(ls)-2]).seq)(ls) },
		"a whole signed stretch removed": func(ls [][]byte) [][]byte { c := checkpoints(ls); return put(c[3], c[4])(ls) },
		"an alarm that names it, unsigned": chained(
			func(ls [][]byte) string { return `{"v":1,"event":"alarm","alarm":"loss",` + part(ls) + `}` }),
		"an alarm and a freeze in its text": chained(func(ls [][]byte) string {
			return `{"v":1,"event":"alarm","alarm":"loss","note":"the log is broken at audit.jsonl:15: seq 15: it was ` +
				`changed",` + part(ls) + `}`
		}),
		"the alarm's field": func(ls [][]byte) [][]byte {
			i := slices.IndexFunc(ls, func(line []byte) bool { return bytes.Contains(line, []byte(`"broken":{`)) })
			ls[i] = bytes.Replace(ls[i], []byte(`"to":`), []byte(`"to":1`), 1)
			return ls
		},
		"the alarm": func(ls [][]byte) [][]byte {
			i := slices.IndexFunc(ls, func(line []byte) bool { return bytes.Contains(line, []byte(`"broken":{`)) })
			return slices.Delete(ls, i, i+1)
		},
	}
}

// The story: one byte of the log was edited, and people looked into it and accepted that
// alarm. Then fourteen lines with an approved and released push were taken out, or were
// replaced by one forged line that called itself the accepted one: verify said ok, and
// the next start froze nothing. Now an alarm names what it is about by its content.
func TestAnAcceptedBreakCoversNothingElse(t *testing.T) {
	for name, edit := range later(t) {
		t.Run(name, func(t *testing.T) {
			o, keys, ls := accepted(t)
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); err != nil || len(r.Broken) != 1 {
				t.Fatalf("before: %v, %+v", err, r.Broken)
			}
			path := filepath.Join(o.Dir, activeName)
			changed := edit(slices.Clone(ls))
			if bytes.Equal(bytes.Join(changed, nil), bytes.Join(ls, nil)) {
				t.Fatal("nothing is edited")
			}
			writeFile(t, path, bytes.Join(changed, nil))
			var b *BreakError
			if r, err := Verify(t.Context(), []string{o.Dir}, keys, nil); !errors.As(err, &b) || r.Losses.Count == 0 &&
				at(changed, 9) > 0 && name != "the alarm" && name != "the alarm's field" {
				t.Errorf("verify: %v, %+v", err, r.Losses)
			}
			// In a full file, too, where verify is all that looks.
			writeFile(t, path, bytes.Join(ls, nil))
			l := open(t, o)
			if l.Opened().Lost != "" || len(l.Alarms()) != 0 {
				t.Errorf("a restart: %+v, %q", l.Opened(), l.Alarms())
			}
			writeFile(t, path, append(bytes.Join(changed, nil), readFile(t, path)[len(bytes.Join(ls, nil)):]...))
			if err := l.active.recheck(path, l.active.lastStamp, l.Head()); !errors.Is(err, ErrChanged) {
				t.Errorf("the daemon that runs: %v", err)
			}
			writeFile(t, path, bytes.Join(ls, nil))
			closeLog(t, l)
			writeFile(t, path, bytes.Join(changed, nil))
			l = open(t, o)
			if l.Opened().Lost == "" || len(l.Alarms()) == 0 {
				t.Errorf("the next start: %+v, %q", l.Opened(), l.Alarms())
			}
		})
	}
}

// The story: an accepted break was alarmed about again at each start, as a loss with a new
// number: people learned to type the number unseen. Now it is said once, and an ordinary
// restart freezes and alarms nothing, also where the key was replaced meanwhile.
func TestAnAcceptedBreakIsSaidOnce(t *testing.T) {
	o, keys, _ := accepted(t)
	before := mustVerify(t, o, keys, nil)
	for i := range 4 {
		if i == 2 {
			var more Keys
			o.Key, more = testKey(t)
			keys[o.Key.ID()] = more[o.Key.ID()]
		}
		l := open(t, o)
		if l.Opened().Lost != "" || len(l.Alarms()) > 1 || len(l.Alarms()) == 1 && i != 2 {
			t.Errorf("start %d: %+v, %q", i, l.Opened(), l.Alarms())
		}
		write(t, l, 3)
		closeLog(t, l)
	}
	if r := mustVerify(t, o, keys, nil); r.Losses.Count != before.Losses.Count || len(r.Broken) != 1 {
		t.Errorf("%+v, before %+v", r.Losses, before.Losses)
	}
}

// Somebody without the key writes an alarm right before a break: the signature behind the
// break does not vouch for it.
func TestAnAlarmBeforeABreakNamesNothing(t *testing.T) {
	p := Part{From: 3, To: 9}
	v := verifier{unsigned: []Part{p}, parts: []brokenPart{{Part: p, ended: true}}}
	if !v.beginBroken(&BreakError{Kind: BadHash}, 0) {
		t.Fatal("the break ends the log")
	}
	v.confirm()
	key, _ := testKey(t)
	f, err := os.Open(os.DevNull)
	must(t, err)
	defer f.Close()
	w := flaws{key: key, unsigned: []Part{p, {}}}
	err = w.line(f, link{}, nil, errHash, 1, 0)
	w.confirm()
	if v.parts[0].named || err != nil || len(w.handled)+len(w.named) > 0 {
		t.Errorf("it names the part: %+v, %+v, %v", v.parts, w.handled, err)
	}
}
