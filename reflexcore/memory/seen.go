package memory

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
)

// seenVersion is the version of the record's format.
const seenVersion = 1

// How much is stored, and how exact the times are.
const (
	keepSeen    = 60 * 24 * time.Hour // longer than the longest flow.session
	maxUsed     = 200                 // destinations
	maxUsedName = 256                 // bytes
	seenEvery   = time.Minute
)

// A seenRecord is the record of what an agent's model has read in a project, and which destinations
// it used. It belongs to uid, agent and project. It does not belong to the session, because an agent
// could start a new one to be rid of it. Losing it would let calls pass, so it is durable before the
// call is released.
type seenRecord struct {
	V int `json:"v"`
	// At is when data of each label was last read, highest label first, in seconds since 1970; 0 is
	// never.
	At [flow.Public]int64 `json:"at"`
	// Used are the destinations that data went to or came from, oldest first.
	Used []string `json:"used,omitempty"`
}

func decodeSeen(b []byte) (r seenRecord, err error) {
	if len(b) == 0 {
		return r, nil
	}
	if err := decode(b, "a session", &r); err != nil {
		return seenRecord{}, err
	}
	if r.V != seenVersion {
		return seenRecord{}, errVersion("a session", r.V, seenVersion)
	}
	if len(r.Used) > maxUsed ||
		slices.ContainsFunc(r.Used, func(to string) bool { return to == "" || len(to) > maxUsedName }) {
		return seenRecord{}, errors.New("what is remembered of destinations is no list of them")
	}
	return r, nil
}

// highest returns the highest label that was read in the time keep before at. Entries from the
// future count as well, because clocks can be set back.
func (r *seenRecord) highest(at time.Time, keep time.Duration) flow.Label {
	for l, when := range r.At {
		if when != 0 && at.Sub(time.Unix(when, 0)) < keep {
			return flow.Label(l)
		}
	}
	return flow.Public
}

// has reports whether the record already has a label and destinations.
func (r *seenRecord) has(l flow.Label, to []string, at time.Time) bool {
	if l < flow.Public && (r.At[l] == 0 || at.Unix()-r.At[l] >= int64(seenEvery/time.Second)) {
		return false
	}
	return !slices.ContainsFunc(to, func(name string) bool {
		return name != "" && len(name) <= maxUsedName && !slices.Contains(r.Used, name)
	})
}

// with returns the record with a label and destinations added.
func (r seenRecord) with(l flow.Label, to []string, at time.Time) seenRecord {
	r.V, r.Used = seenVersion, slices.Clone(r.Used)
	if l < flow.Public {
		r.At[l] = max(at.Unix(), r.At[l], 1)
	}
	for _, name := range to {
		if name != "" && len(name) <= maxUsedName && !slices.Contains(r.Used, name) {
			r.Used = append(r.Used, name)
		}
	}
	r.Used = r.Used[max(0, len(r.Used)-maxUsed):]
	return r
}

// Seen returns the highest label that the model has read in the time keep. With an error it returns
// the highest label of all.
func (p *Past) Seen(keep time.Duration) (flow.Label, error) {
	r, err := p.seen.current(p.ctx, p.m.store)
	p.saw = r
	if err != nil {
		return flow.Critical, err
	}
	return r.highest(p.at, keep), nil
}

// Used reports whether a destination was used, according to the record that [Past.Seen] read.
func (p *Past) Used(to string) bool { return slices.Contains(p.saw.Used, to) }

// See stores that the model reads data with a label (Public is nothing) and that destinations are
// used. It returns when that is durable.
func (p *Past) See(l flow.Label, to []string) error {
	if l >= flow.Public && len(to) == 0 {
		return nil
	}
	return p.seen.update(p.ctx, p.m.store, "what the session has seen", time.Now().Add(keepSeen),
		func(r seenRecord) (seenRecord, []byte, error) {
			if r.has(l, to, p.at) {
				return r, nil, nil
			}
			r = r.with(l, to, p.at)
			b, err := json.Marshal(r)
			return r, b, err
		})
}

// Label returns the label that earlier calls gave a file, as bits.
func (p *Past) Label(path string) (effect.Taint, error) {
	files, err := p.taint.current(p.ctx, p.m.store)
	if err != nil {
		return effect.Critical, err
	}
	return files.of(path) & effect.Labels, nil
}

// Labeled returns the files in a folder that have a label or hold a secret. If there was no room to
// store which files, or with an error, it returns the folder itself.
func (p *Past) Labeled(dir string) ([]File, error) {
	files, err := p.taint.current(p.ctx, p.m.store)
	if err != nil {
		return []File{{Path: dir, Taint: effect.Critical, Tree: true}}, err
	}
	if files.of(dir)&folderTaints == 0 {
		return nil, nil
	}
	return files.labeled(dir), nil
}

// labeled returns the files in a folder that have a label or hold a secret.
func (t *taintedFiles) labeled(dir string) (out []File) {
	for _, f := range t.files {
		if f.Taint&folderTaints != 0 &&
			(f.Path == dir || len(f.Path) > len(dir) && f.Path[len(dir)] == '/' && f.Path[:len(dir)] == dir) {
			out = append(out, File{Path: f.Path, Taint: f.Taint, Tree: f.Tree})
		}
	}
	if old := t.old.of(dir) & folderTaints; old != 0 {
		out = append(out, File{Path: dir, Taint: old | effect.File, Tree: true})
	}
	return out
}
