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

// breakText is the first break that stays in the file; empty if there is none.
func (s *scan) breakText() string {
	if s.broken == nil {
		return ""
	}
	return s.broken.Error()
}

// A scan finds the end of the chain in one file. At first its place is the line before
// the file.
type scan struct {
	place
	adopt bool  // take the file's first line as it is
	watch *Head // the expected end of the log
	stop  bool  // do not read on after watch
	flaws flaws
	key   Key // whose signatures count after watch

	first   uint64 // seq of the file's first line
	good    int64  // size of the file up to the end of the chain
	size    int64
	since   int         // lines after the last checkpoint
	keyID   string      // of the last checkpoint
	torn    bool        // one incomplete line follows the chain, and nothing else: an interrupted write
	broken  *BreakError // the first break that stays in the file
	watched string      // hash of the line watch.Seq
	signed  bool        // key has signed lines after watch
}

// readFile reads the file at path; one that does not exist is empty.
//
// A crash can leave an unacknowledged write whose lines have wrong hashes. Such lines
// do not count. But a crash leaves no checkpoint after them, and no valid line in a
// wrong place. These are breaks; they stay in the file, and Verify names them.
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
	var doubt *scan // s with the invalid lines, if they turn out to be a break
	for {
		if s.stop && s.seq == s.watch.Seq {
			return nil
		}
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
		if err := found.line(f, l, line, err, lines.number, lines.start); err != nil {
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

// doubtful is s as it continues if an invalid line, and what follows it, stays in the file.
// If that is the first line, the file counts as beginning with the line that should be
// there: the one after the previous file, or the store's.
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

// take adds a valid line.
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

// compare says how the end of the chain contradicts known; empty if it does not.
func (s *scan) compare(known *Head) string {
	switch {
	case known == nil:
		return ""
	case known.Seq > s.seq:
		return truncated(s.seq, known.Seq)
	case s.watched != "" && s.watched != known.Hash:
		return rewritten(known.Seq)
	case known.Closed && s.seq > known.Seq && !s.signed: // signed lines mean that the store is older
		return fmt.Sprintf("the log stopped in order at seq %d and has lines up to %d that no signature vouches for",
			known.Seq, s.seq)
	case known.First != 0 && s.first > known.First && s.first <= known.Seq:
		return fmt.Sprintf("the file begins with the line %d, and the store knows that it began with %d: its beginning is "+
			"gone", s.first, known.First)
	}
	return ""
}
