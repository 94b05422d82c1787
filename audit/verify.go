package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// A Kind says in a word what is wrong with a log.
type Kind string

// The kinds.
const (
	BadLine      Kind = "bad line"       // not JSON, or not a line of a log
	BadHash      Kind = "bad hash"       // the line was changed
	BadPrev      Kind = "bad prev"       // the line before it was replaced
	Gap          Kind = "gap"            // lines are missing before it
	Duplicate    Kind = "duplicate"      // the line is there twice
	Reordered    Kind = "reordered"      // lines changed places
	BadSignature Kind = "bad signature"  // what the checkpoint vouches for was changed, or it was
	UnknownKey   Kind = "unknown key"    // the checkpoint's key is not listed
	Unsigned     Kind = "unsigned"       // a checkpoint is missing
	MissingFile  Kind = "missing file"   // a whole file is missing
	CutHead      Kind = "truncated head" // the first lines are missing
	CutTail      Kind = "truncated tail" // the last lines are missing, or one is torn
	Rewritten    Kind = "rewritten"      // the store knows another line in this place
)

// A BreakError is the first thing that is wrong with a log. It is the error that
// Verify returns for it.
type BreakError struct {
	File string `json:"file"` // its base name
	Line int    `json:"line"` // from 1; zero where the file itself is meant
	Seq  uint64 `json:"seq"`  // of the line, or the one that should be there
	Kind Kind   `json:"kind"`
	Why  string `json:"why"`
}

// Error is file:line, seq and what is wrong.
func (b *BreakError) Error() string {
	where := b.File
	if b.Line > 0 {
		where = fmt.Sprintf("%s:%d", b.File, b.Line)
	}
	if b.Kind == "" {
		return fmt.Sprintf("%s: seq %d: %s", where, b.Seq, b.Why)
	}
	return fmt.Sprintf("%s: seq %d: %s: %s", where, b.Seq, b.Kind, b.Why)
}

// A Report summarizes the lines that Verify read, up to the first break.
type Report struct {
	Files   int    `json:"files"`
	Lines   uint64 `json:"lines"`
	Records uint64 `json:"records"` // each event once
	// Repeats are lines that repeat an event which an earlier line records: they are no Records. Differing are
	// those that say something else about it.
	Repeats     uint64         `json:"repeats"`
	Differing   DifferenceList `json:"differing"`
	Checkpoints uint64         `json:"checkpoints"`
	Alarms      uint64         `json:"alarms"` // the number of Losses and Others
	Losses      AlarmList      `json:"losses"` // alarms about missing or changed lines
	Others      AlarmList      `json:"other_alarms"`
	First       uint64         `json:"first"`             // seq of the first line: from there on the log is complete
	Removed     *Removed       `json:"removed,omitempty"` // what retention removed, by the log's last line about it
	Last        uint64         `json:"last"`              // seq of the last line
	Hash        string         `json:"hash"`              // of the last line
	Signed      uint64         `json:"signed"`            // the last seq that a checkpoint vouches for
	SignedAt    time.Time      `json:"signed_at,omitzero"`
	KeyIDs      []string       `json:"key_ids,omitempty"` // in the order of their first use
	Log         string         `json:"log,omitempty"`     // the id in the last checkpoint
	// Broken are breaks that a signed alarm names.
	Broken []BreakError `json:"broken,omitempty"`
}

// An AlarmList counts alarms and has the newest hundred, oldest first.
type AlarmList struct {
	Count  uint64  `json:"count"`
	Newest []Alarm `json:"newest,omitempty"`
}

func (l *AlarmList) add(a Alarm) {
	l.Count++
	l.Newest = append(l.Newest[max(0, len(l.Newest)-maxAlarms+1):], a)
}

// An Alarm is an alarm record in a Report.
type Alarm struct {
	File string    `json:"file"` // its base name
	Line int       `json:"line"`
	Seq  uint64    `json:"seq"`
	At   time.Time `json:"time"`
	// Kind is loss, key (another key signs), outage, torn (half a line after a crash),
	// call (about a call), store, audit, hooks or other.
	Kind string `json:"kind"`
	What string `json:"what"` // on one line
}

