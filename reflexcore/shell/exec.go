package shell

import (
	"slices"
	"strconv"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// Redirections end with their statement, except those of exec without a command. The command may
// also be exec if its first word does not say so: command exec, or $N exec with an unknown $N.
// Where it is exec in only some readings, what follows is walked with its redirections, and
// without them.

// rewirings is how many possible redirections by exec one text may leave.
const rewirings = 8

// touches returns the descriptors that redirections affect, as bits.
func touches(redirs []*syntax.Redirect) (bits uint32) {
	bits = 1 << otherOnes
	for _, r := range redirs {
		if isForBoth(r.Op) {
			bits |= 1<<1 | 1<<2
			continue
		}
		n := 1
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			n = 0
		default: // for output
		}
		if r.N != nil {
			var err error
			if n, err = strconv.Atoi(r.N.Value); err != nil || n < 0 || n > otherOnes {
				continue // {name} stays
			}
		} else if r.Op == syntax.DplOut {
			bits |= 1 << 2 // >&FILE
		}
		bits |= 1 << n
	}
	return bits
}

// rewire ends a statement with redirections.
func (dt *descriptorTable) rewire(w *wires, std *input, sink *data) {
	for i := w.pending; i < len(dt.rewired); i++ { // an exec inside it: the redirections of the statement itself end
		a := &dt.rewired[i]
		a.undo(&w.was, w.touched)
		a.reads = a.reads && w.touched&1 == 0
		a.moves = a.moves && w.touched&2 == 0
	}
	if len(w.kept) == 0 {
		w.ends.undo(&w.was, w.touched)
		dt.replumb(&w.ends)
		if dt.out = w.out; w.touched&2 == 0 {
			dt.out = w.led
		}
		if w.reads && w.touched&1 == 0 {
			*std = w.own
		}
		return
	}
	dt.replumb(&w.was)
	dt.out = w.out
	more := w.kept
	if w.stays == w.readings {
		dt.wire(&more[0], std, sink)
		more = more[1:]
	}
	for i := range more {
		dt.mayRewire(&more[i])
	}
}

// undo restores the touched descriptors.
func (p *plumbing) undo(was *plumbing, touched uint32) {
	for fd := range p.fds {
		if touched>>fd&1 != 0 {
			p.fds[fd], p.outs[fd] = was.fds[fd], was.outs[fd]
		}
	}
	if touched>>2&1 != 0 {
		p.err = was.err
	}
}

// wire applies the redirections of an exec.
func (dt *descriptorTable) wire(a *rewiring, std *input, sink *data) {
	dt.replumb(&a.plumbing)
	if a.moves {
		dt.connect(sink, a.stream)
	}
	dt.traced()
	if a.reads {
		*std = a.std
		dt.connections++
	}
}

// mayRewire notes the redirections of a command that may have been exec.
func (dt *descriptorTable) mayRewire(a *rewiring) {
	switch {
	case slices.Contains(dt.rewired, *a):
	case len(dt.rewired) < rewirings:
		dt.rewired = append(dt.rewired, *a)
	case !dt.in.readings.lean:
		dt.in.rep.over(overAlternatives)
	}
}

// rewiredly walks what follows commands that may have been exec: once with the redirections of
// each, and once without. Since is how many such commands there were before.
func (dt *descriptorTable) rewiredly(since int, std *input, sink *data, walk func()) {
	if len(dt.rewired) <= since {
		walk()
		return
	}
	r := dt.in.rep.res
	from := len(r.Effects)
	dt.onceMore(since, std, sink, walk)
	before := len(r.Effects)
	walk()
	r.Effects = r.Effects[:before+keepFresh(r.Effects[from:before], r.Effects[before:])]
}

// onceMore walks something again for each command from index since on that may have been exec,
// with the redirections of that command.
func (dt *descriptorTable) onceMore(since int, std *input, sink *data, walk func()) {
	if len(dt.rewired) <= since {
		return
	}
	for _, a := range slices.Clone(dt.rewired[since:]) {
		if dt.in.rep.stopped() {
			return
		}
		dt.in.inBranch(func() {
			was, out, stdin := dt.plumbed(), dt.out, *std
			dt.wire(&a, std, sink)
			walk()
			*std, dt.out = stdin, out
			dt.replumb(&was)
		})
	}
}

