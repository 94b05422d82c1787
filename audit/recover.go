package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// brokenAt begins the alarm about a break that stays in the log; see Part.
const brokenAt = "the log is broken at "

// resume finds the end of the log, sets aside what is no part of it, and
// opens it for appending. known is where the log ended by somebody else's word,
// nil if nobody knows. With ours it is this process's own: whoever waited for a
// line behind it was told that it is not recorded, so it is dropped, sound or
// not. resume returns what people must know of, also with an error, which means
// that the log cannot be opened.
func (l *Log) resume(known *Head, ours bool) (alarms []alarm, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("audit log: %w", explain(l.o.Dir, err))
		}
	}()
	before, err := l.unrotate()
	if err != nil {
		return nil, err
	}
	loss := func(format string, args ...any) {
		alarms = append(alarms, alarm{kind: lossAlarm, text: fmt.Sprintf(format, args...)})
	}
	s := scan{place: place{hash: genesis()}}
	if before != "" {
		if s.place, err = lastOf(before); err != nil {
			s.adopt = true
			loss(brokenAt+"the end of %s: %v", filepath.Base(before), err)
		}
	} else {
		s.adopt = true // earlier files may have been archived
	}
	path := filepath.Join(l.o.Dir, activeName)
	if first, err := firstLine(path); err == nil && first.seq > s.seq+1 {
		s = scan{place: place{hash: genesis()}, adopt: true} // those in between were archived
	}
	s.flaws.key = l.o.Key
	l.origin = s
	s.watch, s.stop, s.key = known, ours, l.o.Key
	if err := s.file(path); err != nil {
		return nil, err
	}
	l.broken, l.parts = s.breakText(), s.flaws.parts()
	if fresh := s.flaws.fresh(s.broken); len(fresh) > 0 {
		alarms = append(alarms, fresh...)
		l.lost = fresh[0].text
	}
	aside, err := l.cutOff(path, s, known)
	if err != nil {
		return nil, err
	}
	alarms = append(alarms, aside...)
	if s.keyID != "" && s.keyID != l.o.Key.ID() {
		alarms = append(alarms, alarm{kind: keyAlarm, text: fmt.Sprintf("the signing key is %s now; before it was %s", l.o.Key.ID(), s.keyID)})
	}
	if text := s.compare(known); text != "" {
		loss("%s", text)
		l.lost = text
	}
	return alarms, l.goOn(path, s)
}

// cutOff takes what stands behind the last sound line out of the file, and keeps what
// is not our own refused writing.
func (l *Log) cutOff(path string, s scan, known *Head) ([]alarm, error) {
	switch {
	case s.good == s.size:
		return nil, nil
	case s.stop && s.seq == known.Seq && !l.changed:
		return nil, os.Truncate(path, s.good) // made durable by goOn
	}
	text, err := setAside(path, s.good, s.seq)
	if err != nil {
		return nil, err
	}
	kind := lossAlarm
	if s.torn && (known == nil || known.Seq <= s.seq) {
		kind = tornAlarm
	}
	if known != nil && known.Closed { // no write was under way
		l.lost = text
	}
	return []alarm{{kind: kind, text: text}}, nil
}

