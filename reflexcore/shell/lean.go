package shell

// A text of which so much is not known that a limit ends the walk is a question. That
// must not be a way to make a denial one: the alternatives of a few expansions, or the
// depth that what they might run leads to, use up the limits, and what the text does
// when they are all empty is never looked at. So that reading has its own walk.

// leanly walks a text once more, with all that is not known taken for nothing, and adds
// what is new to the result. That a limit ended the first walk stays in it.
func (in *interp) leanly(ctx Context, out *Result, walk func(in *interp)) {
	a := in.Analyzer
	limits := a.Limits
	limits.Steps /= 2 // it takes fewer, and the first walk took all
	limits.Depth *= 2 // each level of quotes makes a text longer: that is a bound as well
	var lean Result
	in.release()
	in.reset(a, ctx, &lean)
	in.lim, in.omits, in.lean = &limits, omitsAll, true
	walk(in)
	in.left()
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
	out.Steps = append(out.Steps, lean.Steps...)
	out.Effects = append(out.Effects, lean.Effects[:fresh(out.Effects, lean.Effects)]...)
	out.Files = adding(out.Files, lean.Files)
	out.Texts = adding(out.Texts, lean.Texts)
	out.Dotted = adding(out.Dotted, lean.Dotted)
	out.Mentions = adding(out.Mentions, lean.Mentions)
}

// adding appends to a list what it does not have.
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
