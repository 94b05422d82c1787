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

// A trace is the record of one session.
type trace struct {
	storedRecord
	readAt time.Time
	base   uint64 // the calls after this one are not stored yet
	window loop.Window
	files  []string // made, the oldest first
	dirty  bool
}

// traceVersion is the version of the record's format.
const traceVersion = 1

type traceRecord struct {
	V      int         `json:"v"`
	Window loop.Window `json:"window"`
	Made   []string    `json:"made,omitempty"`
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

func (t *trace) idle() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used, !t.dirty
}

// load reads from time to time what other replicas have written. Its errors cost only warnings and
// questions, so they are ignored.
func (t *trace) load(ctx context.Context, m *Memory, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.store == nil || t.dirty || !t.readAt.IsZero() && at.Sub(t.readAt) < refresh {
		return
	}
	t.readAt = at
	b, rev, err := get(ctx, m.store, t.key)
	if err == nil && rev != t.rev {
		var r traceRecord
		if r, err = decodeTrace(b); err == nil {
			t.take(r, rev)
		}
	}
	if err != nil {
		m.log.Warn("what is remembered of calls could not be read: there are fewer warnings and more questions", "error", err)
	}
}

func (t *trace) take(r traceRecord, rev approver.Rev) {
	t.window, t.files, t.rev, t.base = r.Window, r.Made, rev, r.Window.Next
}

func (t *trace) made(p string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.files, p)
}

func (t *trace) moved(to []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = slices.DeleteFunc(t.files, func(made string) bool {
		return slices.ContainsFunc(to, func(p string) bool { return p == made || strings.HasPrefix(p, made+"/") })
	})
	t.dirty = true
}

func (t *trace) judge(c loop.Call, l loop.Limits) loop.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.window.Judge(c, l)
	if f.Rule != "" {
		t.dirty = true
	}
	return f
}

func (t *trace) add(c loop.Call, makes []string, l loop.Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range makes {
		if storable(p) && len(c.Makes) < maxMakes {
			c.Makes = append(c.Makes, p)
		}
	}
	t.window.Add(c, l)
	t.dirty = true
}

// maxMakes limits the files of one call that are stored.
const maxMakes = 8

func (t *trace) ran(hash uint64, out loop.Output) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.window.Ran(hash, out)
	if c == nil {
		return
	}
	t.dirty = true
	for _, p := range c.Makes {
		t.files = append(slices.DeleteFunc(t.files, func(have string) bool { return have == p }), p)
	}
	t.files = t.files[max(0, len(t.files)-maxMade):]
	c.Makes = nil
}

// save writes the record, and merges what others have written.
func (t *trace) save(ctx context.Context, store KV) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range attempts {
		b, err := encodeTrace(t.window, t.files)
		if err != nil {
			return err
		}
		if err = t.storedRecord.save(ctx, store, b, time.Now().Add(keepTrace)); err == nil {
			t.base, t.dirty = t.window.Next, false
			return nil
		}
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
		stored, rev, err := get(ctx, store, t.key)
		if err != nil {
			return err
		}
		theirs, err := decodeTrace(stored)
		if err != nil { // ours is better than none
			theirs = traceRecord{}
		}
		theirs.Window.Merge(t.window, t.base)
		for _, p := range t.files {
			if !slices.Contains(theirs.Made, p) {
				theirs.Made = append(theirs.Made, p)
			}
		}
		theirs.Made = theirs.Made[max(0, len(theirs.Made)-maxMade):]
		t.window, t.files, t.rev, t.base = theirs.Window, theirs.Made, rev, theirs.Window.Next
	}
	return errBusy
}
