package shell

import "mvdan.cc/sh/v3/syntax"

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
