package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"approver.example"
)

// frozenStart begins the record of a freeze, which stops every call.
var frozenStart = []byte(`{"v":1,"event":"` + string(approver.EventFrozen) + `",`)

// A flaw is a broken part of the active file.
type flaw struct {
	Part
	b     BreakError
	start int64
}

// flaws finds the broken parts of the active file by the rules of Verify, and which of
// them have an alarm in the log. Without a key it finds nothing.
type flaws struct {
	key   Key
	found []flaw
	open  bool // the last flaw has no end yet

	at       place
	adopt    bool   // take the first line as it is
	watch    *Head  // the store's head, which vouches for its line as a checkpoint does
	unsigned []Part // parts that unsigned alarms name; a zero one is a freeze
	named    []Part // parts that signed alarms name
	handled  []Part // named ones, after which a freeze stopped every call
}

// line takes the next line, which begins at start. bad says why it is invalid.
func (w *flaws) line(f *os.File, l link, line []byte, bad error, number int, start int64) error {
	if w.key.private == nil {
		return nil
	}
	if w.adopt && bad == nil {
		w.at = place{l.seq - 1, l.prev}
	}
	w.adopt = false
	keys := Keys{w.key.ID(): w.key.Public()}
	if w.open {
		return w.close(f, line, keys, start)
	}
	if bad == nil && l.seq == w.at.seq+1 && l.prev == w.at.hash {
		w.acceptLine(l, line, keys)
		if w.watch != nil && w.watch.Seq == l.seq && w.watch.Hash == l.hash.String() {
			w.confirm() // the store vouches for it
		}
		return nil
	}
	b := BreakError{File: filepath.Base(f.Name()), Line: number, Seq: w.at.seq + 1}
	if bad != nil {
		b.Why = bad.Error()
	} else {
		b.Seq, b.Kind, b.Why = l.seq, BadPrev, fmt.Sprintf("it does not follow the line before it, seq %d", w.at.seq)
	}
	w.found = append(w.found, flaw{Part: Part{From: w.at.seq + 1, Prev: w.at.hash.String()}, b: b, start: start})
	w.open, w.unsigned = true, nil
	return nil
}

// acceptLine takes a valid line that follows the one before it.
func (w *flaws) acceptLine(l link, line []byte, keys Keys) {
	before := w.at
	w.at = l.place
	switch {
	case l.checkpoint:
		c, err := readCheckpoint(line, keys)
		switch {
		case err == nil && c.Seq == before.seq && c.Hash == before.hash.String():
			w.confirm()
		case !errors.Is(err, errUnknown): // a former key may have signed: wait for the next checkpoint
			w.unsigned = nil
		}
	case bytes.HasPrefix(line, frozenStart):
		w.unsigned = append(w.unsigned, Part{})
	case bytes.HasPrefix(line, []byte(alarmStart)):
		if p, ok := namedIn(line); ok {
			w.unsigned = append(w.unsigned, p)
		}
	}
}

// namedIn is the broken part that an alarm names.
func namedIn(line []byte) (Part, bool) {
	l, err := ParseLine(line)
	if err != nil || l.Event != approver.EventAlarm || l.Alarm != lossAlarm || l.Broken == nil || l.Broken.To == 0 {
		return Part{}, false
	}
	return *l.Broken, true
}

// confirm trusts the alarms up to here: a checkpoint or the store vouches for them.
func (w *flaws) confirm() {
	for _, p := range w.unsigned {
		if p == (Part{}) {
			w.handled, w.named = append(w.handled, w.named...), nil
			continue
		}
		w.named = append(w.named, p)
	}
	w.unsigned = nil
}

// close ends a broken part at a valid checkpoint. One by an unknown key counts too, as it
// may be a former key. If it is not, Verify finds another part than the alarm names.
func (w *flaws) close(f *os.File, line []byte, keys Keys, end int64) error {
	p := &w.found[len(w.found)-1]
	l, ok := resumesAt(line, p.From-1, keys)
	if !ok && l.checkpoint && l.seq >= p.From {
		c, err := readCheckpoint(line, keys)
		ok = errors.Is(err, errUnknown) && c.Seq+1 == l.seq && c.Hash == l.prev.String()
	}
	if !ok {
		return nil
	}
	var err error
	if p.SHA256, err = hashBetween(f, p.start, end); err != nil {
		return err
	}
	p.To, p.Hash = l.seq, l.hash.String()
	w.at, w.open = l.place, false
	return nil
}

// unreported are alarms about broken parts that the log does not name yet. first is the
// first break of the file, even if no part begins there.
func (w *flaws) unreported(first *BreakError) (alarms []alarm) {
	for i, p := range w.found {
		switch {
		case slices.Contains(w.handled, p.Part):
		case i >= maxParts:
			return append(alarms, alarm{kind: lossAlarm, text: fmt.Sprintf(brokenAt+"%d places or more", maxParts)})
		case p.To == 0:
			alarms = append(alarms, alarm{lossAlarm, brokenAt + p.b.Error() + "; nothing counts from there to its end", p.Part})
		default:
			text := fmt.Sprintf(brokenAt+"%v; nothing counts from there to the signature with seq %d", &p.b, p.To)
			alarms = append(alarms, alarm{lossAlarm, text, p.Part})
		}
	}
	if len(w.found) == 0 && first != nil {
		alarms = append(alarms, alarm{kind: lossAlarm, text: brokenAt + first.Error()})
	}
	return alarms
}

// brokenParts returns the parts of the flaws.
func (w *flaws) brokenParts() []Part {
	var all []Part
	for _, p := range w.found {
		all = append(all, p.Part)
	}
	return all
}

// trim ends the search at the offset good, after which the file will be cut. It drops a
// flaw that begins there, and ends an open one there.
func (w *flaws) trim(f *os.File, good int64) (err error) {
	if !w.open {
		return nil
	}
	p := &w.found[len(w.found)-1]
	if p.start >= good {
		w.found, w.open = w.found[:len(w.found)-1], false
		return nil
	}
	p.SHA256, err = hashBetween(f, p.start, good)
	return err
}
