package shell

// A command with words that are not known is read once more with nothing in their place,
// command by command. Where one command decides what the next one is, as its output, the
// parameters or the folder, these readings part: what the first one leaves in each of them
// is one more possibility for the second one, and not all of them are tried together. But
// one reading goes through all of the text, and is the one that a shell takes most often:
// what is not known is not set, and there are no parameters.

// parted reports whether the readings of a command left more than one possibility to what
// follows: it prints one thing or another, sets parameters, or is another command.
func (rg *readings) parted() bool { return rg.forks > 0 || rg.partings > 0 }

// withNothing walks a text once more with what is not known not set, and adds what is new to the
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
