package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
)

// taintedFiles is the record of one uid: the files that must not be run or sent unquestioned, oldest
// first. It only grows, until the oldest files move to a sieve. That a call overwrites a file does
// not remove its entry, because the call may not have run.
type taintedFiles struct {
	files []file
	index map[string]int
	old   forgotten
}

type file struct {
	Path  string       `json:"p"`
	Taint effect.Taint `json:"-"`
	Bits  uint8        `json:"t"`
	Tree  bool         `json:"d,omitempty"`
}

// forgotten has sieves of the files that did not fit: those of the last day, and those of one
// keepTaint before it.
type forgotten struct {
	Old   sieve `json:"old,omitempty"`
	Older sieve `json:"older,omitempty"`
	Since int64 `json:"since,omitempty"` // seconds since 1970
	// Labels and OlderLabels are the files that had a label.
	Labels      sieve `json:"labels,omitempty"`
	OlderLabels sieve `json:"older_labels,omitempty"`
}

// of returns the taint that may be in a path. The exact label is lost, so it is the highest.
func (o *forgotten) of(p string) effect.Taint {
	out := o.Old.of(p) | o.Older.of(p)
	if o.Labels.of(p)|o.OlderLabels.of(p) != 0 {
		out |= effect.Critical
	}
	return out
}

// taintVersion is the version of the record's format. The first had no sieves, the second no labels.
const taintVersion = 3

type taintRecord struct {
	V     int    `json:"v"`
	Files []file `json:"files"`
	forgotten
}

// storedTaints are the taints that are stored. The taint File says nothing about a file.
const storedTaints = effect.Secret | effect.Network | effect.Decoded | effect.Labels

// folderTaints are the taints that a folder has if a file in it has them.
const folderTaints = effect.Secret | effect.Labels

func decodeTaint(b []byte) (r taintRecord, err error) {
	if len(b) == 0 {
		return r, nil
	}
	if err := decode(b, "files", &r); err != nil {
		return taintRecord{}, err
	}
	if r.V < 1 || r.V > taintVersion {
		return taintRecord{}, errVersion("files", r.V, fmt.Sprintf("1 to %d", taintVersion))
	}
	if len(r.Files) > maxFiles {
		return taintRecord{}, fmt.Errorf("%d files are remembered, more than %d", len(r.Files), maxFiles)
	}
	for i := range r.Files {
		f := &r.Files[i]
		f.Taint = effect.Taint(f.Bits)
		if f.Taint&^storedTaints != 0 || f.Taint == 0 || !storable(f.Path) ||
			f.Taint&effect.Labels != flow.Of(f.Taint&effect.Labels).Taint() {
			return taintRecord{}, fmt.Errorf("the file %d that is remembered is none", i)
		}
	}
	for _, s := range []sieve{r.Old, r.Older, r.Labels, r.OlderLabels} {
		if len(s) != 0 && len(s) != sieveBytes {
			return taintRecord{}, fmt.Errorf("a sieve of files has %d bytes, not %d", len(s), sieveBytes)
		}
	}
	return r, nil
}

// encodeTaint encodes the record. The oldest files that do not fit go into the sieve.
func encodeTaint(files []file, old forgotten) ([]byte, taintRecord, error) {
	cut := max(0, len(files)-maxFiles)
	for {
		r := taintRecord{V: taintVersion, Files: files[cut:], forgotten: old}
		r.Old, r.Labels = old.Old.with(files[:cut]), old.Labels.withLabeled(files[:cut])
		b, err := json.Marshal(r)
		if err != nil || len(b) <= maxRecord {
			return b, r, err
		}
		cut += (len(files)-cut)/8 + 1
	}
}

