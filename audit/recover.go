package audit

import (
	"fmt"
	"os"
	"path/filepath"
)

// resume finds the end of the log, sets aside bytes after it that are no lines, and
// opens the log for appending. known is the expected end; nil if nobody knows it.
// With ours, known comes from this process: it refused all later lines, so resume
// drops them even if they are valid. resume returns alarms even with an error, which
// means that the log cannot be opened.
func (l *Log) resume(known *Head, ours bool) (alarms []alarm, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("audit log: %w", explain(l.o.Dir, err))
		}
	}()
	before, err := l.active.dir.unrotate()
	if err != nil {
		return nil, err
	}
	loss := func(format string, args ...any) {
		alarms = append(alarms, alarm{kind: lossAlarm, text: fmt.Sprintf(format, args...)})
	}
	s := scan{place: place{hash: genesis()}}
	if before != "" {
		if s.place, err = lastPlace(before); err != nil {
			s.adopt = true
			loss(brokenAt+"the end of %s: %v", filepath.Base(before), err)
		}
	} else {
		s.adopt = true // earlier files may have been archived
	}
	path := l.active.dir.activePath()
	if first, err := firstLine(path); err == nil && first.seq > s.seq+1 {
		s = scan{place: place{hash: genesis()}, adopt: true} // those in between were archived
	}
	s.flaws.key = l.o.Key
	l.active.origin = s
	s.watch, s.stop, s.key = known, ours, l.o.Key
	if err := s.readFile(path); err != nil {
		return nil, err
	}
	l.active.broken, l.active.parts = s.breakText(), s.flaws.brokenParts()
	if fresh := s.flaws.unreported(s.broken); len(fresh) > 0 {
		alarms = append(alarms, fresh...)
		l.healing.loss = fresh[0].text
	}
	aside, err := l.cutOff(path, s, known)
	if err != nil {
		return nil, err
	}
	alarms = append(alarms, aside...)
	if s.keyID != "" && s.keyID != l.o.Key.ID() {
		alarms = append(alarms, alarm{kind: keyAlarm, text: fmt.Sprintf("the signing key is %s now; before it was "+
			"%s", l.o.Key.ID(), s.keyID)})
	}
	if text := s.compare(known); text != "" {
		loss("%s", text)
		l.healing.loss = text
	}
	return alarms, l.reopen(path, s)
}

// cutOff removes the bytes after the last valid line from the file. It keeps them in a
// file of their own, unless they are a write that this process refused.
func (l *Log) cutOff(path string, s scan, known *Head) ([]alarm, error) {
	switch {
	case s.good == s.size:
		return nil, nil
	case s.stop && s.seq == known.Seq && !l.healing.changed:
		return nil, os.Truncate(path, s.good) // reopen makes it durable
	}
	text, err := setAside(path, s.good, s.seq)
	if err != nil {
		return nil, err
	}
	kind := lossAlarm
	if s.torn && (known == nil || known.Seq <= s.seq) {
		kind = tornAlarm
	}
	if known != nil && known.Closed { // it cannot be an interrupted write
		l.healing.loss = text
	}
	return []alarm{{kind: kind, text: text}}, nil
}

// reopen opens the file to append after the last valid line.
func (l *Log) reopen(path string, s scan) error {
	if err := l.active.reopen(path, s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue.end, l.queue.since, l.queue.size = s.place, s.since, s.good
	l.durable = Head{Log: l.o.ID, Seq: s.seq, Hash: s.hash.String(), First: l.active.first}
	return nil
}
