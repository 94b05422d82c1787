package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// Unknown text may be empty: "$@git push" pushes, and so does "git push --for${X}ce". A command
// with such words is walked once more as if the unknown text were empty, so that a variable in
// the right place hides neither a program nor a flag. All unknown text is left out at once, in
// nested commands too: a walk for each variable would cost 2^n of them.

// every calls do for each combination of the values of the variables in it, and once more with
// the unknown parts of its words empty.
func (rg *readings) every(do func()) {
	if rg.in.alt.choose {
		do()
		return
	}
	doubts, from, below, forks := rg.doubts, len(rg.in.rep.res.Effects), len(rg.below), rg.forks
	rg.doubts = 0
	outer := rg.beginCommand()
	rg.combinations(do)
	all := rg.doubts
	if all&spread != 0 && rg.omits == omitsNothing {
		via := rg.in.via
		rg.in.via = "zsh array"
		rg.omitting(omitsSpread, all&^named, from, below, do)
		rg.in.via = via
	}
	if seen := all &^ (wholeUnknown | spread | chosen); seen != 0 && rg.omits == omitsNothing {
		rg.omitting(omitsAll, all, from, below, do)
		if seen&partly != 0 && all&(wholly|wholeUnknown) != 0 {
			rg.omitting(omitsParts, all, from, below, do)
		}
	}
	if all&wholeUnknown != 0 && rg.omits == omitsNothing {
		rg.standing(all, from, do)
	}
	rg.firstly(forks, all|named, from, do)
	rg.doubts, rg.below, rg.start = doubts, rg.below[:min(below, len(rg.below))], outer
}

// beginCommand records the state at the start of a command, and returns that of the enclosing
// one.
func (rg *readings) beginCommand() (outer start) {
	outer = rg.start
	rg.start = start{rg.in.cwd, rg.in.par.positionals, len(rg.in.fs.list)}
	return outer
}

// firstly walks again, with the first value of each fork, if there were forks, see
// [readings.fork].
func (rg *readings) firstly(forks int, seen unsure, from int, walk func()) {
	if rg.forks == forks || rg.omits != omitsNothing || rg.first || rg.in.alt.choose {
		return
	}
	rg.first = true
	rg.omitting(omitsAll, seen, from, len(rg.below), walk)
	rg.first = false
}

// either calls walk, which expands words but runs no command, once for each combination of the
// values of the variables, and once with the first value of each fork.
func (rg *readings) either(walk func()) {
	forks, from := rg.forks, len(rg.in.rep.res.Effects)
	rg.combinations(walk)
	if rg.forks != forks {
		outer := rg.beginCommand()
		rg.firstly(forks, named, from, walk)
		rg.start = outer
	}
}

// fork adds the output of a further walk of a command to that of the first one. If the two
// differ, the output is unknown. But a command that has that output among its words is walked
// once more with the first output at each of the forks, see [readings.first], in which variables
// that may be unset are unset.
func (rg *readings) fork(sink, out *data, again bool) {
	switch {
	case again:
		sink.taint |= out.taint
	case *out == *sink:
	case rg.first:
		sink.taint |= out.taint
	default:
		rg.forks++
		*sink = data{effect.Unknown, sink.taint | out.taint}
	}
}

// omitting walks something again without its unknown parts. It keeps the effects that are new
// since index from: an effect counts once. Its assignments are discarded, because the value with
// an unknown part covers them as well. Only if the name of a command was unknown, what the
// command does to the shell is one more possibility.
func (rg *readings) omitting(how omission, seen unsure, from, below int, walk func()) {
	if rg.leanDiffers = true; rg.in.rep.stopped() {
		return
	}
	for i := rg.start.files; i < len(rg.in.fs.list); i++ { // what another reading wrote may not exist
		if t := rg.in.fs.secretTaint(rg.in.fs.list[i].path); t&effect.Secret != 0 {
			rg.in.fs.list[i].taint |= t
		}
	}
	r := rg.in.rep.res
	before, steps, counted := len(r.Effects), len(r.Steps), *r
	rg.omits = how
	again := func() {
		rg.beginsAt(&rg.start)
		rg.combinations(walk)
	}
	if seen&named != 0 {
		rg.partings++
		rg.in.inBranch(again)
	} else {
		rg.in.scoped(again)
	}
	rg.omits = omitsNothing
	r.How, r.Commands, r.Partial, r.Opaque = counted.How, counted.Commands, counted.Partial, counted.Opaque
	r.Unlisted, r.Trials, r.Shows = counted.Unlisted, counted.Trials, counted.Shows
	r.Odd, r.OddName, r.Layers = counted.Odd, counted.OddName, counted.Layers
	// addEffect skips what the last effects already have, so compare with these as well.
	markRooted(r.Effects[max(0, from-sameTail):before], r.Effects[before:], rg.below[below:], seen&chosen != 0)
	r.Effects = r.Effects[:before+keepFresh(r.Effects[from:before], r.Effects[before:])]
	if len(r.Effects) == before {
		r.Steps = r.Steps[:steps]
	}
}

