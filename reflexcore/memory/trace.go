package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/reflexcore/loop"
)

// A trace is the memory of one session.
type trace struct {
	traceRecord
	base   uint64 // the calls after this one are not stored yet
	readAt time.Time
}

// traceVersion is the version of the record's format.
const traceVersion = 1

// A traceRecord is the stored part of a trace.
type traceRecord struct {
	V      int         `json:"v"`
	Window loop.Window `json:"window"`
	Made   []string    `json:"made,omitempty"` // files, the oldest first
}

func decodeTrace(b []byte) (r traceRecord, err error) {
	if len(b) == 0 {
		return r, nil
	}
	if err := decode(b, "calls", &r); err != nil {
		return traceRecord{}, err
	}
	if r.V != traceVersion {
		return traceRecord{}, errVersion("calls", r.V, traceVersion)
	}
	if len(r.Made) > maxMade || slices.ContainsFunc(r.Made, func(p string) bool { return !storable(p) }) {
		return traceRecord{}, errors.New("what is remembered of made files is no list of files")
	}
	if err := r.Window.Check(); err != nil {
		return traceRecord{}, err
	}
	return r, nil
}

// encodeTrace encodes the record, without the oldest files and calls that do not fit.
func encodeTrace(w loop.Window, made []string) ([]byte, error) {
	for {
		b, err := json.Marshal(traceRecord{traceVersion, w, made})
		switch {
		case err != nil || len(b) <= maxRecord:
			return b, err
		case len(made) > 0:
			made = made[len(made)/4+1:]
		default:
			w.Calls = w.Calls[len(w.Calls)/4+1:]
		}
	}
}

// readTrace decodes a record.
func readTrace(b []byte) (trace, error) {
	r, err := decodeTrace(b)
	return trace{traceRecord: r, base: r.Window.Next}, err
}

// refreshTrace reads from time to time what other replicas have written. Its errors cost only
// warnings and questions, so they are ignored.
func (p *Past) refreshTrace() {
	r := p.trace
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := &r.value; p.m.store == nil || r.unsaved || !t.readAt.IsZero() && p.at.Sub(t.readAt) < refresh {
		return
	}
	if err := r.load(p.ctx, p.m.store); err != nil {
		p.m.log.Warn("what is remembered of calls could not be read: there are fewer warnings and more questions",
			"error", err)
	}
	r.value.readAt = p.at
}

// Made reports whether an earlier call of this session made the file.
func (p *Past) Made(path string) bool {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	return slices.Contains(p.trace.value.Made, path)
}

// Moved forgets that the session made a file or folder if something else is moved into it: deleting
// it would delete that, too.
func (p *Past) Moved(to []string) {
	if len(to) == 0 {
		return
	}
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	t := &p.trace.value
	t.Made = slices.DeleteFunc(t.Made, func(made string) bool {
		return slices.ContainsFunc(to, func(p string) bool { return p == made || strings.HasPrefix(p, made+"/") })
	})
	p.trace.unsaved = true
}

// Loop checks whether a call continues a loop, see [loop.Window.Judge].
func (p *Past) Loop(c loop.Call) loop.Finding {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	f := p.trace.value.Window.Judge(c, p.m.limits)
	p.trace.unsaved = p.trace.unsaved || f.Rule != ""
	return f
}

// Call records a call that is about to run, and the files that it would make.
func (p *Past) Call(c loop.Call, makes []string) {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	for _, file := range makes {
		if storable(file) && len(c.Makes) < maxMakes {
			c.Makes = append(c.Makes, file)
		}
	}
	p.trace.value.Window.Add(c, p.m.limits)
	p.trace.unsaved = true
}

// maxMakes limits the files of one call that are stored.
const maxMakes = 8

// Ran records the result of a call. The files that it made count from now on.
func (p *Past) Ran(hash uint64, out loop.Output) {
	p.trace.mu.Lock()
	defer p.trace.mu.Unlock()
	t := &p.trace.value
	c := t.Window.Ran(hash, out)
	if c == nil {
		return
	}
	p.trace.unsaved = true
	for _, file := range c.Makes {
		t.Made = append(slices.DeleteFunc(t.Made, func(have string) bool { return have == file }), file)
	}
	t.Made = t.Made[max(0, len(t.Made)-maxMade):]
	c.Makes = nil
}

// saveTrace writes a trace, and merges what others have written.
func saveTrace(ctx context.Context, store KV, r *record[trace]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range attempts {
		t := &r.value
		b, err := encodeTrace(t.Window, t.Made)
		if err != nil {
			return err
		}
		if err = r.save(ctx, store, b, time.Now().Add(keepTrace)); err == nil {
			t.base, r.unsaved = t.Window.Next, false
			return nil
		}
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
		stored, rev, err := get(ctx, store, r.key)
		if err != nil {
			return err
		}
		theirs, err := decodeTrace(stored)
		if err != nil { // ours is better than none
			theirs = traceRecord{}
		}
		theirs.Window.Merge(t.Window, t.base)
		for _, file := range t.Made {
			if !slices.Contains(theirs.Made, file) {
				theirs.Made = append(theirs.Made, file)
			}
		}
		theirs.Made = theirs.Made[max(0, len(theirs.Made)-maxMade):]
		t.traceRecord, t.base, r.rev = theirs, theirs.Window.Next, rev
	}
	return errBusy
}
