package shell

import (
	"path"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// descriptorOf is the number of the descriptor that a path names, below 0 if it is not
// known which. What is written to /dev/stdout goes where the standard output goes.
func (fsys *filesystem) descriptorOf(p string) (n int, ok bool) {
	if p == "" {
		return 0, false
	}
	if p[0] != '/' {
		if !strings.HasPrefix(fsys.in.cwd.dir, "/dev") && !strings.HasPrefix(fsys.in.cwd.dir, "/proc") && fsys.links == 0 {
			return 0, false
		}
		p = fsys.in.arena.concat(fsys.in.cwd.dir, "/", p)
	}
	p = path.Clean(p)
	if fsys.links > 0 {
		p = fsys.linked(p)
	}
	switch p {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	folder, number := path.Split(p)
	if !isDescriptors(folder) {
		return matchedDescriptor(p)
	}
	if !effect.IsKnown(number) {
		return -1, true
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= descriptors {
		return matchedDescriptor(p) // those of process substitutions are files
	}
	return n, true
}

// linked follows links to a descriptor that the text made.
func (fsys *filesystem) linked(p string) string {
	p = fsys.resolve(p)
	for range maxHops {
		f := fsys.fileAt(p)
		if f == nil || !f.link {
			break
		}
		p = f.alias
	}
	return p
}

// matchedDescriptor is the first descriptor for output whose path a pattern matches.
func matchedDescriptor(pattern string) (int, bool) {
	if !strings.ContainsAny(pattern, "*?[") || !strings.HasPrefix(pattern, "/") {
		return 0, false
	}
	for i, names := range [...][3]string{
		{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, {"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"},
	} {
		for _, name := range names {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// streamOf is where what is written to a descriptor is read, nil if nobody reads it.
func (dt *descriptorTable) streamOf(n int, r *redirected) *data {
	switch n {
	case 1:
		return r.sink
	case 2:
		return dt.err
	}
	return dt.outs[n]
}

// dup makes a descriptor another name of the one with number n.
func (dt *descriptorTable) dup(fd, n int, r *redirected, out *data) {
	if fd == n || n < 0 {
		return
	}
	from, stream := dt.fds[n], dt.streamOf(n, r)
	dt.fds[fd] = from
	switch {
	case fd == 0:
		if from != "" {
			*r.std = input{dt.in.fs.contentOf(from), true}
		}
	case fd == 1 && from != "":
		dt.opened(data{text: from}, 1, true, r, out)
	case fd == 1 && (n == 2 || stream != nil):
		r.sink, dt.out = stream, connected{}
	case fd == 2 && (n == 1 || stream != nil):
		dt.err = stream
	case fd > 2 && from != "":
		dt.outs[fd] = nil
	case fd > 2:
		dt.outs[fd] = stream
	}
}

// descriptor is the number that a redirection is for: below 0 if it has none. One with a
// {name} gets a free one, and the variable of that name its number.
func (dt *descriptorTable) descriptor(redir *syntax.Redirect) int {
	if redir.N == nil {
		return -1
	}
	text := redir.N.Value
	name, ok := strings.CutPrefix(text, "{")
	if !ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > otherOnes {
			n = otherOnes
		}
		return n
	}
	name = strings.TrimSuffix(name, "}")
	if redir.Op == syntax.DplIn || redir.Op == syntax.DplOut {
		if redir.Word.Lit() == "-" { // it closes the one that the variable names
			n, err := strconv.Atoi(dt.in.par.valueOf(name).text)
			if err != nil || n < 0 || n > otherOnes {
				n = otherOnes
			}
			return n
		}
	}
	fd := firstNamed + dt.numbered
	if fd >= otherOnes || dt.in.branches > 0 { // which is free depends on what ran
		dt.in.assigner.setVariable(name, data{text: "1" + effect.Unknown})
		return otherOnes
	}
	dt.numbered++
	dt.in.assigner.setVariable(name, data{text: strconv.Itoa(fd)})
	return fd
}

// plumbed is where the descriptors lead now.
func (dt *descriptorTable) plumbed() plumbing { return plumbing{dt.fds, dt.outs, dt.err} }

// replumb makes the descriptors lead where they did, as a subshell ends.
func (dt *descriptorTable) replumb(p *plumbing) {
	dt.fds = p.fds // one by one: all at once makes copies of them first
	dt.outs = p.outs
	dt.err = p.err
}

// told writes to a descriptor what a command writes to a file that is one.
func (dt *descriptorTable) told(n int, d data, sink *data, by string) {
	switch {
	case n == 1:
		sink.add(d)
	case n < 0:
		sink.add(unknown)
		dt.err.add(unknown)
	case dt.fds[n] != "":
		dt.in.fs.wrote(dt.fds[n], d, true, by)
	case n == 2:
		dt.err.add(d)
	default:
		dt.outs[n].add(d)
	}
}

// complains adds to the error output what a program may have written there, where that
// is read and the output is not read by the same.
func (dt *descriptorTable) complains(std *input, sink *data) {
	if dt.err != nil && dt.err != sink {
		dt.err.add(data{effect.Unknown, std.taint})
	}
}