// look records in doubts which words of a command may be different words.
func (rg *readings) look(mark int) {
	for i := range rg.in.exp.fields[mark:] {
		f := &rg.in.exp.fields[mark+i]
		if f.known() { // the common case
			if i > 0 && f.isPattern() {
				rg.doubts |= wholeUnknown
			}
			continue
		}
		if i > 0 && f.isWhole() {
			rg.doubts |= wholeUnknown
		}
		switch rest, ok := f.belowUnknown(); {
		case ok && f.based && len(rg.below) < 64:
			rg.below = append(rg.below, rest)
			if len(rg.founded) < 64 && !slices.Contains(rg.founded, rest) {
				rg.founded = append(rg.founded, rest)
			}
		case ok && topFolders[firstOf(rest)], !ok && f.hollow && f.text != effect.Unknown && (i == 0 || !f.inPath()):
			rg.doubts |= chosen
			rg.chose = true
		}
		if !f.hollow {
			continue
		}
		if i == 0 && (f.splits || strings.Trim(f.text, effect.Unknown) != "") {
			rg.doubts |= named
		}
		switch {
		case i > 0 && isPage(f.text):
		case strings.Trim(f.text, effect.Unknown) != "":
			rg.doubts |= partly
		case f.splits && f.text != "":
			rg.doubts |= wholly
		}
	}
}

// isPage reports whether a text is an HTTP URL with a known host. It is a URL whatever its
// unknown parts are.
func isPage(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return false
	}
	end := strings.IndexAny(rest, "/?#")
	return end > 0 && effect.IsKnown(rest[:end])
}

// sayers are commands that only print their words, or do nothing at all, unless they are part of
// a pipe. The use of their output is examined elsewhere.
var sayers = wordset.Of("echo printf : true false test [")

// combinations calls do for each combination of the values of the variables in it. The
// assignments of all but the first are further possibilities.
func (rg *readings) combinations(do func()) {
	if rg.in.alt.choose {
		do()
		return
	}
	choices, stdin, snapshot := rg.in.alt.choices, input{}, rg.in.alt.snapshot
	if rg.in.io.stdin != nil {
		stdin = *rg.in.io.stdin
	}
	first := start{workdir: rg.in.cwd, positionals: rg.in.par.positionals}
	vars, began := len(rg.in.vars.list), rg.in.alt.began
	rg.in.alt.began = rg.in.fs.written
	rg.in.alt.choices, rg.in.alt.choose, rg.in.alt.snapshot = rg.in.alt.choices[len(rg.in.alt.choices):], true, nil
	do()
	for try := 1; rg.in.alt.nextCombination() && !rg.in.rep.stopped(); try++ {
		if try > rg.in.rep.lim.Alternatives {
			if !rg.lean { // the first combinations are the ones that a lean walk is for
				rg.in.rep.over(overAlternatives)
			}
			break
		}
		rg.in.alt.choose, rg.in.alt.began = true, rg.in.fs.written
		if rg.in.io.stdin != nil { // each reads the same input
			*rg.in.io.stdin = stdin
		}
		rg.in.inBranch(func() {
			rg.beginsAt(&first)
			rg.in.alt.undo(min(vars, len(rg.in.vars.list)))
			do()
		})
	}
	rg.in.alt.choices, rg.in.alt.choose, rg.in.alt.snapshot, rg.in.alt.began = choices, false, snapshot, began
}

// beginsAt restores the directory and the parameters to the start of a command.
func (rg *readings) beginsAt(s *start) {
	rg.in.cwd, rg.in.par.positionals = s.workdir, s.positionals
}

// values returns all values that an expansion may have.
func (rg *readings) values(w func() data) []data {
	var one [1]data
	out := one[:0]
	take := func() {
		if d := w(); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	rg.either(take)
	return out
}

// flat reports whether a statement is one simple command or a pipe of them. One choice of values
// then applies to all of them.
func flat(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && flat(c.X) && flat(c.Y)
	}
	return false
}
