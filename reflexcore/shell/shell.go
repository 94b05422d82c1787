// Package shell finds out what a command line would do, without running it.
//
// A text is parsed by a full shell parser ([mvdan.cc/sh/v3/syntax]): as bash, then as zsh, then
// with error recovery. Of a text that cannot be parsed, the lines that can be are walked as a shell
// runs them, and the rest is split into pipelines and words. A bounded abstract interpreter then
// walks the syntax tree as a shell would. It assigns and expands variables, arrays, positional
// parameters and defaults, splits at IFS, expands braces and ANSI-C quotes, evaluates echo, printf
// and read, follows aliases, functions, traps, cd, descriptors, pipes and process substitution, and
// remembers what was written to which file.
// What a simple command does is defined in the tables of package grammar, not here. Payloads
// (sh -c, eval, ssh, find -exec, python -c …) are walked too.
//
// Values are exact, or they contain [effect.Unknown]: nothing is guessed. If a variable may have
// one of several values, each is tried. Taint (secret, network, decoded) follows values through
// pipes and files.
//
// Everything is bounded by [Limits]. Beyond a limit the analysis ends with an opaque effect, which
// no rule may treat as harmless.
//
// Read shell.go, result.go and parts.go first: they define the input, the output and the parts of
// a walk. The main other files, top down:
//
//   - statements: walk.go, stmt.go, exec.go, trap.go
//   - simple commands: call.go, builtins.go and the files of single builtins, definitions.go
//   - programs: apply.go and executes.go for those in the tables, unlisted.go for all others;
//     applied.go, filenotes.go and mention.go record what they do. agents.go looks for coding
//     agents, whose command lines package agentcli knows, and agentcode.go for code that starts
//     them
//   - payloads: script.go
//   - words: word.go, builder.go, param.go, operator.go, document.go, arith.go
//   - values: assign.go and setting.go assign them, parameters.go and alternatives.go read them,
//     variables.go and elements.go hold them, environment.go passes them to programs
//   - files and descriptors: files.go, redirect.go, lookup.go, workdir.go
//   - further walks because of unknown words: readings.go, standin.go
//   - texts: parse.go, reread.go, broken.go, pipelines.go, sources.go, quote.go
package shell

import (
	"cmp"
	"sync"

	"approver.example/reflexcore/effect"
)

// Analyze walks the command line src and stores in out what it would do. It overwrites out and
// reuses its memory. Beyond a limit, out.Over names the limit and out has an opaque effect.
func (a *Analyzer) Analyze(src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.arena.texts.Grow(len(src) + 256)
		in.source(src, "", &input{}, nil)
		in.io.onceMore(0, &input{}, nil, in.traps.walkTraps)
		in.traps.walkTraps()
		in.traps.runLate(0)
	})
}

// AnalyzeCode does the same as [Analyzer.Analyze] for code in the language lang.
func (a *Analyzer) AnalyzeCode(lang, src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.payloads.given = ctx.Vars
		in.payloads.runCode(lang, data{text: src}, nil, &input{}, nil, lang)
	})
}

// analyze runs a walk. It walks once more with unknown text taken to be empty if outputs or
// parameters of commands may differ, and again, in a lean walk, if a limit ended the first one.
// These walks have limits of their own.
func (a *Analyzer) analyze(ctx Context, out *Result, walk func(in *interp)) {
	in := interps.Get().(*interp)
	in.begin(a, ctx, out)
	walk(in)
	in.fs.reportLeft()
	over, parted := in.rep.stopped() && in.readings.hidesMore(), in.readings.forks > 0 || in.readings.partings > 0
	if parted {
		in.withNothing(ctx, out, walk)
	}
	if over {
		in.leanly(ctx, out, walk)
	}
	in.rep.tellsOver()
	in.release()
	interps.Put(in)
}

// A text with so many unknown parts that a limit ends the walk leads to a question. That must not
// be a way to avoid a denial: the alternatives of a few expansions, or the nesting of what they
// might run, could use up the limits, so that what the text does when all of them are empty is
// never examined. So that reading has its own walk.

// hidesMore reports whether a lean walk of a text that exceeded a limit may find what the first
// walk did not. If everything was known up to the limit, the lean walk is the same one with fewer
// steps, unless the limit was the depth, which is higher for it, or the number of alternatives,
// which does not end it.
func (rg *readings) hidesMore() bool {
	return rg.leanDiffers || rg.in.rep.res.Over == overDepth || rg.in.rep.res.Over == overAlternatives
}