// connect notes where exec sends the standard output: to a file, or to a stream.
func (dt *descriptorTable) connect(sink, stream *data) {
	switch path := dt.fds[1]; {
	case path != "":
		dt.out = connected{sink: sink, path: path, maybe: dt.in.branches > 0}
	case stream != nil && stream != sink:
		dt.out = connected{sink: sink, to: stream, maybe: dt.in.branches > 0}
	case dt.in.branches > 0:
		dt.out.maybe = true
	default:
		dt.out = connected{}
	}
}

// captured walks a statement whose output goes where exec sent it.
func (dt *descriptorTable) captured(s *syntax.Stmt, std *input) {
	to := dt.out
	out := new(data)
	dt.in.walkStmt(s, std, out)
	if dt.out.sink == out { // the statement has an exec, which also applies to what follows
		dt.out.sink = to.sink
	}
	if to.maybe {
		to.sink.add(*out)
	}
	if to.to != nil {
		to.to.add(*out)
		return
	}
	if out.text != "" || out.taint != 0 {
		dt.in.fs.wrote(to.path, *out, true, "redirection")
	}
}

// redirected walks a statement that has redirections.
func (dt *descriptorTable) redirected(s *syntax.Stmt, std *input, sink *data) {
	p := dt.conduit()
	own, r, out, w := &p.in, &p.to, &p.out, &p.wires
	p.redirects = true
	w.was, w.out, w.touched, w.pending, w.connections = dt.plumbed(), dt.out, touches(s.Redirs), len(dt.rewired),
		dt.connections
	dt.wires = w
	omits := dt.in.readings.omits
	dt.in.readings.every(func() {
		if w.passes++; w.passes > 1 {
			dt.replumb(&w.was)
			dt.out = w.out
		}
		*own, *r, *out = *std, redirected{std: own, sink: sink}, data{}
		if dt.in.readings.omits != omits {
			r.sink = &data{}
		}
		to := r.sink
		for _, redir := range s.Redirs {
			dt.redirect(redir, r, out)
		}
		stays := w.stays
		dt.walkBody(s, r)
		opened := false // another standard output
		for _, t := range r.targets[:r.n] {
			d := data{taint: out.taint}
			if t.fd == 1 {
				d, opened = *out, true
			}
			// Nothing was known about the file before this write.
			fresh := effect.IsKnown(t.path) && dt.in.fs.fileAt(dt.in.fs.abs(t.path)) == nil
			from := len(dt.in.rep.res.Effects)
			dt.in.fs.wrote(t.path, d, t.more, "redirection")
			if t.fd == 1 && !t.more && d.text == "" {
				dt.in.rep.emptied(from)
			}
			if fresh {
				dt.in.fs.printed(s, std, t, d)
			}
		}
		dt.stdin, dt.stdout = std, sink
		if w.stays > stays {
			w.kept = append(w.kept, rewiring{
				plumbing: dt.plumbed(), std: *own, stream: r.sink, reads: w.touched&1 != 0,
				moves: opened || dt.fds[1] != w.was.fds[1] || r.sink != to,
			})
		}
		if w.passes == 1 {
			w.ends, w.own, w.led, w.reads = dt.plumbed(), *own, dt.out, dt.connections > w.connections
		}
	})
	dt.rewire(w, std, sink)
	dt.drop(p)
}

// traced notes an attack if set -x makes the shell write each command that it runs to a covert
// file.
func (dt *descriptorTable) traced() {
	if !dt.xtrace {
		return
	}
	fd := 2
	if v := dt.in.par.lookup("BASH_XTRACEFD"); v != nil {
		if fd = len(dt.fds) - 1; len(v.text) == 1 && v.text[0] >= '0' && v.text[0] <= '9' {
			fd = int(v.text[0] - '0')
		}
	}
	if covert(dt.in.fs.abs(dt.fds[fd])) {
		dt.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: "set -x"})
	}
}

// tracing adds what set -x prints to the output of a command.
func (dt *descriptorTable) tracing(sink *data) {
	if !dt.xtrace {
		return
	}
	if dt.err != nil && dt.in.vars.find("PS4") != nil {
		dt.err.add(unknown)
	}
	if dt.in.vars.find("BASH_XTRACEFD") != nil {
		sink.add(unknown)
	}
}
