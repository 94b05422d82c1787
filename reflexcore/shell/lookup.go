package shell

import (
	"path"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
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
	if strings.HasPrefix(p, "secret:") || fsys.in.Secret != nil && fsys.in.Secret(p) || p == "/" ||
		p == fsys.in.par.valueOf("HOME").text {
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
	d := fsys.content(p)
	fsys.in.rep.passes(len(d.text)) // whatever reads it goes over it
	return d
}

// content is contentOf without its cost.
func (fsys *filesystem) content(p string) data {
	if _, ok := socket(p); ok {
		return data{effect.Unknown, effect.Network}
	}
	if f := fsys.fileAt(p); f != nil {
		v := fsys.in.alt.version(f)
		for hops := 0; v.alias != "" && hops < 4; hops++ {
			to := fsys.fileAt(v.alias)
			if to == nil {
				return data{effect.Unknown, fsys.secretTaint(v.alias) | v.taint&effect.Gathered}
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
	return data{effect.Unknown, fsys.secretTaint(p) | fsys.pieceOf(p) | fsys.archiveTaint(p)}
}

// abs makes a path absolute, and clean. One that begins with an unknown part, or that looks like a
// Windows path, stays as it is.
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
	if strings.HasPrefix(p, "/proc/") {
		p = fsys.ofProcess(p)
	}
	return fsys.resolve(p)
}

// ofProcess returns a path without the links that the kernel has for the folders of this process. One
// whose number is not known is taken for it, as in /proc/$$/cwd.
func (fsys *filesystem) ofProcess(p string) string {
	parts := strings.SplitN(p, "/", 5) // "", proc, the process, cwd, the rest
	if len(parts) < 4 || parts[2] != effect.Unknown && parts[2] != "self" && parts[2] != "thread-self" {
		return p
	}
	to := ""
	switch parts[3] {
	case "cwd":
		to = fsys.in.cwd.dir
	case "root":
		to = "/"
	default:
		return p
	}
	if len(parts) == 5 {
		return path.Join(to, parts[4])
	}
	return to
}

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
		if len(p) > maxPath { // links that lead through each other grow at each hop
			return effect.Unknown
		}
	}
	return p
}

// fileAt finds what is known about a file, or returns nil. A pattern finds the newest file of this
// text that it matches.
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

// heldBy is a known file and the version of it that a command finds. The file is nil if there is
// none.
func (fsys *filesystem) heldBy(p string) (*virtual, version) {
	f := fsys.fileAt(p)
	if f == nil {
		return nil, version{}
	}
	return f, fsys.in.alt.version(f)
}

// earlier finds what is known about a file from before this text, and adds the file as one that
// the text wrote.
func (fsys *filesystem) earlier(p string) *virtual {
	if fsys.in.ctx.Known == nil || p == "" || p[0] != '/' || !effect.IsKnown(p) ||
		len(fsys.list) >= fsys.in.rep.lim.Fields {
		return nil
	}
	t := fsys.in.ctx.Known(p)
	if t == 0 {
		return nil
	}
	fsys.list = append(fsys.list, virtual{path: p, data: data{effect.Unknown, t | fsys.secretTaint(p)}})
	return &fsys.list[len(fsys.list)-1]
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

// under is the taint of the folders that this text filled and that contain a file.
func (fsys *filesystem) under(file string) effect.Taint {
	var t effect.Taint
	for i := range fsys.list {
		if f := &fsys.list[i]; f.tree && strings.HasPrefix(file, f.path) && strings.HasPrefix(file[len(f.path):], "/") {
			t |= f.taint
		}
	}
	return t
}

// buildScripts are the scripts with which the build of a repository begins.
var buildScripts = wordset.Of(section("build scripts"))

// filledWith is under for a program that runs. Building what was cloned from a forge is one thing, whether
// make or ./configure begins it, and make is the trust in a package of somebody's.
func (fsys *filesystem) filledWith(file string) effect.Taint {
	t := fsys.under(file)
	if t&effect.Network == 0 || !buildScripts[path.Base(file)] {
		return t
	}
	for i := range fsys.list {
		f := &fsys.list[i]
		if f.cloned && path.Dir(file) == f.path {
			t &^= effect.Network
		} else if f.taint&effect.Network != 0 && !f.cloned &&
			(f.tree && within(file, f.path) || within(f.path, path.Dir(file))) {
			return fsys.under(file)
		}
	}
	return t
}

const (
	maxHops = 40   // the links that a kernel follows for one path
	maxPath = 4096 // the bytes of a path that a kernel takes
)

// madeBefore is what a file was made from before a program writes to it. Own is false if the text
// made it from something else; fresh says that nothing was known about it.
func (fsys *filesystem) madeBefore(p string) (from []string, own, fresh bool) {
	f := fsys.fileAt(p)
	if f == nil {
		return nil, effect.IsKnown(p) && !strings.ContainsAny(p, "*?["), true
	}
	return f.from, f.from != nil && f.path == p, false
}

// pieceOf is the taint of the split files that a path may be a piece of.
func (fsys *filesystem) pieceOf(p string) (t effect.Taint) {
	for i := range fsys.list {
		if f := &fsys.list[i]; f.pieces && strings.HasPrefix(p, f.path) {
			t |= f.taint
		}
	}
	return t
}
