package shell

import (
	"path"
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

// isForBoth reports whether a redirection is for both outputs.
func isForBoth(op syntax.RedirOperator) bool {
	return op == syntax.RdrAll || op == syntax.AppAll || op == syntax.RdrAllClob || op == syntax.AppAllClob
}

// target is the path of a redirection for output.
func (dt *descriptorTable) target(w *syntax.Word) data {
	d := dt.in.exp.oneWord(w)
	if d.text == "" || strings.Trim(d.text, effect.Unknown) != "" {
		// With nothing in it, it is another file, but "$DIR/x" is not one at the root.
		if set := strings.ReplaceAll(d.text, effect.Unknown, ""); set != d.text && (set[0] != '/' || d.text[0] == '/') {
			dt.in.readings.doubts |= partly
		}
		return d
	}
	dt.in.readings.doubts |= wholeUnknown
	for _, w := range dt.in.candidates.text {
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
	name, named := strings.CutPrefix(text, "{")
	name = strings.TrimSuffix(name, "}")
	if named && (redir.Op == syntax.DplIn || redir.Op == syntax.DplOut) && redir.Word.Lit() == "-" {
		text, named = dt.in.par.valueOf(name).text, false // it closes the one that the variable names
	}
	if !named {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > otherOnes {
			n = otherOnes
		}
		return n
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

// writeTo writes to a descriptor what a command writes to a file that is one.
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
