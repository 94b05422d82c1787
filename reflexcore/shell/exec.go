package shell

import "mvdan.cc/sh/v3/syntax"

// connected is where exec sends the output of the commands that follow.
type connected struct {
	sink  *data  // where it would go otherwise
	path  string // empty: exec sends it nowhere else
	maybe bool   // exec may not have run: it goes to both
}

// connect notes what exec made the standard output.
func (in *interp) connect(sink *data) {
	switch path := in.fds[1]; {
	case path != "":
		in.out = connected{sink: sink, path: path, maybe: in.branches > 0}
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
	if out.text != "" || out.taint != 0 {
		in.wrote(to.path, *out, true, "redirection")
	}
}