// noLoss are the kinds of alarms that are not about missing or changed lines, besides
// callAlarm.
var noLoss = []string{
	keyAlarm, outageAlarm, tornAlarm, otherAlarm, string(approver.AlarmStore), string(approver.AlarmAudit),
	string(approver.AlarmHooks),
}

// alarmOf reads an alarm. An unknown kind, or an unreadable line, counts as a loss.
func alarmOf(line []byte) Alarm {
	l, err := ParseLine(line)
	a := Alarm{Seq: l.Seq, At: l.Timestamp, Kind: lossAlarm, What: display.OneLine(l.Note)}
	switch {
	case err != nil:
		a.What = "an alarm that cannot be read"
	case l.Alarm == callAlarm, l.Alarm == "" && l.Agent+l.Tool != "":
		said := slices.DeleteFunc([]string{display.OneLine(l.Agent), Summary(l.Summary), a.What},
			func(s string) bool { return s == "" })
		a.Kind, a.What = callAlarm, strings.Join(said, ": ")
	case slices.Contains(noLoss, l.Alarm):
		a.Kind = l.Alarm
	}
	return a
}

// Unsigned is the number of lines at the end that no checkpoint vouches for yet.
// A log that was closed has none.
func (r Report) Unsigned() uint64 {
	if r.Last <= r.Signed+1 { // the last checkpoint itself
		return 0
	}
	return r.Last - r.Signed - 1
}

// Verify reads a whole log and returns a *BreakError for the first break that no signed
// alarm in the log names. If the daemon continued a truncated log, it recorded an alarm,
// and Verify succeeds: see Report.Losses. It needs memory for two numbers of each event.
//
// paths are the log's directory and, if older files were moved away, the directories
// or files that hold them. keys are the public keys that may have signed; without any,
// every checkpoint is an UnknownKey. head is the head in the store. With a nil head, a
// truncated log may pass. A log can be verified while it is written; read head first
// then.
func Verify(ctx context.Context, paths []string, keys Keys, head *Head) (Report, error) {
	v := verifier{keys: keys, head: head, at: place{hash: genesis()}, repeats: newRepeatCounter()}
	var err error
	if v.claimed, err = claimedRemoved(ctx, paths); err != nil && ctx.Err() != nil {
		return v.Report, err
	}
	w, err := newWalker(paths...)
	if err != nil {
		return v.Report, fmt.Errorf("verify the audit log: %w", err)
	}
	for tries := 0; ; {
		f, s, err := w.next()
		if errors.Is(err, io.EOF) {
			if len(w.dirs) == 0 || w.active || v.Files == 0 || tries >= 5 {
				break
			}
			// A rotation may be between its two steps.
			tries++
			w.tail = 0
			if err := sleep(ctx, 20*time.Millisecond); err != nil {
				return v.Report, err
			}
			continue
		}
		if err != nil {
			return v.Report, fmt.Errorf("verify the audit log: %w", err)
		}
		err = v.segment(ctx, f, s)
		_ = f.Close() // only read
		var b *BreakError
		if errors.As(err, &b) {
			return v.report(b)
		}
		if err != nil {
			return v.Report, err
		}
	}
	if v.Files == 0 && head == nil {
		return v.Report, fmt.Errorf("verify the audit log: %w in %q", ErrNoLog, paths)
	}
	return v.report(v.finish(len(w.dirs) > 0))
}

type verifier struct {
	Report
	keys Keys
	head *Head

	claimed   uint64 // see claimedRemoved
	before    digest // the first line's prev
	removedAt uint64 // seq of the line that Report.Removed is from

	parts  []brokenPart
	inside bool // the last of parts
	// unsigned are parts that alarms name which no checkpoint vouches for yet.
	unsigned []Part

	repeats *repeatCounter
	file    int // the current one there

	at     place
	since  int    // lines after the last checkpoint
	name   string // of the current file
	number int    // of the current line
	start  int64  // its offset in the file
	active bool   // the current file is audit.jsonl
}