// goOn opens the file for what comes behind the last sound line.
func (l *Log) goOn(path string, s scan) error {
	f, err := plain(path)
	if err != nil {
		return err
	}
	if err := errors.Join(l.o.sync(f), syncDir(l.o.Dir)); err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.kept, l.first, l.unread = f, s.good, max(s.first, 1), false
	if s.first == 0 {
		l.first = s.seq + 1
	}
	if err := l.mark(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end, l.since, l.size = s.place, s.since, s.good
	l.durable = Head{Log: l.o.ID, Seq: s.seq, Hash: s.hash.String(), First: l.first}
	return nil
}

// unrotate returns the path of the last full file before audit.jsonl. Where a
// crash in the middle of a rotation left no audit.jsonl, or an empty one, the
// last full file becomes it again.
func (l *Log) unrotate() (before string, err error) {
	full, err := rotated(l.o.Dir)
	if err != nil || len(full) == 0 {
		return "", err
	}
	path := filepath.Join(l.o.Dir, activeName)
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil || info.Size() == 0 {
		last := full[len(full)-1]
		if err := os.Rename(last.path, path); err != nil {
			return "", err
		}
		full = full[:len(full)-1]
	}
	if len(full) == 0 {
		return "", nil
	}
	return full[len(full)-1].path, nil
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

// file reads the file at path; one that does not exist is empty.
//
// A line whose own hash does not fit, and what follows it, may be what a crash
// left of a write that was never acknowledged, and is not counted. But a crash
// leaves no checkpoint behind such a line, and no sound line in a wrong place:
// those are breaks, which stay where they are for Verify to name.
func (s *scan) file(path string) (err error) {
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
			doubt = s.doubt(&BreakError{File: filepath.Base(path), Line: lines.number, Seq: s.seq + 1, Why: err.Error()})
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

// doubt is what s becomes if a line that is not sound, and what follows it, stays in the
// file. Where that is its first line, the file begins with the line that should be there,
// if anybody knows which: its name and the store's word are about that one.
func (s *scan) doubt(b *BreakError) *scan {
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
		return fmt.Sprintf("the log stopped in order at seq %d and has lines up to %d that no signature vouches for", known.Seq, s.seq)
	case known.First != 0 && s.first > known.First && s.first <= known.Seq:
		return fmt.Sprintf("the file begins with the line %d, and the store knows that it began with %d: its beginning is gone", s.first, known.First)
	}
	return ""
}

func truncated(end, known uint64) string {
	return fmt.Sprintf("the log ends at seq %d but the store knows %d: the last %d lines are gone", end, known, known-end)
}

func rewritten(seq uint64) string {
	return fmt.Sprintf("the line with seq %d is not the one that the store knows: the log was written anew", seq)
}

// has reports whether the log has this line.
func (l *Log) has(line Head) (bool, error) {
	if line.Seq == 0 {
		return line.Hash == genesis().String(), nil
	}
	in := func(path string) (bool, error) {
		s := scan{place: place{hash: genesis()}, watch: &line, adopt: true}
		err := s.file(path)
		return s.watched == line.Hash, err
	}
	// The file that is written comes first: if it is rotated meanwhile, it is listed then.
	if ok, err := in(filepath.Join(l.o.Dir, activeName)); ok || err != nil {
		return ok, err
	}
	full, err := rotated(l.o.Dir)
	if err != nil {
		return false, err
	}
	for _, f := range slices.Backward(full) {
		if f.first <= line.Seq {
			return in(f.path)
		}
	}
	return false, nil
}

// firstLine returns what the first line of a file says.
func firstLine(path string) (link, error) {
	f, err := os.Open(path)
	if err != nil {
		return link{}, err
	}
	defer f.Close()
	line, err := newLineReader(f).next()
	if err != nil {
		return link{}, err
	}
	return readLink(line)
}

// lastOf returns the place of the last line of a full file.
func lastOf(path string) (place, error) {
	line, err := lastLine(path)
	if err != nil {
		return place{}, err
	}
	l, err := readLink(line)
	return l.place, err
}

// lastLine returns the last line of a full file.
func lastLine(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), MaxLine))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
		return nil, err
	}
	b, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok {
		return nil, errTorn
	}
	return b[bytes.LastIndexByte(b, '\n')+1:], nil
}

// setAside moves what stands behind offset to a file of its own.
func setAside(path string, offset int64, seq uint64) (note string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	var side *os.File
	for n := 1; ; n++ {
		name := fmt.Sprintf("audit-%d.torn", seq+1)
		if n > 1 {
			name = fmt.Sprintf("audit-%d-%d.torn", seq+1, n)
		}
		side, err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(side, sum), f)
	if err = errors.Join(err, side.Sync(), side.Close()); err != nil {
		return "", err
	}
	if err := syncDir(dir); err != nil {
		return "", err
	}
	if err := errors.Join(f.Truncate(offset), f.Sync()); err != nil {
		return "", err
	}
	return fmt.Sprintf("the last %d bytes of the log were no sound lines (a crash in the middle of a write, or an edit): "+
		"they are kept in %s, sha256 %x; the chain goes on behind seq %d", size, filepath.Base(side.Name()), sum.Sum(nil), seq), nil
}
