package shell

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// The redirections of a statement end with it, but not those of exec without a command.
// Which command it is says how it is written, or what is not known of its name: $N exec, or
// command exec. Where it is exec in some readings and not in others, what follows is walked
// with what it connected, and without.

// wires is what is noted of a statement with redirections while its command is walked.
type wires struct {
	readings, stays int // how often its command was walked, and how often that was exec
	passes          int
	kept            []rewiring // what exec left, once for each time
	was             plumbing   // before the statement
	out             connected
	ends            plumbing // after its first walk
	own             input
	led             connected
	reads           bool   // an exec in it connected the standard input
	touched         uint32 // the descriptors that its redirections are for
	pending         int    // how many rewirings there were
	connections     int    // how often exec had connected the standard input
}

// A rewiring is what a command connected that may have been exec.
type rewiring struct {
	plumbing
	std    input
	reads  bool  // another standard input
	moves  bool  // another standard output
	stream *data // which leads there
}

// rewirings is how many of them one text may leave.
const rewirings = 8

// touches is which descriptors redirections are for, as bits.
func touches(redirs []*syntax.Redirect) (bits uint32) {
	bits = 1 << otherOnes
	for _, r := range redirs {
		switch r.Op {
		case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			bits |= 1<<1 | 1<<2
			continue
		default: // one
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
func (in *interp) rewire(w *wires, std *input, sink *data) {
	for i := w.pending; i < len(in.rewired); i++ { // an exec in it: what it is redirected to ends
		a := &in.rewired[i]
		a.undo(&w.was, w.touched)
		a.reads = a.reads && w.touched&1 == 0
		a.moves = a.moves && w.touched&2 == 0
	}
	if len(w.kept) == 0 {
		w.ends.undo(&w.was, w.touched)
		in.replumb(&w.ends)
		if in.out = w.out; w.touched&2 == 0 {
			in.out = w.led
		}
		if w.reads && w.touched&1 == 0 {
			*std = w.own
		}
		return
	}
	in.replumb(&w.was)
	in.out = w.out
	more := w.kept
	if w.stays == w.readings {
		in.wire(&more[0], std, sink)
		more = more[1:]
	}
	for i := range more {
		in.mayRewire(&more[i])
	}
}

// undo makes those descriptors lead where they did.
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

// wire connects what exec connected.
func (in *interp) wire(a *rewiring, std *input, sink *data) {
	in.replumb(&a.plumbing)
	if a.moves {
		in.connect(sink, a.stream)
	}
	in.traced()
	if a.reads {
		*std = a.std
		in.connections++
	}
}

// mayRewire notes what a command connected that may have been exec.
func (in *interp) mayRewire(a *rewiring) {
	switch {
	case slices.Contains(in.rewired, *a):
	case len(in.rewired) < rewirings:
		in.rewired = append(in.rewired, *a)
	case !in.lean:
		in.rep.over(overAlternatives)
	}
}

// rewiredly walks what follows commands that may have been exec: with what each of them
// connected, and without. Since is how many of these there were before.
func (in *interp) rewiredly(since int, std *input, sink *data, walk func()) {
	if len(in.rewired) <= since {
		walk()
		return
	}
	r := in.rep.res
	from := len(r.Effects)
	in.onceMore(since, std, sink, walk)
	before := len(r.Effects)
	walk()
	r.Effects = r.Effects[:before+fresh(r.Effects[from:before], r.Effects[before:])]
}

// onceMore walks something once more with what each of these commands connected.
func (in *interp) onceMore(since int, std *input, sink *data, walk func()) {
	if len(in.rewired) <= since {
		return
	}
	for _, a := range slices.Clone(in.rewired[since:]) {
		if in.rep.stopped() {
			return
		}
		scope := in.branch()
		was, out, stdin := in.plumbed(), in.out, *std
		in.wire(&a, std, sink)
		walk()
		*std, in.out = stdin, out
		in.replumb(&was)
		in.join(scope)
	}
}

// connected is where exec sends the output of the commands that follow.
type connected struct {
	sink  *data  // where it would go otherwise
	path  string // empty: exec sends it to no file
	to    *data  // nil: exec sends it into no other stream
	maybe bool   // exec may not have run: it goes to both
}

// leads reports whether exec sent the output anywhere else.
func (c *connected) leads() bool { return c.path != "" || c.to != nil }

// connect notes what exec made the standard output: a file, or a stream.
func (in *interp) connect(sink, stream *data) {
	switch path := in.fds[1]; {
	case path != "":
		in.out = connected{sink: sink, path: path, maybe: in.branches > 0}
	case stream != nil && stream != sink:
		in.out = connected{sink: sink, to: stream, maybe: in.branches > 0}
	case in.branches > 0:
		in.out.maybe = true
	default:
		in.out = connected{}
	}
}

// captured walks a statement whose output goes to where exec sends it.
func (in *interp) captured(s *syntax.Stmt, std *input) {
	to := in.out
	out := new(data)
	in.stmt(s, std, out)
	if in.out.sink == out { // it has an exec itself, which holds for what follows
		in.out.sink = to.sink
	}
	if to.maybe {
		to.sink.append(*out)
	}
	if to.to != nil {
		to.to.append(*out)
		return
	}
	if out.text != "" || out.taint != 0 {
		in.wrote(to.path, *out, true, "redirection")
	}
}

// redirected walks a statement that has redirections.
func (in *interp) redirected(s *syntax.Stmt, std *input, sink *data) {
	p := in.conduit()
	own, r, out, w := &p.in, &p.to, &p.out, &p.wires
	p.redirects = true
	w.was, w.out, w.touched, w.pending, w.connections = in.plumbed(), in.out, touches(s.Redirs), len(in.rewired), in.connections
	in.wires = w
	omits := in.omits
	in.every(func() {
		if w.passes++; w.passes > 1 {
			in.replumb(&w.was)
			in.out = w.out
		}
		*own, *r, *out = *std, redirected{std: own, sink: sink}, data{}
		if in.omits != omits {
			r.sink = &data{}
		}
		to := r.sink
		for _, redir := range s.Redirs {
			in.redirect(redir, r, out)
		}
		stays := w.stays
		in.body(s, r)
		opened := false // another standard output
		for _, t := range r.targets[:r.n] {
			d := data{taint: out.taint}
			if t.fd == 1 {
				d, opened = *out, true
			}
			fresh := in.isFresh(t.path)
			in.wrote(t.path, d, t.more, "redirection")
			if fresh {
				in.printed(s, std, t, d)
			}
		}
		in.stdin, in.stdout = std, sink
		if w.stays > stays {
			w.kept = append(w.kept, rewiring{
				plumbing: in.plumbed(), std: *own, stream: r.sink, reads: w.touched&1 != 0,
				moves: opened || in.fds[1] != w.was.fds[1] || r.sink != to,
			})
		}
		if w.passes == 1 {
			w.ends, w.own, w.led, w.reads = in.plumbed(), *own, in.out, in.connections > w.connections
		}
	})
	in.rewire(w, std, sink)
	in.drop(p)
}

// body walks the command of a statement whose redirections are made.
func (in *interp) body(s *syntax.Stmt, r *redirected) {
	if !isSimple(s.Cmd) { // whose words are expanded before
		in.stdin, in.stdout = r.std, r.sink
	}
	if s.Cmd == nil {
		if r.std.present {
			r.sink.append(r.std.data) // $(<FILE)
		}
		return
	}
	choose := in.alt.choose
	in.alt.choose = choose && in.alt.shared
	if in.mayFail(s) {
		in.perhaps(func() { in.cmd(s, r.std, r.sink) })
	} else {
		in.cmd(s, r.std, r.sink)
	}
	in.alt.choose = choose
}