func (v *verifier) segment(ctx context.Context, f *os.File, s segment) error {
	name := filepath.Base(s.path)
	if v.inside { // a broken part must end in its file
		return v.parts[len(v.parts)-1].b
	}
	if b := v.checkOrder(s, name); b != nil {
		return b
	}
	v.Files++
	v.name, v.number, v.active = name, 0, s.first == 0
	v.file = v.repeats.enter(s.path)
	lines := newLineReader(f)
	for tries := 0; ; {
		line, err := lines.next()
		v.number, v.start = lines.number, lines.start
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTorn) && v.active && tries < 5:
			// It may be in the middle of being written.
			tries++
			if err := sleep(ctx, 20*time.Millisecond); err != nil {
				return err
			}
			if lines, err = lines.rewind(f); err != nil {
				return fmt.Errorf("verify the audit log: %w", err)
			}
			continue
		case errors.Is(err, errTorn):
			return v.broken(CutTail, v.at.seq+1, "the file ends in the middle of a line, %d bytes of it", len(line))
		case err != nil && !errors.Is(err, errShape):
			return fmt.Errorf("verify the audit log: %w", err)
		}
		if lines.number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := v.next(f, line, lines.start, err); err != nil {
			return err
		}
	}
}

func (v *verifier) broken(kind Kind, seq uint64, why string, args ...any) *BreakError {
	b := brokenFile(v.name, kind, seq, why, args...)
	b.Line = v.number
	return b
}

// brokenFile is a break of which no line is known.
func brokenFile(name string, kind Kind, seq uint64, why string, args ...any) *BreakError {
	return &BreakError{File: name, Seq: seq, Kind: kind, Why: fmt.Sprintf(why, args...)}
}

// checkOrder checks that a file follows the lines that were read.
func (v *verifier) checkOrder(s segment, name string) *BreakError {
	next := v.at.seq + 1
	switch {
	case v.Files == 0 && s.first > 1 && s.first-1 > v.claimed:
		return brokenFile(name, CutHead, s.first,
			"the log starts here: the lines 1 to %d are missing (name the place of archived files too)", s.first-1)
	case v.Files == 0:
		return nil
	case v.since > 0:
		return v.broken(CutTail, next, "the file does not end with a checkpoint: its last lines are gone")
	case s.first > next:
		return brokenFile(rotatedName(next), MissingFile, next,
			"the lines %d to %d are missing: the file was removed, or the end of %s", next, s.first-1, v.name)
	}
	return nil
}

// line checks the next line.
func (v *verifier) line(line []byte) *BreakError {
	next := v.at.seq + 1
	l, err := readLink(line)
	switch {
	case errors.Is(err, errHash):
		return v.broken(BadHash, next, "%v", err)
	case err != nil:
		return v.broken(BadLine, next, "%v", err)
	case l.seq > next && v.Lines == 0 && l.seq-1 <= v.claimed:
		v.at, v.before = place{l.seq - 1, l.prev}, l.prev // checkBeginning proves it at the end
	case l.seq > next && v.Lines == 0:
		return v.broken(CutHead, l.seq, "the log starts here: the lines 1 to %d are missing", l.seq-1)
	case l.seq > next && v.number == 1 && v.active:
		return brokenFile(rotatedName(next), MissingFile, next, "the lines %d to %d are missing before %s", next, l.seq-1,
			v.name)
	case l.seq > next:
		return v.broken(Gap, next, "the lines %d to %d are missing", next, l.seq-1)
	case l.seq < next && l.place == v.at:
		return v.broken(Duplicate, l.seq, "the line before it is the same")
	case l.seq < next:
		return v.broken(Reordered, l.seq, "seq %d should be here: the line belongs further up, or is there twice", next)
	case l.prev != v.at.hash:
		return v.broken(BadPrev, l.seq, "it was written behind another line than the one before it")
	}
	if v.head != nil && v.head.Seq == l.seq && v.head.Hash != l.hash.String() {
		return v.broken(Rewritten, l.seq, "%s", rewritten(l.seq))
	}
	if b := v.signed(l, line); b != nil {
		return b
	}
	v.at = l.place
	if v.Lines == 0 {
		v.First = l.seq
	}
	v.Lines++
	v.Last, v.Hash = l.seq, l.hash.String()
	return nil
}

