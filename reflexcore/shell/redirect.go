package shell

import (
	"path"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// conduit returns an empty conduit.
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
			break // the standard input stays
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
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob,
		syntax.AppAllClob:
		if fd < 0 {
			fd = 1
		}
		dt.opened(dt.target(redir.Word), fd, redir.Op == syntax.AppOut || redir.Op == syntax.AppClob ||
			redir.Op == syntax.AppAll || redir.Op == syntax.AppAllClob, r, out)
		if isForBoth(redir.Op) {
			dt.fds[2], dt.err = dt.fds[1], r.sink
		}
	default:
		dt.in.add(effect.Effect{Kind: effect.Opaque, Target: "redirection"})
	}
}

// isForBoth reports whether a redirection applies to both standard output and standard error.
func isForBoth(op syntax.RedirOperator) bool {
	return op == syntax.RdrAll || op == syntax.AppAll || op == syntax.RdrAllClob || op == syntax.AppAllClob
}

// target returns the path of an output redirection.
func (dt *descriptorTable) target(w *syntax.Word) data {
	d := dt.in.exp.oneWord(w)
	if d.text == "" || strings.Trim(d.text, effect.Unknown) != "" {
		// With the unknown part empty, it is another file. But "$DIR/x" does not become a file at
		// the root.
		if set := strings.ReplaceAll(d.text, effect.Unknown, ""); set != d.text && (set[0] != '/' || d.text[0] == '/') {
			dt.in.readings.doubts |= partly
		}
		return d
	}
	dt.in.readings.doubts |= wholeUnknown
	for _, w := range dt.in.candidates.text {
		if dt.in.readings.omits == omitsFor && w.text[0] == '/' { // a flag is harmless as a path
			d.text = w.text
		}
	}
	return d
}

// here connects a text to a descriptor, as a here-document does.
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

// opened records that a descriptor writes to a path.
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

// duplicate applies >&N, <&N and >&FILE.
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
	case err != nil && fd == 0: // any descriptor
		*r.std = input{unknown, true}
		return
	case err != nil:
		n = otherOnes
	case n >= descriptors: // a process substitution, if it is known
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

// A command that fails changes nothing: cd to a missing directory, any statement whose
// redirection cannot be opened, a builtin that was disabled. Whether it fails is unknown, so its
// changes and the state before them are both possible.

// mayNotOpen reports whether a redirection may fail to open.
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

// descriptorOf returns the number of the descriptor that a path names, or a negative number if
// the path names an unknown one. ok is false if the path is not a descriptor. What is written to
// /dev/stdout goes where the standard output goes.
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
		return matchedDescriptor(p) // process substitutions are kept as files
	}
	return n, true
}

// linked follows the links to a descriptor that the text created.
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

// matchedDescriptor returns the first output descriptor whose path matches a pattern.
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

// streamOf returns the stream of a descriptor for output, or nil if nothing reads it.
func (dt *descriptorTable) streamOf(n int, r *redirected) *data {
	switch n {
	case 1:
		return r.sink
	case 2:
		return dt.err
	}
	return dt.outs[n]
}

// dup makes descriptor fd a duplicate of descriptor n.
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

// descriptor returns the descriptor number of a redirection, or -1 if none is written. A {name}
// gets a free descriptor, and the variable of that name is set to its number.
func (dt *descriptorTable) descriptor(redir *syntax.Redirect) int {
	if redir.N == nil {
		return -1
	}
	text := redir.N.Value
	name, named := strings.CutPrefix(text, "{")
	name = strings.TrimSuffix(name, "}")
	if named && (redir.Op == syntax.DplIn || redir.Op == syntax.DplOut) && redir.Word.Lit() == "-" {
		text, named = dt.in.par.valueOf(name).text, false // closes the descriptor in the variable
	}
	if !named {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > otherOnes {
			n = otherOnes
		}
		return n
	}
	fd := firstNamed + dt.numbered
	if fd >= otherOnes || dt.in.branches > 0 { // which one is free depends on what ran
		dt.in.assigner.setVariable(name, data{text: "1" + effect.Unknown})
		return otherOnes
	}
	dt.numbered++
	dt.in.assigner.setVariable(name, data{text: strconv.Itoa(fd)})
	return fd
}

// plumbed returns the current state of the descriptors.
func (dt *descriptorTable) plumbed() plumbing { return plumbing{dt.fds, dt.outs, dt.err} }

// replumb restores the state of the descriptors, as when a subshell ends.
func (dt *descriptorTable) replumb(p *plumbing) {
	dt.fds = p.fds // field by field: one assignment would copy them first
	dt.outs = p.outs
	dt.err = p.err
}

// writeTo writes to a descriptor the data that a command writes to /dev/fd/N or the like.
func (dt *descriptorTable) writeTo(n int, d data, sink *data, by string) {
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
