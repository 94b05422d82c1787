package audit

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"approver.example"
)

// A Query reads the records of one log, or of the logs of several replicas, each event once.
type Query struct {
	Dirs     []string
	From, To time.Time        // [From, To); zero is no bound
	Events   []approver.Event // only these; empty means all
	// Brief yields lines that have no more than v, event, timestamp, agent, tool, session, dir, command,
	// summary, args, peer_uid, again and, of verdict and observed, decision, by, rule, severity, shadow and
	// allowed. They are read faster.
	Brief bool

	// Repeats and Differing are as in Report, of what was read. Lines of other Events count too.
	Repeats   uint64
	Differing DifferenceList
}

// A found is a record that a Query reads.
type found struct {
	chunk     // without its text
	at    int // its offset in the chunk
	time  time.Time
	once  bool   // it has one
	hash  uint64 // of it
	line  *Line  // nil if it is not to be yielded
}

// Records yields the readable records, those of one log in its order, and of several by their times. A line
// that cannot be read is a *BreakError. An error comes last.
func (q *Query) Records(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		q.Repeats, q.Differing = 0, DifferenceList{}
		repeats := newRepeatCounter()
		var logs []iter.Seq2[found, error]
		for _, dir := range q.Dirs {
			logs = append(logs, q.log(ctx, dir, repeats))
		}
		files := map[*chunkFile]int{}
		for r, err := range byTime(logs) {
			if err != nil {
				yield(Line{}, fmt.Errorf("read the audit log: %w", err))
				return
			}
			if r.once {
				if _, known := files[r.file]; !known {
					files[r.file] = repeats.enter(r.file.path)
				}
				if q.repeats(repeats, r, files[r.file]) {
					continue
				}
			}
			if r.line != nil && !yield(*r.line, nil) {
				return
			}
		}
	}
}

// repeats reports whether a record repeats an event, and counts it then.
func (q *Query) repeats(all *repeatCounter, r found, file int) bool {
	at := spotOf(file, r.start+int64(r.at))
	first, again := all.seen(r.hash, at)
	if !again {
		return false
	}
	l, ok := all.read(at, r.hash)
	if !ok {
		return false
	}
	d, again := all.compare(l, r.hash, first)
	if again {
		d.File, d.Line = filepath.Base(r.file.path), r.number
		q.Repeats++
		q.Differing.add(d)
	}
	return again
}

// log yields the records of one log that are wanted, or have a once.
func (q *Query) log(ctx context.Context, dir string, repeats *repeatCounter) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		walk, err := newWalker(dir)
		if err != nil {
			yield(found{}, err)
			return
		}
		for records, err := range inOrder(ctx, walk, func(c chunk) ([]found, error) { return q.in(c, repeats) }) {
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(found{}, err)
				return
			}
		}
	}
}

// in finds the records of a chunk, up to a line that cannot be read.
func (q *Query) in(c chunk, repeats *repeatCounter) (records []found, err error) {
	number := c.number
	for at, text := range c.lines() {
		number++
		event, when, ok := headOf(text)
		if !ok {
			if when, err = timeOf(text); err != nil {
				return records, c.badLine(at, err)
			}
			if l, err := ParseLine(text); err == nil {
				event = l.Event
			}
		}
		if event == "" || !q.From.IsZero() && when.Before(q.From) || !q.To.IsZero() && !when.Before(q.To) {
			continue
		}
		r := found{chunk: chunk{file: c.file, number: number, start: c.start}, at: at, time: when}
		if once := onceOf(text); once != nil {
			r.once, r.hash = true, repeats.hash(once)
		}
		if len(q.Events) == 0 || slices.Contains(q.Events, event) {
			r.line = q.read(text)
		}
		if r.once || r.line != nil {
			records = append(records, r)
		}
	}
	return records, nil
}

// read reads a record; nil if it cannot be read.
func (q *Query) read(text []byte) *Line {
	if q.Brief {
		if l, ok := briefly(text); ok {
			return &l
		}
	}
	l, err := ParseLine(text)
	if err != nil {
		return nil
	}
	return &l
}

// byTime merges logs by time. It keeps the order of each.
func byTime(logs []iter.Seq2[found, error]) iter.Seq2[found, error] {
	if len(logs) == 1 {
		return logs[0]
	}
	return func(yield func(found, error) bool) {
		type source struct {
			next func() (found, error, bool)
			r    found
			err  error
		}
		var open []*source
		for _, log := range logs {
			next, stop := iter.Pull2(log)
			defer stop()
			s := &source{next: next}
			var ok bool
			if s.r, s.err, ok = next(); ok {
				open = append(open, s)
			}
		}
		for len(open) > 0 {
			first := slices.MinFunc(open, func(a, b *source) int { return a.r.time.Compare(b.r.time) })
			if !yield(first.r, first.err) || first.err != nil {
				return
			}
			var ok bool
			if first.r, first.err, ok = first.next(); !ok {
				open = slices.DeleteFunc(open, func(s *source) bool { return s == first })
			}
		}
	}
}
