package shell

import (
	"path"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// expandHome makes a path absolute, and expands ~.
func (fsys *filesystem) expandHome(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = fsys.in.par.valueOf("HOME").text + p[1:]
	}
	return fsys.abs(p)
}

// secretTaint is the taint of a file's content.
func (fsys *filesystem) secretTaint(p string) effect.Taint {
	if may := fsys.in.cwd.mayBe(p); may != "" && fsys.in.Secret != nil && fsys.in.Secret(may) {
		return effect.Secret | effect.File | fsys.label(may, true) | fsys.label(p, false)
	}
	if strings.HasPrefix(p, "secret:") || fsys.in.Secret != nil && fsys.in.Secret(p) || p == "/" || p == fsys.in.par.valueOf("HOME").text {
		return effect.Secret | effect.File | fsys.label(p, true)
	}
	return effect.File | fsys.label(p, false)
}

// label is the label of a file's content.
func (fsys *filesystem) label(p string, secret bool) effect.Taint {
	if fsys.in.ctx.Label == nil {
		return 0
	}
	return fsys.in.ctx.Label(p, secret) & effect.Labels
}

// contentOf is what is read from a path.
func (fsys *filesystem) contentOf(p string) data {
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
		return data{effect.Unknown, effect.Network}
	}
	if f := fsys.fileAt(p); f != nil {
		v := fsys.in.alt.version(f)
		for hops := 0; v.alias != "" && hops < 4; hops++ {
			to := fsys.fileAt(v.alias)
			if to == nil {
				return data{effect.Unknown, fsys.secretTaint(v.alias)}
			}
			v = fsys.in.alt.version(to)
		}
		return v.data
	}
	switch p {
	case "/dev/null":
		return data{}
	case "/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty", "/dev/stdin":
		return unknown
	}
	return data{effect.Unknown, fsys.secretTaint(p) | fsys.pieceOf(p)}
}

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

// abs makes a path absolute where the directory is known, and clean.
func (fsys *filesystem) abs(p string) string {
	if p == "" {
		return p
	}
	if p[0] != '/' {
		if p[0] == 0 || p[0] == '\\' || len(p) > 2 && p[1] == ':' {
			return p
		}
		p = fsys.in.arena.concat(fsys.in.cwd.dir, "/", p)
	}
	if strings.Contains(p, "/.") || strings.Contains(p, "//") || len(p) > 1 && p[len(p)-1] == '/' {
		if slash := p[len(p)-1] == '/'; slash && strings.HasSuffix(p, "\x00/") {
			return p // the part that is not known may be empty: this may be the root
		}
		fsys.in.rep.dotted(p)
		p = path.Clean(p)
	}
	return fsys.resolve(p)
}

// maxHops is how many links a kernel follows for one path.
const maxHops = 40

// resolve follows descriptors, and links that this text made.
func (fsys *filesystem) resolve(p string) string {
	for _, folder := range [...]string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if number, ok := strings.CutPrefix(p, folder); ok && len(number) < 3 {
			if n, err := strconv.Atoi(number); err == nil && n > 2 && n < otherOnes && fsys.in.io.fds[n] != "" {
				return fsys.abs(fsys.in.io.fds[n])
			}
		}
	}
	for hops := 0; fsys.links > 0 && hops < maxHops; hops++ {
		i := len(fsys.list) - 1
		fsys.in.rep.steps += i / 16
		for ; i >= 0; i-- {
			if f := &fsys.list[i]; f.link && len(p) > len(f.path) && p[len(f.path)] == '/' && p[:len(f.path)] == f.path {
				break
			}
		}
		if i < 0 {
			break
		}
		p = path.Clean(fsys.list[i].alias + p[len(fsys.list[i].path):])
	}
	return p
}

// fileAt finds what this text knows of a file.
func (fsys *filesystem) fileAt(p string) *virtual {
	fsys.in.rep.steps += len(fsys.list) / 64
	for i := len(fsys.list) - 1; i >= 0; i-- {
		if fsys.list[i].path == p {
			return &fsys.list[i]
		}
	}
	if strings.ContainsAny(p, "*?[") {
		fsys.in.rep.steps += len(fsys.list) / 4
		for i := len(fsys.list) - 1; i >= 0; i-- {
			if ok, err := path.Match(p, fsys.list[i].path); ok && err == nil {
				return &fsys.list[i]
			}
		}
	}
	return fsys.earlier(p)
}

// earlier finds what is known of a file from before this text, and takes it for
// one that the text wrote.
func (fsys *filesystem) earlier(p string) *virtual {
	if fsys.in.ctx.Known == nil || p == "" || p[0] != '/' || !effect.IsKnown(p) || len(fsys.list) >= fsys.in.rep.lim.Fields {
		return nil
	}
	t := fsys.in.ctx.Known(p)
	if t == 0 {
		return nil
	}
	fsys.list = append(fsys.list, virtual{path: p, data: data{effect.Unknown, t | fsys.secretTaint(p)}})
	return &fsys.list[len(fsys.list)-1]
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
		if t &= told; t != 0 && f.sink == nil {
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

// created finds a file that this text made, by its path or, where PATH may lead to
// it, by its name.
func (fsys *filesystem) created(name string) *virtual {
	if len(fsys.list) == 0 {
		return nil
	}
	if strings.IndexByte(name, '/') >= 0 {
		return fsys.fileAt(fsys.abs(name))
	}
	if fsys.in.Table.Find(name) != nil && fsys.in.vars.find("PATH") == nil {
		return nil
	}
	for i := len(fsys.list) - 1; i >= 0; i-- {
		if base := strings.TrimSuffix(fsys.list[i].path, name); base != fsys.list[i].path && strings.HasSuffix(base, "/") {
			return &fsys.list[i]
		}
	}
	return nil
}

// agesInBranch keeps what a file holds that becomes another one in a branch.
func (fsys *filesystem) agesInBranch(f *virtual) {
	if v := f.current(); fsys.in.branches > 0 && (v.alias != "" || !v.blank() || v.taint&told != 0) {
		f.mayHold(v)
	}
}

// under is the taint of the folders that this text filled and in which a file lies.
func (fsys *filesystem) under(file string) effect.Taint {
	var t effect.Taint
	for i := range fsys.list {
		if f := &fsys.list[i]; f.tree && strings.HasPrefix(file, f.path) && strings.HasPrefix(file[len(f.path):], "/") {
			t |= f.taint
		}
	}
	return t
}
