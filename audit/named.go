package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
)

// A brokenPart is a Part that Verify found. Verify continues after it, because a signed
// alarm may name it: then people can look into it and accept it as any other alarm.
type brokenPart struct {
	Part
	b          *BreakError
	start      int64  // its offset in the file
	readBefore Report // the report up to it
	ended      bool   // a valid checkpoint ends it
	named      bool   // a signed alarm after it names it
}

// maxParts bounds the broken parts that Verify continues after.
const maxParts = 100

// next checks the next line of a file, or whether a broken part ends with it. bad says
// why it does not have the shape of a line.
func (v *verifier) next(f *os.File, line []byte, start int64, bad error) error {
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

// beginBroken begins a broken part, if Verify can continue after a break of that kind.
func (v *verifier) beginBroken(b *BreakError, start int64) bool {
	if !slices.Contains([]Kind{BadLine, BadHash, BadPrev, Gap, Duplicate, Reordered}, b.Kind) || len(v.parts) == maxParts {
		return false
	}
	p := brokenPart{Part: Part{From: v.at.seq + 1, Prev: v.at.hash.String()}, b: b, start: start, readBefore: v.Report}
	v.parts, v.inside = append(v.parts, p), true
	v.unsigned = nil // a checkpoint after a break does not vouch for lines before it
	return true
}

// endBroken ends a broken part if the line at the offset end is a valid checkpoint.
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
	p.To, p.Hash, p.ended, v.inside = l.seq, l.hash.String(), true, false
	if p.readBefore.Lines == 0 {
		v.First = p.b.Seq
	}
	return nil
}

// resumesAt reads a checkpoint by a listed key, at which a log that was valid up to seq
// can continue.
func resumesAt(line []byte, seq uint64, keys Keys) (link, bool) {
	l, err := readLink(line)
	if err != nil || !l.checkpoint || l.seq <= seq {
		return l, false
	}
	c, err := readCheckpoint(line, keys)
	return l, err == nil && c.Seq+1 == l.seq && c.Hash == l.prev.String()
}

// hashBetween is the SHA-256 of the bytes of a file from start to end.
func hashBetween(f *os.File, start, end int64) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, start, end-start))
	if err == nil && n != end-start {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// confirm trusts the alarms up to a valid checkpoint. An alarm names a part only if all
// its members are equal.
func (v *verifier) confirm() {
	for _, named := range v.unsigned {
		for i := range v.parts {
			p := &v.parts[i]
			p.named = p.named || p.ended && p.Part == named
		}
	}
	v.unsigned = nil
}

// report is the result of Verify: the first break that no signed alarm names, else b, at
// which reading had to end. A nil b is none.
func (v *verifier) report(b *BreakError) (Report, error) {
	for _, p := range v.parts {
		if !p.ended || !p.named {
			r := p.readBefore
			r.Alarms, r.Losses, r.Others = v.Alarms, v.Losses, v.Others // later alarms say what happened
			return r, p.b
		}
		v.Broken = append(v.Broken, *p.b)
	}
	if b != nil {
		return v.Report, b
	}
	return v.Report, nil
}