// signed checks a checkpoint, or that none is missing.
func (v *verifier) signed(l link, line []byte) *BreakError {
	if !l.checkpoint {
		v.since++
		switch {
		case l.seq == 2:
			return v.broken(Unsigned, l.seq, "the second line of a log is a checkpoint")
		case v.since > MaxCheckpointEvery:
			return v.broken(Unsigned, l.seq, "%d lines without a checkpoint", v.since)
		}
		v.count(line)
		if len(line) > len(alarmStart) && string(line[:len(alarmStart)]) == alarmStart {
			v.alarm(l, line)
		}
		if r, ok := removedIn(line); ok {
			v.Removed, v.removedAt = &r, l.seq
		}
		return nil
	}
	c, err := readCheckpoint(line, v.keys)
	switch {
	case errors.Is(err, errUnknown):
		return v.broken(UnknownKey, l.seq, "%v", err)
	case errors.Is(err, errSignature):
		return v.broken(BadSignature, l.seq, "%v (the lines from %d)", err, v.Signed+1)
	case err != nil:
		return v.broken(BadLine, l.seq, "%v", err)
	case c.Seq != v.at.seq || c.Hash != v.at.hash.String():
		return v.broken(BadSignature, l.seq, "the checkpoint vouches for another line before it (the lines from %d were "+
			"changed)", v.Signed+1)
	}
	v.since = 0
	v.confirm()
	v.Checkpoints++
	v.Signed, v.SignedAt, v.Log = c.Seq, c.Time, c.Log
	if !slices.Contains(v.KeyIDs, c.KeyID) {
		v.KeyIDs = append(v.KeyIDs, c.KeyID)
	}
	return nil
}

func (v *verifier) alarm(l link, line []byte) {
	a := alarmOf(line)
	a.File, a.Line, a.Seq = v.name, v.number, l.seq
	v.Alarms++
	if a.Kind == lossAlarm {
		if p, ok := namedIn(line); ok {
			v.unsigned = append(v.unsigned, p)
		}
		v.Losses.add(a)
		return
	}
	v.Others.add(a)
}

// findMoved makes a gap a reordering if the missing line comes later in the file.
func (v *verifier) findMoved(b *BreakError, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := newLineReader(f)
	for line, err := range lines.all() {
		if err != nil {
			return nil
		}
		if lines.number <= b.Line {
			continue
		}
		if l, err := readLink(line); err == nil && l.seq == b.Seq {
			b.Kind, b.Why = Reordered, fmt.Sprintf("the line with seq %d stands further down, in line %d", b.Seq, lines.number)
			break
		}
	}
	return nil
}

// checkBeginning checks that a signed line of the log says that its missing beginning was
// removed, with the right hash of the line before the first.
func (v *verifier) checkBeginning() *BreakError {
	switch {
	case v.First <= 1:
		return nil
	case v.Removed == nil || v.removedAt > v.Signed || v.Removed.To < v.First-1,
		v.Removed.To == v.First-1 && v.Removed.Hash != v.before.String():
		return brokenFile(v.name, CutHead, v.First,
			"the lines 1 to %d are missing, and no signed line of the log says that retention removed them", v.First-1)
	}
	return nil
}

// finish checks how the log ends.
func (v *verifier) finish(whole bool) *BreakError {
	if v.Files == 0 {
		v.name = activeName
	}
	if b := v.checkBeginning(); b != nil {
		return b
	}
	switch {
	case whole && (v.Files == 0 || !v.active):
		return brokenFile(activeName, MissingFile, v.at.seq+1, "the last file of the log is missing")
	case v.head == nil:
		return nil
	case v.head.Seq > v.at.seq:
		return v.broken(CutTail, v.at.seq+1, "%s", truncated(v.at.seq, v.head.Seq))
	case v.Log != "" && v.head.Log != "" && v.Log != v.head.Log:
		return v.broken(Rewritten, v.at.seq, "the log calls itself %q, the store's word is for %q", v.Log, v.head.Log)
	}
	return nil
}
