package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// MaxLag is how much older than the log its store may honestly be: what a crash, or a
// fail-over of the store, takes along. The store hears of the log's end four times
// a second.
const MaxLag = 10 * time.Second

// An Opening is what a log and its store knew of each other when the log was
// opened.
type Opening struct {
	Seq  uint64 // of the log's last line; zero is a new log
	Head *Head  // where it ended by the store's word; nil if the store knew nothing
	// Renamed means that the log was written under another id before, so that the
	// store need not know this one.
	Renamed bool
	// Told is how far requests came in the lines of the last day of which the store was
	// not told. It must know of each that it did.
	Told map[string]approver.Told
	// Revoked are requests and grants that people took back in those lines. The store must
	// not have them open.
	Revoked []approver.Told
	// End is the time of the last line.
	End time.Time
	// Controls is the newest version of the record of freezes and pauses that the
	// head in the store, or a line behind it, knows of. Zero is of the version before.
	Controls uint64
	// Frozen is the newest freeze that the store was not told of.
	Frozen time.Time
	// Lost is what is gone from the log, or was changed in it, by the store's word or its
	// own, and was not known before.
	Lost string
	// Older says why the store is older than the log; empty means that it is not,
	// as far as the log can tell.
	Older string
}

// Opened is what was found when the log was opened.
func (l *Log) Opened() Opening { return l.opened }

// Accept lets the store hear of the log's end, after what Opened says was judged. It
// is needed only with Options.Hold.
func (l *Log) Accept() { l.accept.Do(func() { close(l.accepted) }) }

// taken are the events that are recorded after the store has taken what they tell
// of. Others are recorded while the store is away, too.
var taken = []approver.Event{
	approver.EventPosted, approver.EventApproved, approver.EventReleased, approver.EventRepeated, approver.EventGranted, approver.EventGrantUsed,
	approver.EventParked, approver.EventFrozen, approver.EventAcked,
}

// A counted line is of an event whose time counts for the lag of the store.
type counted struct {
	seq uint64
	at  time.Time
}

// maxUnheard is the time that counted lines may span of which the store was not
// told. The rest of MaxLag is for what a fail-over takes along.
const maxUnheard = MaxLag / 2

// A laggingError says that a line must wait until the store was told of more.
type laggingError struct{ headed <-chan struct{} }

func (laggingError) Error() string { return "the store has not taken the audit's head for too long" }

// counts returns the time of a line that counts, and otherwise zero. A freeze does
// not: it must never wait, and the store is compared with it by itself.
func (l *Log) counts(line Line) time.Time {
	if l.o.KV == nil || line.Event == approver.EventFrozen || !slices.Contains(taken, line.Event) {
		return time.Time{}
	}
	return line.Timestamp
}

// lagging reports whether a counted line has to wait, so that a crash never leaves
// a store that looks as if it had been replaced, however slow the writing of the
// head is. The caller holds mu.
func (l *Log) lagging(at time.Time) bool {
	if at.IsZero() {
		return false
	}
	select {
	case <-l.accepted:
	default: // nothing is told to the store yet, and nothing is asked
		return false
	}
	return slices.ContainsFunc(l.unheard, func(c counted) bool { return at.Sub(c.at) > maxUnheard })
}

// await waits until the store was told of more.
func (l *Log) await(ctx context.Context, headed <-chan struct{}) error {
	signal(l.headWake)
	select {
	case <-headed:
		return nil
	case <-l.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("audit record: the store does not take the audit's head: %w", ctx.Err())
	}
}

// heard notes that the store was told of the lines up to seq.
func (l *Log) heard(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unheard = slices.DeleteFunc(l.unheard, func(c counted) bool { return c.seq <= seq })
	if !l.again { // else it is a line of before the log was cut
		l.heardOf = max(l.heardOf, seq)
	}
	close(l.headed)
	l.headed = make(chan struct{})
}

// storedUpTo is the last line that the store is known to have taken.
func (l *Log) storedUpTo() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heardOf
}

// stopWait is how long a stop in order waits for the store.
const stopWait = 2 * time.Second

