package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// A conduit is the memory for what flows between two commands, or into files.
type conduit struct {
	out data
	in  input
	// The rest is for redirections, and large: a pipe has nothing in it to clear.
	redirects bool
	to        redirected
	wires
}

// conduit returns an empty one.
func (in *interp) conduit() *conduit {
	if n := len(in.conduits); n > 0 {
		p := in.conduits[n-1]
		in.conduits = in.conduits[:n-1]
		return p
	}
	return &conduit{}
}

func (in *interp) drop(p *conduit) {
	for i := 0; in.procs > 0 && i < len(in.files); i++ {
		if f := &in.files[i]; f.to == &p.out {
			f.to = nil
		}
	}
	if p.out, p.in = (data{}), (input{}); p.redirects {
		*p = conduit{}
	}
	in.conduits = append(in.conduits, p)
}

// redirected is where the streams of a statement go.
type redirected struct {
	std     *input
	sink    *data
	targets [8]target
	n       int
}

type target struct {
	path string
	more bool
	fd   int
}

// redirect applies one redirection.
func (in *interp) redirect(redir *syntax.Redirect, r *redirected, out *data) {
	fd := in.descriptor(redir)
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		in.here(in.document(redir), fd, r)
	case syntax.WordHdoc:
		d := in.one(redir.Word)
		d.text += "\n"
		in.here(d, fd, r)
	case syntax.RdrIn, syntax.RdrInOut:
		p := in.one(redir.Word)
		if fd < 0 {
			fd = 0
		}
		if n, ok := in.descriptorOf(p.text); ok && n == 0 && fd == 0 && r.std.present {
			break // it is what it was
		}
		in.fds[fd], in.outs[fd] = p.text, nil
		d := in.readFile(p, "redirection")
		if fd == 0 {
			*r.std = input{d, true}
		}
		if redir.Op == syntax.RdrInOut {
			in.opened(p, fd, true, r, out)
		}
	case syntax.DplIn, syntax.DplOut:
		in.duplicate(redir, fd, r, out)
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		if fd < 0 {
			fd = 1
		}
		in.opened(in.target(redir.Word), fd, redir.Op == syntax.AppOut || redir.Op == syntax.AppClob || redir.Op == syntax.AppAll || redir.Op == syntax.AppAllClob, r, out)
		switch redir.Op {
		case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			in.fds[2], in.err = in.fds[1], r.sink
		default: // the error output stays
		}
	default:
		in.add(effect.Effect{Kind: effect.Opaque, Target: "redirection"})
	}
}

// target is the path of a redirection for output.
func (in *interp) target(w *syntax.Word) data {
	d := in.one(w)
	if d.text == "" || strings.Trim(d.text, effect.Unknown) != "" {
		// With nothing in it, it is another file, but "$DIR/x" is not one at the root.
		if set := strings.ReplaceAll(d.text, effect.Unknown, ""); set != d.text && (set[0] != '/' || d.text[0] == '/') {
			in.saw |= partly
		}
		return d
	}
	in.saw |= whole
	for _, w := range in.stands.text {
		if in.omits == omitsFor && w.text[0] == '/' { // a flag is no danger there
			d.text = w.text
		}
	}
	return d
}

// here connects a text to a descriptor.
func (in *interp) here(d data, fd int, r *redirected) {
	if fd <= 0 {
		*r.std = input{d, true}
		return
	}
	in.procs++
	name := "/dev/fd/" + strconv.Itoa(62+in.procs)
	in.files = append(in.files, virtual{path: name, data: d})
	in.fds[fd], in.outs[fd] = name, nil
}

// opened notes that a descriptor writes to a path.
func (in *interp) opened(p data, fd int, more bool, r *redirected, out *data) {
	if n, ok := in.descriptorOf(p.text); ok {
		in.dup(fd, n, r, out)
		return
	}
	in.fds[fd], in.outs[fd] = p.text, nil
	if fd == 1 {
		r.sink = out
	}
	if r.n < len(r.targets) {
		r.targets[r.n] = target{p.text, more, fd}
		r.n++
		return
	}
	in.rep.over("redirections")
}

// duplicate is >&N, <&N, and >&FILE.
func (in *interp) duplicate(redir *syntax.Redirect, fd int, r *redirected, out *data) {
	to := in.one(redir.Word)
	n, err := strconv.ParseUint(strings.TrimSuffix(to.text, "-"), 10, 16)
	if fd < 0 {
		fd = 1
		if redir.Op == syntax.DplIn {
			fd = 0
		}
	}
	switch {
	case to.text == "-":
		in.fds[fd], in.outs[fd] = "", nil
		return
	case err != nil && to.known():
		in.opened(to, 1, false, r, out)
		in.fds[2], in.err = in.fds[1], r.sink
		return
	case err != nil && fd == 0: // any of them
		*r.std = input{unknown, true}
		return
	case err != nil:
		n = otherOnes
	case n >= descriptors: // one of a process substitution, if it is known
		if name := "/dev/fd/" + strconv.FormatUint(n, 10); in.file(name) != nil {
			in.fds[otherOnes] = name
		}
		n = otherOnes
	}
	if n == 0 && fd > 2 && in.fds[0] == "" && r.std.present {
		in.here(r.std.data, fd, r)
		return
	}
	in.dup(fd, int(n), r, out)
}
