package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// conduit returns an empty one.
func (dt *descriptorTable) conduit() *conduit {
	if n := len(dt.conduits); n > 0 {
		p := dt.conduits[n-1]
		dt.conduits = dt.conduits[:n-1]
		return p
	}
	return &conduit{}
}

func (dt *descriptorTable) drop(p *conduit) {
	for i := 0; dt.in.fs.procs > 0 && i < len(dt.in.fs.list); i++ {
		if f := &dt.in.fs.list[i]; f.to == &p.out {
			f.to = nil
		}
	}
	if p.out, p.in = (data{}), (input{}); p.redirects {
		*p = conduit{}
	}
	dt.conduits = append(dt.conduits, p)
}

// redirect applies one redirection.
func (dt *descriptorTable) redirect(redir *syntax.Redirect, r *redirected, out *data) {
	fd := dt.descriptor(redir)
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		dt.here(dt.in.exp.document(redir), fd, r)
	case syntax.WordHdoc:
		d := dt.in.exp.oneWord(redir.Word)
		d.text += "\n"
		dt.here(d, fd, r)
	case syntax.RdrIn, syntax.RdrInOut:
		p := dt.in.exp.oneWord(redir.Word)
		if fd < 0 {
			fd = 0
		}
		if n, ok := dt.in.fs.descriptorOf(p.text); ok && n == 0 && fd == 0 && r.std.present {
			break // it is what it was
		}
		dt.fds[fd], dt.outs[fd] = p.text, nil
		d := dt.in.fs.readFile(p, "redirection")
		if fd == 0 {
			*r.std = input{d, true}
		}
		if redir.Op == syntax.RdrInOut {
			dt.opened(p, fd, true, r, out)
		}
	case syntax.DplIn, syntax.DplOut:
		dt.duplicate(redir, fd, r, out)
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		if fd < 0 {
			fd = 1
		}
		dt.opened(dt.target(redir.Word), fd, redir.Op == syntax.AppOut || redir.Op == syntax.AppClob || redir.Op == syntax.AppAll || redir.Op == syntax.AppAllClob, r, out)
		switch redir.Op {
		case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			dt.fds[2], dt.err = dt.fds[1], r.sink
		default: // the error output stays
		}
	default:
		dt.in.add(effect.Effect{Kind: effect.Opaque, Target: "redirection"})
	}
}

// target is the path of a redirection for output.
func (dt *descriptorTable) target(w *syntax.Word) data {
	d := dt.in.exp.oneWord(w)
	if d.text == "" || strings.Trim(d.text, effect.Unknown) != "" {
		// With nothing in it, it is another file, but "$DIR/x" is not one at the root.
		if set := strings.ReplaceAll(d.text, effect.Unknown, ""); set != d.text && (set[0] != '/' || d.text[0] == '/') {
			dt.in.readings.saw |= partly
		}
		return d
	}
	dt.in.readings.saw |= wholeUnknown
	for _, w := range dt.in.stands.text {
		if dt.in.readings.omits == omitsFor && w.text[0] == '/' { // a flag is no danger there
			d.text = w.text
		}
	}
	return d
}

// here connects a text to a descriptor.
func (dt *descriptorTable) here(d data, fd int, r *redirected) {
	if fd <= 0 {
		*r.std = input{d, true}
		return
	}
	dt.in.fs.procs++
	name := "/dev/fd/" + strconv.Itoa(62+dt.in.fs.procs)
	dt.in.fs.list = append(dt.in.fs.list, virtual{path: name, data: d})
	dt.fds[fd], dt.outs[fd] = name, nil
}

// opened notes that a descriptor writes to a path.
func (dt *descriptorTable) opened(p data, fd int, more bool, r *redirected, out *data) {
	if n, ok := dt.in.fs.descriptorOf(p.text); ok {
		dt.dup(fd, n, r, out)
		return
	}
	dt.fds[fd], dt.outs[fd] = p.text, nil
	if fd == 1 {
		r.sink = out
	}
	if r.n < len(r.targets) {
		r.targets[r.n] = target{p.text, more, fd}
		r.n++
		return
	}
	dt.in.rep.over("redirections")
}

// duplicate is >&N, <&N, and >&FILE.
func (dt *descriptorTable) duplicate(redir *syntax.Redirect, fd int, r *redirected, out *data) {
	to := dt.in.exp.oneWord(redir.Word)
	n, err := strconv.ParseUint(strings.TrimSuffix(to.text, "-"), 10, 16)
	if fd < 0 {
		fd = 1
		if redir.Op == syntax.DplIn {
			fd = 0
		}
	}
	switch {
	case to.text == "-":
		dt.fds[fd], dt.outs[fd] = "", nil
		return
	case err != nil && to.known():
		dt.opened(to, 1, false, r, out)
		dt.fds[2], dt.err = dt.fds[1], r.sink
		return
	case err != nil && fd == 0: // any of them
		*r.std = input{unknown, true}
		return
	case err != nil:
		n = otherOnes
	case n >= descriptors: // one of a process substitution, if it is known
		if name := "/dev/fd/" + strconv.FormatUint(n, 10); dt.in.fs.fileAt(name) != nil {
			dt.fds[otherOnes] = name
		}
		n = otherOnes
	}
	if n == 0 && fd > 2 && dt.fds[0] == "" && r.std.present {
		dt.here(r.std.data, fd, r)
		return
	}
	dt.dup(fd, int(n), r, out)
}

// A command that fails changes nothing: cd to a folder that does not exist, any statement
// whose redirection cannot be opened, a builtin that was disabled. Whether it fails is not
// known, so what it would change may also be as it was before.

// mayFail reports whether a statement changes the shell, and may not run because one of
// its redirections cannot be made.
func (dt *descriptorTable) mayFail(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, dt.mayNotOpen) && dt.in.def.changesShell(s.Cmd)
}

// mayNotOpen reports whether a redirection may fail.
func (dt *descriptorTable) mayNotOpen(r *syntax.Redirect) bool {
	if r.Word == nil {
		return false
	}
	word := r.Word.Lit()
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return false
	case syntax.DplIn, syntax.DplOut:
		if len(word) == 1 && word[0] > '2' && word[0] <= '9' {
			return dt.fds[word[0]-'0'] == ""
		}
		return word != "-" && word != "0" && word != "1" && word != "2"
	default:
	}
	switch word {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/zero":
		return false
	}
	return true
}
