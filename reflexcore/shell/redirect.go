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
	to  redirected
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
	*p = conduit{}
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
	fd := -1
	if redir.N != nil {
		if n, err := strconv.Atoi(redir.N.Value); err == nil && n >= 0 && n < len(in.fds) {
			fd = n
		} else {
			fd = len(in.fds) - 1
		}
	}
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
		in.fds[fd] = p.text
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
			in.fds[2] = in.fds[1]
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
	in.fds[fd] = name
}

// opened notes that a descriptor writes to a path.
func (in *interp) opened(p data, fd int, more bool, r *redirected, out *data) {
	in.fds[fd] = p.text
	if fd == 1 {
		r.sink = out
	}
	if r.n < len(r.targets) {
		r.targets[r.n] = target{p.text, more, fd}
		r.n++
		return
	}
	in.over("redirections")
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
		in.fds[fd] = ""
		return
	case err != nil && to.known():
		in.opened(to, 1, false, r, out)
		in.fds[2] = to.text
		return
	case err != nil || n >= uint64(len(in.fds)):
		n = uint64(len(in.fds)) - 1
	}
	from := in.fds[n]
	in.fds[fd] = from
	switch {
	case fd == 0 && from != "":
		*r.std = input{in.contentOf(from), true}
	case fd == 1 && from != "" && n != 1:
		in.opened(data{text: from}, 1, true, r, out)
	case fd == 1 && n == 2:
		r.sink = in.err
	case fd == 2 && n == 1:
		in.err = r.sink
	}
}
