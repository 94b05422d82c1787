package shell

import (
	"sync"

	"approver.example/reflexcore/effect"
)

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)

var interps = sync.Pool{New: func() any { return &interp{} }}

func (in *interp) reset(a *Analyzer, ctx Context, out *Result) {
	*out = Result{Effects: out.Effects[:0], Files: out.Files[:0], Texts: out.Texts[:0], Steps: out.Steps[:0], Dotted: out.Dotted[:0], Mentions: out.Mentions[:0], Programs: out.Programs[:0]}
	*in = interp{
		Analyzer: a, ctx: ctx,
		rep:      report{res: out, lim: &a.Limits, step: -1},
		cwd:      workdir{dir: ctx.Dir},
		vars:     variables{list: in.vars.list[:0], locals: in.vars.locals[:0]},
		alt:      alternatives{selection: selection{choices: in.alt.choices[:0]}},
		par:      parameters{zero: data{text: "bash"}},
		def:      definitions{funcs: in.def.funcs[:0], aliases: in.def.aliases[:0]},
		fs:       filesystem{list: in.fs.list[:0]},
		exp:      expander{fields: in.exp.fields[:0], buf: in.exp.buf[:0]},
		io:       descriptorTable{conduits: in.io.conduits},
		readings: readings{below: in.readings.below[:0]},
		stands:   stands{files: in.stands.files[:0], words: in.stands.words[:0]},
		src:      sources{trees: in.src.trees[:0]},
		programs: programRunner{words: in.programs.words[:0], spare: in.programs.spare},
		agents:   agentReader{argv: in.agents.argv[:0]},
	}
	in.assemble()
	if in.cwd.dir == "" {
		in.cwd.dir = effect.Unknown
	}
}

// assemble lets the parts of a walk find those that they need.
func (in *interp) assemble() {
	in.rep.ctx = &in.ctx
	in.vars.rep, in.vars.ctx, in.vars.cwd = &in.rep, &in.ctx, &in.cwd
	in.alt.rep, in.alt.vars, in.alt.arena, in.alt.ctx = &in.rep, &in.vars, &in.arena, &in.ctx
	in.echoes.rep, in.echoes.alt = &in.rep, &in.alt
	in.src.rep, in.src.ctx = &in.rep, &in.ctx
	in.par.in, in.math.in, in.assigner.in, in.exp.in, in.fs.in, in.io.in = in, in, in, in, in, in
	in.def.in, in.traps.in, in.hist.in, in.lines.in, in.dirs.in, in.readings.in = in, in, in, in, in, in
	in.stands.in, in.agents.in, in.env.in, in.payloads.in, in.programs.in = in, in, in, in, in
}

// wiped returns the memory of a list for the next text, or none if it is large.
func wiped[T any](list []T) []T {
	if cap(list) > 256 {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// release forgets what the text was, so that nothing of it is kept.
func (in *interp) release() {
	in.vars.list, in.def.funcs, in.def.aliases = wiped(in.vars.list), wiped(in.def.funcs), wiped(in.def.aliases)
	in.fs.list, in.exp.fields, in.programs.words = wiped(in.fs.list), wiped(in.exp.fields), wiped(in.programs.words)
	in.agents.argv = wiped(in.agents.argv)
	in.arena.texts.Reset()
	in.stands = stands{files: wiped(in.stands.files), words: wiped(in.stands.words)}
	in.vars.locals, in.src.trees = wiped(in.vars.locals), wiped(in.src.trees)
	in.io.outs, in.io.err, in.io.out, in.io.stdin, in.io.stdout = [descriptors]*data{}, nil, connected{}, nil, nil
	in.io.wires, in.io.aliased, in.io.rewired, in.alt.snapshot = nil, nil, nil, nil
	in.src.outermost = read{}
	in.Analyzer, in.rep.res, in.ctx, in.par.params, in.par.others, in.traps.list, in.traps.hooks = nil, nil, Context{}, nil, nil, nil, nil
	in.par.grown = [2][]data{}
}