// at returns the sieves that count at a time: those older than keepTaint become the older ones, and
// those are dropped after twice that time.
func (o forgotten) at(now time.Time) forgotten {
	if o.Since == 0 {
		o.Since = now.Unix()
	}
	if now.Sub(time.Unix(o.Since, 0)) > keepTaint {
		o.Old, o.Older, o.Labels, o.OlderLabels, o.Since = nil, o.Old, nil, o.Labels, now.Unix()
	}
	return o
}

// storable reports whether a path can be stored: absolute, clean and known.
func storable(p string) bool {
	return len(p) > 1 && len(p) <= maxPath && p[0] == '/' && effect.IsKnown(p) && path.Clean(p) == p
}

// indexed returns the files of a record.
func indexed(r taintRecord) taintedFiles {
	t := taintedFiles{files: r.Files, old: r.forgotten, index: make(map[string]int, len(r.Files))}
	for i, f := range t.files {
		t.index[f.Path] = i
	}
	return t
}

// readTaint decodes a record.
func readTaint(b []byte) (taintedFiles, error) {
	r, err := decodeTaint(b)
	return indexed(r), err
}

// of returns the taint of a path or pattern: its own, that of a tree above it, and the secrets in a
// folder that it names.
func (t *taintedFiles) of(p string) effect.Taint {
	if len(t.files) == 0 || len(p) < 2 || p[0] != '/' {
		return 0
	}
	out := t.old.of(p)
	if i, ok := t.index[p]; ok {
		out |= t.files[i].Taint
	}
	for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
		if i, ok := t.index[dir]; ok && t.files[i].Tree {
			out |= t.files[i].Taint
		}
	}
	pattern := strings.ContainsAny(p, "*?[")
	for i := range t.files {
		f := &t.files[i]
		if pattern {
			if ok, err := path.Match(p, f.Path); ok && err == nil {
				out |= f.Taint
			}
			continue
		}
		if f.Taint&folderTaints != 0 && len(f.Path) > len(p) && f.Path[len(p)] == '/' && f.Path[:len(p)] == p {
			out |= f.Taint & folderTaints
		}
	}
	return out
}

// A File is a file that a call leaves with a taint. Tree means a folder whose whole content has the
// taint.
type File struct {
	Path  string
	Taint effect.Taint
	Tree  bool
}

// Taint returns the taint that earlier calls left in a file, or in the files that a pattern matches.
func (p *Past) Taint(path string) effect.Taint {
	if !p.asked {
		p.asked = true
		var err error
		p.files, err = p.taint.current(p.ctx, p.m.store)
		p.err = errors.Join(p.err, err)
	}
	return p.files.of(path)
}

// Leave stores the taint of files and returns when it is durable. After an error the call must not
// run.
func (p *Past) Leave(files []File) error {
	if len(files) == 0 {
		return nil
	}
	return p.taint.update(p.ctx, p.m.store, "what the call leaves in files", time.Now().Add(keepTaint),
		func(t taintedFiles) (taintedFiles, []byte, error) {
			all, changed := t.with(files)
			if !changed {
				return t, nil, nil
			}
			b, r, err := encodeTaint(all, t.old.at(time.Now()))
			return indexed(r), b, err
		})
}

// with returns the files with others added as the newest, and whether anything changed.
func (t *taintedFiles) with(add []File) ([]file, bool) {
	files := append([]file(nil), t.files...)
	changed := false
	for _, a := range add {
		a.Taint &= storedTaints
		if a.Taint == 0 || !storable(a.Path) {
			continue
		}
		f := file{Path: a.Path, Taint: a.Taint, Tree: a.Tree}
		if i := slices.IndexFunc(files, func(have file) bool { return have.Path == a.Path }); i >= 0 {
			have := files[i]
			f.Taint, f.Tree = f.Taint|have.Taint, f.Tree || have.Tree
			if f.Taint == have.Taint && f.Tree == have.Tree {
				continue
			}
			files = slices.Delete(files, i, i+1)
		}
		f.Bits = uint8(f.Taint)
		files = append(files, f)
		changed = true
	}
	return files, changed
}
