package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// This file finds the end of the chain in one file.

// breakText is the first break that stays in the file; empty if there is none.
func (s *scan) breakText() string {
	if s.broken == nil {
		return ""
	}
	return s.broken.Error()
}

// A scan finds the end of the chain in one file. It starts with the place
// behind which the file goes on.
type scan struct {
	place
	adopt bool  // take the file's first line as it is
	watch *Head // a place to compare with
	stop  bool  // do not read on behind watch
	flaws flaws
	key   Key // whose signatures count behind watch

	first   uint64 // seq of the file's first line
	good    int64  // size of the file up to the end of the chain
	size    int64
	since   int         // lines behind the last checkpoint
	keyID   string      // of the last checkpoint
	torn    bool        // behind the chain there is nothing but one line without an end: a write was killed
	broken  *BreakError // the first break that stays in the file
	watched string      // hash of the line watch.Seq
	signed  bool        // key vouches for lines behind watch
}

// readFile reads the file at path; one that does not exist is empty.
//
// A line whose own hash does not fit, and what follows it, may be what a crash
// left of a write that was never acknowledged, and is not counted. But a crash
// leaves no checkpoint behind such a line, and no sound line in a wrong place:
// those are breaks, which stay where they are for Verify to name.
func (s *scan) readFile(path string) (err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	lines := newLineReader(f)
	found := s.flaws
	found.at, found.adopt, found.watch = s.place, s.adopt, s.watch
	defer func() {
		err = errors.Join(err, found.trim(f, s.good))
		s.flaws = found
	}()
	var doubt *scan // what s becomes if the doubtful part stays
	for {
		if s.stop && s.seq == s.watch.Seq {
			return nil
		}
		start := lines.offset
		line, err := lines.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			s.torn = doubt == nil && errors.Is(err, errTorn)
			return nil
		}
		if err != nil && !errors.Is(err, errShape) {
			return err
		}
		var l link
		if err == nil {
			l, err = readLink(line)
		}
		if err := found.line(f, l, line, err, lines.number, start); err != nil {
			return err
		}
		switch {
		case err != nil && doubt == nil:
			doubt = s.doubtful(&BreakError{File: filepath.Base(path), Line: lines.number, Seq: s.seq + 1, Why: err.Error()})
		case err != nil:
		case doubt == nil:
			s.take(l, line, lines, filepath.Base(path))
		default:
			doubt.take(l, line, lines, filepath.Base(path))
			if l.checkpoint {
				*s, doubt = *doubt, nil
			}
		}
	}
}

// doubtful is what s becomes if a line that is not sound, and what follows it, stays in the
// file. Where that is its first line, the file begins with the line that should be there,
// if anybody knows which: its name and the store's word are about that one.
func (s *scan) doubtful(b *BreakError) *scan {
	d := *s
	switch {
	case d.first != 0:
	case !s.adopt:
		d.first = s.seq + 1
	case s.watch != nil:
		d.first = s.watch.First
	}
	if d.broken == nil {
		d.broken = b
	}
	return &d
}

// take goes on with a sound line.
func (s *scan) take(l link, line []byte, at *lineReader, name string) {
	if s.first == 0 {
		s.first = l.seq
		if s.adopt {
			s.place = place{l.seq - 1, l.prev}
		}
	}
	if (l.seq != s.seq+1 || l.prev != s.hash) && s.broken == nil {
		s.broken = &BreakError{
			File: name, Line: at.number, Seq: l.seq, Kind: BadPrev,
			Why: fmt.Sprintf("it does not follow the line before it, seq %d", s.seq),
		}
	}
	s.place, s.good = l.place, at.offset
	s.since++
	if l.checkpoint {
		var c struct {
			Checkpoint Checkpoint `json:"checkpoint"`
		}
		if json.Unmarshal(line, &c) == nil {
			s.since, s.keyID = 0, c.Checkpoint.KeyID
		}
		if s.watch != nil && s.watch.Closed && l.seq > s.watch.Seq+1 && s.broken == nil {
			c, err := readCheckpoint(line, Keys{s.key.ID(): s.key.Public()})
			s.signed = s.signed || err == nil && c.Hash == l.prev.String()
		}
	}
	if s.watch != nil && s.watch.Seq == l.seq {
		s.watched = l.hash.String()
	}
}

// compare says what is wrong between the end of the chain and known; empty
// means nothing.
func (s *scan) compare(known *Head) string {
	switch {
	case known == nil:
		return ""
	case known.Seq > s.seq:
		return truncated(s.seq, known.Seq)
	case s.watched != "" && s.watched != known.Hash:
		return rewritten(known.Seq)
	case known.Closed && s.seq > known.Seq && !s.signed: // with a signature the store is the older one
		return fmt.Sprintf("the log stopped in order at seq %d and has lines up to %d that no signature vouches for",
			known.Seq, s.seq)
	case known.First != 0 && s.first > known.First && s.first <= known.Seq:
		return fmt.Sprintf("the file begins with the line %d, and the store knows that it began with %d: its beginning is "+
			"gone", s.first, known.First)
	}
	return ""
}
