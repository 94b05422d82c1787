package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
)

// This file goes on behind a break that the log itself tells of, so that people who have
// looked into it can accept that alarm as any other.

// A brokenPart is a Part that Verify found.
type brokenPart struct {
	Part
	b          *BreakError
	start      int64  // in its file
	readBefore Report // what was read before it
	complete   bool   // a signature ends it
	named      bool   // a signed alarm behind it names it
}

// maxParts is how many broken parts are gone on behind.
const maxParts = 100

// check checks the next line of a file, or finds out whether a broken part ends with it.
// bad is why it has not the shape of a line.
func (v *verifier) check(f *os.File, line []byte, start int64, bad error) error {
	var b *BreakError
	switch {
	case v.inside && bad != nil:
		return nil
	case v.inside:
		return v.endBroken(f, line, start)
	case bad != nil:
		b = v.broken(BadLine, v.at.seq+1, "%v", bad)
	default:
		b = v.line(line)
	}
	if b == nil {
		return nil
	}
	if b.Kind == Gap {
		if err := v.findMoved(b, f.Name()); err != nil {
			return fmt.Errorf("verify the audit log: %w", err)
		}
	}
	if !v.beginBroken(b, start) {
		return b
	}
	return nil
}

// beginBroken begins a broken part, if the log can go on behind a break of that kind.
func (v *verifier) beginBroken(b *BreakError, start int64) bool {
	if !slices.Contains([]Kind{BadLine, BadHash, BadPrev, Gap, Duplicate, Reordered}, b.Kind) || len(v.parts) == maxParts {
		return false
	}
	p := brokenPart{Part: Part{From: v.at.seq + 1, Prev: v.at.hash.String()}, b: b, start: start, readBefore: v.Report}
	v.parts, v.inside = append(v.parts, p), true
	v.unsigned = nil // no signature behind a break vouches for what is before it
	return true
}

// endBroken ends a broken part at a signature that fits the line before it. end is where
// its line begins.
func (v *verifier) endBroken(f *os.File, line []byte, end int64) error {
	l, ok := resumesAt(line, v.at.seq, v.keys)
	if !ok {
		return nil
	}
	at := v.at
	v.at = place{l.seq - 1, l.prev}
	if v.line(line) != nil {
		v.at = at
		return nil
	}
	p := &v.parts[len(v.parts)-1]
	var err error
	if p.SHA256, err = hashBetween(f, p.start, end); err != nil {
		return fmt.Errorf("verify the audit log: %w", err)
	}
	p.To, p.Hash, p.complete, v.inside = l.seq, l.hash.String(), true, false
	if p.readBefore.Lines == 0 {
		v.First = p.b.Seq
	}
	return nil
}

// resumesAt reads a signature behind which a log can go on that was sound up to seq. One
// of a key that is not listed counts for nothing.
func resumesAt(line []byte, seq uint64, keys Keys) (link, bool) {
	l, err := readLink(line)
	if err != nil || !l.checkpoint || l.seq <= seq {
		return l, false
	}
	c, err := readCheckpoint(line, keys)
	return l, err == nil && c.Seq+1 == l.seq && c.Hash == l.prev.String()
}

// hashBetween is the SHA-256 of some bytes of a file.
func hashBetween(f *os.File, start, end int64) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, start, end-start))
	if err == nil && n != end-start {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// confirm takes the alarms up to a signature that fits for the log's own. One names a
// part only if all of it fits.
func (v *verifier) confirm() {
	for _, named := range v.unsigned {
		for i := range v.parts {
			p := &v.parts[i]
			p.named = p.named || p.complete && p.Part == named
		}
	}
	v.unsigned = nil
}

// report is what Verify returns: the first break that no alarm names, under a signature,
// or b, which nothing can be read behind. Nil is none.
func (v *verifier) report(b *BreakError) (Report, error) {
	for _, p := range v.parts {
		if !p.complete || !p.named {
			r := p.readBefore
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
