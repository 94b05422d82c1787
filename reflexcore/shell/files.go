package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// readFile notes that a file is read and returns what is in it.
func (fsys *filesystem) readFile(p data, by string) data {
	target := fsys.abs(p.text)
	if host, ok := socket(target); ok {
		fsys.in.add(effect.Effect{Kind: effect.NetIn, Target: host, By: by})
		return data{effect.Unknown, effect.Network}
	}
	d := fsys.contentOf(target)
	if !strings.HasPrefix(target, "/dev/fd/") && target != "/dev/null" {
		fsys.in.add(effect.Effect{Kind: effect.Read, Target: target, Taint: d.taint | p.taint, By: by})
	}
	return d
}

// wrote notes that data was written to a path.
func (fsys *filesystem) wrote(p string, d data, more bool, by string) {
	target := fsys.abs(p)
	if host, ok := socket(target); ok {
		fsys.in.add(effect.Effect{Kind: effect.NetOut, Target: host, Taint: d.taint, By: by})
		return
	}
	switch target {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2":
		return
	}
	if !strings.HasPrefix(target, "/dev/fd/") {
		e := effect.Effect{Kind: effect.Write, Target: target, Taint: d.taint, By: by}
		if more {
			e.Bits = effect.Append
		}
		fsys.in.add(e)
	}
	fsys.write(target, d, more)
}

// reportLeft reports what the text leaves in files.
func (fsys *filesystem) reportLeft() {
	for i := range fsys.list {
		f := &fsys.list[i]
		t := f.taint
		for _, v := range f.older {
			t |= v.taint
		}
		if f.alias != "" {
			t |= fsys.contentOf(f.alias).taint
			f = &fsys.list[i] // the list may have moved
		}
		if t &= lasting; t != 0 && f.sink == nil {
			fsys.in.rep.res.Files = append(fsys.in.rep.res.Files, File{f.path, t, f.tree})
			for _, end := range firstPieces {
				if f.pieces {
					fsys.in.rep.res.Files = append(fsys.in.rep.res.Files, File{fsys.in.arena.concat(f.path, end), t, false})
				}
			}
		}
		if f.sink == nil && !f.ran && !strings.HasPrefix(f.path, "/dev/") {
			fsys.leaves(f, f.current())
			for _, v := range f.older {
				fsys.leaves(f, v)
			}
		}
	}
}

// leaves reports the text of a version of a file.
func (fsys *filesystem) leaves(f *virtual, v version) {
	text := strings.TrimPrefix(v.text, effect.Unknown)
	if v.alias != "" || text == "" {
		return
	}
	fsys.in.rep.res.Texts = append(fsys.in.rep.res.Texts, Text{Path: f.path, Text: text})
	if other, ok := fsys.in.echoes.spoken(text); ok { // sh -c "echo 'a:\n\tCOMMAND' > Makefile; make"
		fsys.in.rep.res.Texts = append(fsys.in.rep.res.Texts, Text{Path: f.path, Text: other})
	}
}

// write notes that data was written to a path.
func (fsys *filesystem) write(p string, d data, more bool) {
	fsys.written++
	if f := fsys.fileAt(p); f != nil {
		f.written = fsys.written
		if f.sink != nil {
			f.built, f.from, f.ran = false, nil, true
			s := fsys.in.enter()
			fsys.in.io.out = connected{} // it was started before
			fsys.in.exp.nested(f.sink, &input{d, true}, f.to)
			fsys.in.leave(s)
			return
		}
		if more || fsys.in.branches > 0 { // what was there may still be
			f.built, f.from = false, nil
			if !fsys.in.rep.made((1 + len(f.older)) * (len(f.text) + len(d.text))) { // a file that is written to itself doubles
				return
			}
			if f.alias != "" { // which its own text does not change
				f.mayHoldBesides(d)
			}
			if more {
				f.extend(d)
			} else if v := (version{data: d}); !v.blank() { // alone, as its beginning may hide the rest
				f.mayHold(v)
			}
			if !more && f.text != "" && d.text != "" {
				d.text = "\n" + d.text
			}
			f.add(d)
		} else {
			f.ages()
			f.data, f.alias, f.built, f.from = d, "", false, nil
		}
		return
	}
	if len(fsys.list) >= fsys.in.rep.lim.Fields {
		fsys.in.rep.over("files")
		return
	}
	if more {
		d = data{effect.Unknown + d.text, d.taint}
	}
	fsys.list = append(fsys.list, virtual{path: p, data: d, written: fsys.written})
}

// agesInBranch keeps what a file holds that becomes another one in a branch.
func (fsys *filesystem) agesInBranch(f *virtual) {
	if v := f.current(); fsys.in.branches > 0 && (v.alias != "" || !v.blank() || v.taint&lasting != 0) {
		f.mayHold(v)
	}
}