// leanly walks a text once more with all unknown text taken to be empty, and adds new findings to
// the result. Over keeps the limit that ended the first walk.
func (in *interp) leanly(ctx Context, out *Result, walk func(in *interp)) {
	a := in.Analyzer
	limits := a.Limits
	limits.Steps /= 2 // it needs fewer, and the first walk may have used all
	limits.Depth *= 2 // each level of quoting makes the text longer, which is a bound as well
	lean, text := Result{}, in.src.outermost
	in.release()
	in.begin(a, ctx, &lean)
	in.src.outermost = text
	in.rep.lim, in.readings.omits, in.readings.lean = &limits, omitsAll, true
	walk(in)
	in.fs.reportLeft()
	steps := len(out.Steps)
	for i := range lean.Steps {
		if lean.Steps[i].Parent >= 0 {
			lean.Steps[i].Parent += steps
		}
	}
	for i := range lean.Effects {
		if lean.Effects[i].Step >= 0 {
			lean.Effects[i].Step += steps
		}
	}
	out.Rerouted = out.Rerouted || lean.Rerouted
	out.Steps = append(out.Steps, lean.Steps...)
	out.Effects = append(out.Effects, lean.Effects[:keepFresh(out.Effects, lean.Effects)]...)
	out.Files = adding(out.Files, lean.Files)
	out.Texts = adding(out.Texts, lean.Texts)
	out.Dotted = adding(out.Dotted, lean.Dotted)
	out.Mentions = adding(out.Mentions, lean.Mentions)
}

// adding appends the elements that the list does not have yet.
func adding[T comparable](list, more []T) []T {
	have := make(map[T]bool, len(list))
	for _, l := range list {
		have[l] = true
	}
	for _, m := range more {
		if !have[m] {
			list = append(list, m)
		}
	}
	return list
}

// A command with unknown words is read once more with them empty, command by command. Where one
// command determines the next, by its output, the parameters or the directory, these readings
// diverge: what the first command leaves in each reading is one more possibility for the second,
// and not all combinations are tried. One reading is consistent through the whole text, and is
// the most common one in practice: unknown variables are not set, and there are no parameters.

// withNothing walks a text once more with unknown variables unset, and adds new findings to the
// result. Only a few texts in a thousand need it.
func (in *interp) withNothing(ctx Context, out *Result, walk func(in *interp)) {
	from, below, chose := len(out.Effects), in.readings.founded, in.readings.chose
	in.readings.founded = nil
	ctx.Unset = true
	in.leanly(ctx, out, func(in *interp) {
		in.readings.first, in.par.params = true, []data{}
		walk(in)
	})
	markRooted(out.Effects[:from], out.Effects[from:], below, chose)
}

var interps = sync.Pool{New: func() any { return &interp{} }}

// begin initializes an empty interp for a text.
func (in *interp) begin(a *Analyzer, ctx Context, out *Result) {
	*out = Result{Effects: out.Effects[:0], Files: out.Files[:0], Texts: out.Texts[:0], Steps: out.Steps[:0],
		Dotted: out.Dotted[:0], Mentions: out.Mentions[:0], Programs: out.Programs[:0]}
	in.Analyzer, in.ctx, in.builtinOf = a, ctx, builtinTable
	in.rep = report{res: out, lim: &a.Limits, step: -1}
	in.cwd.dir, in.par.zero = cmp.Or(ctx.Dir, effect.Unknown), data{text: "bash"}
	in.assemble()
}

// assemble connects the parts of a walk to each other.
func (in *interp) assemble() {
	in.rep.ctx = &in.ctx
	in.vars.rep, in.vars.ctx, in.vars.cwd = &in.rep, &in.ctx, &in.cwd
	in.alt.rep, in.alt.vars, in.alt.arena, in.alt.ctx = &in.rep, &in.vars, &in.arena, &in.ctx
	in.echoes.rep, in.echoes.alt = &in.rep, &in.alt
	in.src.rep, in.src.ctx = &in.rep, &in.ctx
	in.par.in, in.math.in, in.assigner.in, in.exp.in, in.fs.in, in.io.in = in, in, in, in, in, in
	in.def.in, in.traps.in, in.hist.in, in.lines.in, in.dirs.in, in.readings.in = in, in, in, in, in, in
	in.candidates.in, in.agents.in, in.env.in, in.payloads.in, in.programs.in = in, in, in, in, in
}

// wiped clears a list and returns its memory for the next text, or nil if it is large.
func wiped[T any](list []T) []T {
	if cap(list) > 256 {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// release clears the interp and keeps only memory.
func (in *interp) release() {
	*in = interp{
		vars:       variables{list: wiped(in.vars.list), locals: wiped(in.vars.locals)},
		alt:        alternatives{selection: selection{choices: wiped(in.alt.choices)}},
		def:        definitions{funcs: wiped(in.def.funcs), aliases: wiped(in.def.aliases)},
		fs:         filesystem{list: wiped(in.fs.list)},
		exp:        expander{fields: wiped(in.exp.fields), buf: in.exp.buf[:0]},
		io:         descriptorTable{conduits: in.io.conduits},
		readings:   readings{below: wiped(in.readings.below)},
		candidates: candidates{files: wiped(in.candidates.files), words: wiped(in.candidates.words)},
		src:        sources{trees: wiped(in.src.trees)},
		programs:   programRunner{words: wiped(in.programs.words), spare: in.programs.spare},
		agents:     agentReader{argv: wiped(in.agents.argv)},
	}
}
