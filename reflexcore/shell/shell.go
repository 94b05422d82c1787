// Package shell finds out what a command line would do, without running it.
//
// A text is read by one real parser ([mvdan.cc/sh/v3/syntax], bash, then zsh,
// then with errors mended; what no parser reads is split into words that can only
// make the verdict stricter). A bounded abstract interpreter then walks the tree
// as a shell would: it assigns and expands variables, arrays, positional
// parameters and defaults, splits at IFS, expands braces and ANSI-C quotes, folds
// echo, printf and read, follows aliases, functions, traps, cd, descriptors,
// pipes and process substitution, and remembers what was written to which file.
// What a simple command does is not known here but in the tables of package
// grammar; payloads (sh -c, eval, ssh, find -exec, python -c …) are walked in
// turn.
//
// Values are exact, or they contain [effect.Unknown]: nothing is guessed. Where a
// variable may have one of several values, each is tried. Taint (secret, network,
// decoded) travels with values, through pipes and files.
//
// Everything is bounded by [Limits]; beyond a limit the analysis ends with an
// opaque effect, which no rule may take for harmless.
package shell

// Analyze says what the command line does.
func (a *Analyzer) Analyze(src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.arena.texts.Grow(len(src) + 256)
		in.source(src, "", &input{}, nil)
		in.io.onceMore(0, &input{}, nil, in.traps.walkTraps)
		in.traps.walkTraps()
		in.traps.runLate(0)
	})
}

// AnalyzeCode says what code in another language than shell does.
func (a *Analyzer) AnalyzeCode(lang, src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.payloads.runCode(lang, data{text: src}, nil, &input{}, nil, lang)
	})
}

// analyze walks something. Where a limit ended that, it is walked once more with what is
// not known taken for nothing, and with limits of its own.
func (a *Analyzer) analyze(ctx Context, out *Result, walk func(in *interp)) {
	in := interps.Get().(*interp)
	in.reset(a, ctx, out)
	walk(in)
	in.fs.reportLeft()
	over, parted := in.rep.stopped() && in.readings.hidesMore(), in.readings.parted()
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
