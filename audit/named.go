package audit

import (
	"fmt"
	"slices"
	"strings"
)

// This file goes on behind a break that the log itself tells of, so that people who have
// looked into it can accept that alarm as any other.

// A part of a log is broken: from a line on, up to the next signature that fits. What one
// signature vouches for is believed as a whole, or not at all.
type part struct {
	b      *BreakError
	found  uint64 // seq of the line that is there; zero if that cannot be read
	before Report // what was read before it
	whole  bool   // a signature ends it
	named  uint64 // seq of the alarm that names it
}

// maxParts is how many broken parts are gone on behind.
const maxParts = 100

// pass begins a broken part, if the log can go on behind a break of that kind.
func (v *verifier) pass(b *BreakError, line []byte) bool {
	if !slices.Contains([]Kind{BadLine, BadHash, BadPrev, Gap, Duplicate, Reordered}, b.Kind) || len(v.parts) == maxParts {
		return false
	}
	found, _ := readLink(line) // a line that is no line has no seq
	v.parts, v.inside = append(v.parts, part{b: b, found: found.seq, before: v.Report}), true
	return true
}

// behind ends a broken part at a signature that fits the line before it.
func (v *verifier) behind(line []byte) {
	l, err := readLink(line)
	if err != nil || !l.checkpoint || l.seq <= v.at.seq {
		return
	}
	c, err := readCheckpoint(line, v.keys)
	if err != nil || c.Seq+1 != l.seq || c.Hash != l.prev.String() {
		return
	}
	v.at.seq, v.at.hash = c.Seq, l.prev
	if v.line(line) != nil {
		return
	}
	p := &v.parts[len(v.parts)-1]
	if p.whole, v.inside = true, false; p.before.Lines == 0 {
		v.First = p.b.Seq
	}
}

// told notes that an alarm names breaks that came before it; see Log.resume.
func (v *verifier) told(a Alarm) {
	for i := range v.parts {
		p := &v.parts[i]
		names := func(seq uint64) bool { return strings.Contains(a.What, fmt.Sprintf(": seq %d: ", seq)) }
		if strings.HasPrefix(a.What, brokenAt) && (names(p.b.Seq) || names(p.found)) {
			p.named = a.Seq
		}
	}
}

// outcome is what Verify returns: the first break that no alarm names, under a signature,
// or b, which nothing can be read behind. Nil is none.
func (v *verifier) outcome(b *BreakError) (Report, error) {
	for _, p := range v.parts {
		if !p.whole || p.named == 0 || p.named > v.Signed {
			r := p.before
			r.Alarms, r.Losses, r.Others = v.Alarms, v.Losses, v.Others // those behind it say what happened
			return r, p.b
		}
		v.Broken = append(v.Broken, *p.b)
	}
	if b != nil {
		return v.Report, b
	}
	return v.Report, nil
}