// tell reports whether the store was told of every line, and waits a moment for it. Nil
// is not known, as before Accept.
func (l *Log) tell(ctx context.Context) *bool {
	select {
	case <-l.accepted:
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	end := l.Head().Seq
	for told := false; ; {
		l.mu.Lock()
		headed := l.headed
		told = l.heardOf >= end
		l.mu.Unlock()
		if told {
			return &told
		}
		signal(l.hurry)
		if l.await(ctx, headed) != nil {
			return &told
		}
	}
}

// compare looks through the lines that the store was not told of.
func (l *Log) compare(o *Opening) error {
	if o.Head == nil {
		return nil
	}
	o.Controls = o.Head.Controls
	if o.Head.Seq >= o.Seq {
		return nil
	}
	o.Told = map[string]approver.Told{}
	var last time.Time // of what the store had taken
	var life life
	var stored uint64 // what the lines say that the store had taken
	err := l.each(o.Head.Seq+1, func(line Line) {
		o.Controls = max(o.Controls, line.Controls)
		if at := l.counts(line); !at.IsZero() {
			l.unheard = append(l.unheard, counted{line.Seq, at})
			last = at
		}
		if life.forgot(line, l.o.Volatile) {
			// It stopped in order, and then its store knew the end.
			o.Older = "its last words before it stopped in order are not in the store"
		}
		if line.Stored < line.Seq { // else it was begun before the log was cut
			stored = max(stored, line.Stored)
		}
		o.notes(line)
	})
	var lost time.Duration
	for _, c := range l.unheard {
		lost = max(lost, last.Sub(c.at))
	}
	switch {
	case o.Older != "":
	case lost > MaxLag:
		o.Older = fmt.Sprintf("what the store took for %s is not in it any more", lost.Round(time.Second))
	case o.Head.Closed:
		o.Older = "it knows that the log stopped in order there"
	case stored > o.Head.Seq && !l.o.Volatile:
		o.Older = fmt.Sprintf("it had taken the line %d", stored)
	}
	if o.Older != "" {
		o.Older = fmt.Sprintf("the store is older than the audit: it knows %d lines and the audit has %d; %s", o.Head.Seq, o.Seq, o.Older)
	}
	return err
}

// notes takes in what a line says that the store was not told of.
func (o *Opening) notes(line Line) {
	if line.Timestamp.After(o.End) {
		o.End = line.Timestamp
	}
	told := approver.Told{Request: line.Request, Event: line.Event, At: line.Timestamp, Once: line.Once}
	if time.Since(line.Timestamp) < approver.MinKeepFor/2 {
		told.Tell(o.Told)
	}
	switch {
	case line.Event == approver.EventRevoked && line.Request != "":
		o.Revoked = append(o.Revoked, told)
	case line.Event == approver.EventFrozen && line.Timestamp.After(o.Frozen):
		o.Frozen = line.Timestamp
	}
}

// A life is what the lines of one life of the daemon tell, of which the store was not told.
type life struct {
	begun time.Time // the first of them
	open  bool      // the store had taken what one of them tells of
}

// forgot reports whether a line is a stop in order before which the store was told of
// lines that it does not know. One that can lose its last seconds may have lost those.
func (f *life) forgot(line Line, volatile bool) bool {
	switch {
	case line.Event == approver.EventStarted:
		*f = life{begun: line.Timestamp}
		return false
	case line.Event != approver.EventStopped:
		if f.begun.IsZero() {
			f.begun = line.Timestamp
		}
		f.open = f.open || slices.Contains(taken, line.Event)
		return false
	case f.begun.IsZero(), line.Heard == nil && !f.open, line.Heard != nil && !*line.Heard:
		return false
	}
	return !volatile || line.Timestamp.Sub(f.begun) > MaxLag
}

// each calls f for every record from seq on that can be read.
func (l *Log) each(seq uint64, f func(Line)) error {
	full, err := rotated(l.o.Dir)
	if err != nil {
		return err
	}
	var paths []string
	for i, s := range full {
		if i+1 == len(full) || full[i+1].first > seq { // else all of it is before
			paths = append(paths, s.path)
		}
	}
	for _, path := range append(paths, filepath.Join(l.o.Dir, activeName)) {
		if err := eachOf(path, seq, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("audit log: %w", err)
		}
	}
	return nil
}

func eachOf(path string, seq uint64, f func(Line)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := newLineReader(file); ; {
		text, err := lines.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return nil
		case errors.Is(err, errShape):
			continue
		case err != nil:
			return err
		}
		if at, err := readLink(text); err != nil || at.seq < seq {
			continue
		}
		if line, err := ParseLine(text); err == nil {
			f(line)
		}
	}
}

// renamed reports that the last record of the log has another id.
func (l *Log) renamed(seq uint64) (renamed bool, err error) {
	err = l.each(max(seq, 64)-63, func(line Line) {
		id, _, _ := strings.Cut(line.ID, ":")
		renamed = id != l.o.ID
	})
	return renamed, err
}
