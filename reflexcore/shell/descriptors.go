package shell

import (
	"path"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// A descriptor leads to a path, or into a stream that something reads: a pipe, or the
// output of a substitution. Those below 10 have their numbers; [interp.redirect] gives the
// next ones to {name}; the last one stands for all others.
const (
	firstNamed  = 10
	descriptors = 16
	otherOnes   = descriptors - 1
)

// descriptorOf is the number of the descriptor that a path names, below 0 if it is not
// known which. What is written to /dev/stdout goes where the standard output goes.
func (in *interp) descriptorOf(p string) (n int, ok bool) {
	if p == "" {
		return 0, false
	}
	if p[0] != '/' {
		if !strings.HasPrefix(in.cwd.dir, "/dev") && !strings.HasPrefix(in.cwd.dir, "/proc") && in.links == 0 {
			return 0, false
		}
		p = in.arena.concat(in.cwd.dir, "/", p)
	}
	p = path.Clean(p)
	if in.links > 0 {
		p = in.linked(p)
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
func (in *interp) linked(p string) string {
	p = in.resolve(p)
	for range maxHops {
		f := in.file(p)
		if f == nil || !f.link {
			break
		}
		p = f.alias
	}
	return p
}

// isDescriptors reports whether a folder is that of the descriptors of this process, or
// may be: /proc/$$/fd.
func isDescriptors(folder string) bool {
	if folder == "/dev/fd/" {
		return true
	}
	rest, ok := strings.CutPrefix(folder, "/proc/")
	if !ok {
		return false
	}
	process, rest, _ := strings.Cut(rest, "/")
	if process != "self" && process != "thread-self" && effect.IsKnown(process) {
		return false
	}
	if _, thread, found := strings.Cut(rest, "task/"); found {
		_, rest, _ = strings.Cut(thread, "/")
	}
	return rest == "fd/"
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
func (in *interp) streamOf(n int, r *redirected) *data {
	switch n {
	case 1:
		return r.sink
	case 2:
		return in.err
	}
	return in.outs[n]
}

// dup makes a descriptor another name of the one with number n.
func (in *interp) dup(fd, n int, r *redirected, out *data) {
	if fd == n || n < 0 {
		return
	}
	from, stream := in.fds[n], in.streamOf(n, r)
	in.fds[fd] = from
	switch {
	case fd == 0:
		if from != "" {
			*r.std = input{in.contentOf(from), true}
		}
	case fd == 1 && from != "":
		in.opened(data{text: from}, 1, true, r, out)
	case fd == 1 && (n == 2 || stream != nil):
		r.sink, in.out = stream, connected{}
	case fd == 2 && (n == 1 || stream != nil):
		in.err = stream
	case fd > 2 && from != "":
		in.outs[fd] = nil
	case fd > 2:
		in.outs[fd] = stream
	}
}

// descriptor is the number that a redirection is for: below 0 if it has none. One with a
// {name} gets a free one, and the variable of that name its number.
func (in *interp) descriptor(redir *syntax.Redirect) int {
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
			n, err := strconv.Atoi(in.value(name).text)
			if err != nil || n < 0 || n > otherOnes {
				n = otherOnes
			}
			return n
		}
	}
	fd := firstNamed + in.numbered
	if fd >= otherOnes || in.branches > 0 { // which is free depends on what ran
		in.set(name, data{text: "1" + effect.Unknown})
		return otherOnes
	}
	in.numbered++
	in.set(name, data{text: strconv.Itoa(fd)})
	return fd
}

// A plumbing is where the descriptors lead, for [interp.replumb].
type plumbing struct {
	fds  [descriptors]string
	outs [descriptors]*data
	err  *data
}

// plumbed is where the descriptors lead now.
func (in *interp) plumbed() plumbing { return plumbing{in.fds, in.outs, in.err} }

// replumb makes the descriptors lead where they did, as a subshell ends.
func (in *interp) replumb(p *plumbing) {
	in.fds = p.fds // one by one: all at once makes copies of them first
	in.outs = p.outs
	in.err = p.err
}

// told writes to a descriptor what a command writes to a file that is one.
func (in *interp) told(n int, d data, sink *data, by string) {
	switch {
	case n == 1:
		sink.append(d)
	case n < 0:
		sink.append(unknown)
		in.err.append(unknown)
	case in.fds[n] != "":
		in.wrote(in.fds[n], d, true, by)
	case n == 2:
		in.err.append(d)
	default:
		in.outs[n].append(d)
	}
}

// complains adds to the error output what a program may have written there, where that
// is read and the output is not read by the same.
func (in *interp) complains(std *input, sink *data) {
	if in.err != nil && in.err != sink {
		in.err.append(data{effect.Unknown, std.taint})
	}
}
