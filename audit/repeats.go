package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
)

// A Difference is a line that repeats an event and says something else about it than the first line did.
// One of them is wrong, or the event came twice.
type Difference struct {
	File  string   `json:"file"` // its base name
	Line  int      `json:"line"`
	ID    string   `json:"id"` // log:seq
	Seq   uint64   `json:"seq"`
	First string   `json:"first"` // the id of the event's first line
	Once  string   `json:"once"`
	What  []string `json:"what"` // the members that differ
}

// String says what differs, in words.
func (d Difference) String() string {
	return fmt.Sprintf("%s:%d: the record %s says otherwise than %s of the same event, in %s", d.File, d.Line, d.ID,
		d.First, strings.Join(d.What, ", "))
}

// A DifferenceList counts differences and has the newest hundred, oldest first.
type DifferenceList struct {
	Count  uint64       `json:"count"`
	Newest []Difference `json:"newest,omitempty"`
}

// add adds a repeat, if anything differs.
func (l *DifferenceList) add(d Difference) {
	if len(d.What) == 0 {
		return
	}
	l.Count++
	l.Newest = append(l.Newest[max(0, len(l.Newest)-maxAlarms+1):], d)
}

// A repeatCounter finds the lines that repeat an event which it has read before. It remembers two numbers of
// each event: a hash of its once, with a seed of its own so that nobody can aim at it, and where its first
// line is. That line is read again before anything counts as a repeat, so equal hashes of two events hide
// neither.
type repeatCounter struct {
	seed  maphash.Seed
	first map[uint64]spot
	paths []string
}

func newRepeatCounter() *repeatCounter {
	return &repeatCounter{seed: maphash.MakeSeed(), first: map[uint64]spot{}}
}

// hash is the hash of a once. Any number of goroutines may call it.
func (r *repeatCounter) hash(once []byte) uint64 { return maphash.Bytes(r.seed, once) }

// enter adds a file.
func (r *repeatCounter) enter(path string) (file int) {
	r.paths = append(r.paths, path)
	return len(r.paths) - 1
}

// A spot is where a line begins: the number of its file, and an offset of offsetBits.
type spot uint64

const offsetBits = 40 // a file of a terabyte

func spotOf(file int, offset int64) spot { return spot(file)<<offsetBits | spot(offset) }

// seen notes a line by the hash of its once, and returns where the first line with that hash is.
func (r *repeatCounter) seen(hash uint64, at spot) (first spot, again bool) {
	if first, again = r.first[hash]; !again {
		r.first[hash] = at
	}
	return first, again
}

// compare reports whether a record repeats the event of the line at first, and what differs. A line that
// cannot be read again hides nothing: then the record counts for itself.
func (r *repeatCounter) compare(l Line, hash uint64, first spot) (d Difference, repeats bool) {
	was, ok := r.read(first, hash)
	if !ok || was.Once != l.Once {
		return d, false
	}
	return Difference{ID: l.ID, Seq: l.Seq, First: was.ID, Once: l.Once, What: differing(was, l)}, true
}

// read reads a record that was seen. A file that was audit.jsonl may be full by now.
func (r *repeatCounter) read(at spot, hash uint64) (Line, bool) {
	path, offset := r.paths[at>>offsetBits], int64(at&(1<<offsetBits-1))
	if l, ok := r.recordAt(path, offset, hash); ok || filepath.Base(path) != activeName {
		return l, ok
	}
	full, err := rotated(filepath.Dir(path))
	if err != nil {
		return Line{}, false
	}
	for _, s := range slices.Backward(full) {
		if l, ok := r.recordAt(s.path, offset, hash); ok {
			return l, true
		}
	}
	return Line{}, false
}

func (r *repeatCounter) recordAt(path string, offset int64, hash uint64) (Line, bool) {
	text, err := lineAt(path, offset)
	if err != nil || !json.Valid(text) || r.hash(onceOf(text)) != hash {
		return Line{}, false
	}
	l, err := ParseLine(text)
	return l, err == nil
}

// lineAt reads the line at an offset.
func lineAt(path string, offset int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for size := 4 << 10; size <= 2*MaxLine; size *= 16 {
		b := make([]byte, min(size, MaxLine))
		n, err := f.ReadAt(b, offset)
		if line, _, whole := bytes.Cut(b[:n], []byte{'\n'}); whole {
			return line, nil
		}
		if err != nil && !errors.Is(err, io.EOF) || n < len(b) {
			return nil, errors.Join(err, errTorn)
		}
	}
	return nil, errShape
}

// differing names what two records of one event say differently. Both are made of what the store has: only
// when and where they were written may differ, how secrets were masked, and notes. The call may differ too,
// as long as it is not the one that was let run: identical calls wait for one answer, and the first may leave.
func differing(a, b Line) (what []string) {
	compare := func(name string, same bool) {
		if !same {
			what = append(what, name)
		}
	}
	compare("event", a.Event == b.Event)
	compare("request", a.Request == b.Request)
	compare("decision", a.Decision == b.Decision)
	compare("agent", a.Agent == b.Agent)
	compare("tool", a.Tool == b.Tool)
	compare("arguments", a.ArgsHash == b.ArgsHash)
	compare("fingerprint", a.Fingerprint == b.Fingerprint)
	if a.Event == approver.EventApproved || a.Event == approver.EventReleased {
		compare("call", a.Call == b.Call)
		compare("session", a.Session == b.Session)
	}
	v, w := deref(a.Verdict), deref(b.Verdict)
	compare("rule", v.Decision == w.Decision && v.By == w.By && v.Rule == w.Rule)
	compare("severity", v.Severity == w.Severity)
	p, q := deref(a.Resolution), deref(b.Resolution)
	compare("answer", p.Approve == q.Approve && p.Cause == q.Cause)
	compare("person", deref(p.Person).ID == deref(q.Person).ID && deref(p.Identity) == deref(q.Identity))
	compare("conversation", p.Conversation == q.Conversation && p.Method == q.Method)
	compare("choice", p.Choice == q.Choice)
	compare("changed command", p.EditedHash == q.EditedHash)
	return what
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// count counts a record, or a repeat of one.
func (v *verifier) count(line []byte) {
	if d, again := v.repeated(line); again {
		d.File, d.Line = v.name, v.number
		v.Repeats++
		v.Differing.add(d)
		return
	}
	v.Records++
}

func (v *verifier) repeated(line []byte) (d Difference, again bool) {
	once := onceOf(line)
	if once == nil {
		return d, false
	}
	hash := v.repeats.hash(once)
	first, again := v.repeats.seen(hash, spotOf(v.file, v.start))
	if !again {
		return d, false
	}
	l, err := ParseLine(line)
	if err != nil {
		return d, false
	}
	return v.repeats.compare(l, hash, first)
}
