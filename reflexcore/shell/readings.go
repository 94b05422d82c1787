package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// What is not known may be nothing: "$@git push" pushes, and so does "git push
// --for${X}ce". A command with such words is walked once more as it would be then,
// so that a variable in the right place hides neither a program nor a flag. All
// that is not known is left out at once, and below the command too: a walk for
// each variable would cost 2^n of them.

// every does something for each combination of what the variables in it may be, and
// once more for what is not known of its words being nothing.
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

// beginCommand notes it, and returns that of the command around.
func (rg *readings) beginCommand() (outer start) {
	outer = rg.start
	rg.start = start{rg.in.cwd, rg.in.par.positionals, len(rg.in.fs.list)}
	return outer
}

// firstly walks something again in which there were forks, see [readings.fork].
func (rg *readings) firstly(forks int, seen unsure, from int, walk func()) {
	if rg.forks == forks || rg.omits != omitsNothing || rg.first || rg.in.alt.choose {
		return
	}
	rg.first = true
	rg.omitting(omitsAll, seen, from, len(rg.below), walk)
	rg.first = false
}

// either does something that expands words and is no command: once for each combination of what
// the variables may be, and once with the first value of what forks.
func (rg *readings) either(walk func()) {
	forks, from := rg.forks, len(rg.in.rep.res.Effects)
	rg.combinations(walk)
	if rg.forks != forks {
		outer := rg.beginCommand()
		rg.firstly(forks, named, from, walk)
		rg.start = outer
	}
}

// fork adds what a further walk of a command printed to what the first one did. Where
// that differs it is not known what the command prints. But a command that has it among
// its words is walked once more with what the first walk printed at each of the forks,
// in.first, in which what may not be set is not.
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

// omitting walks something again without what is not known. It keeps what is new
// among the effects since from: an effect counts once. What it assigns is forgotten,
// because the value with an unknown part stands for that too; only what a command
// does to the shell of which not even the name was known is one more possibility.
func (rg *readings) omitting(how omission, seen unsure, from, below int, walk func()) {
	if rg.leanDiffers = true; rg.in.rep.stopped() {
		return
	}
	for i := rg.start.files; i < len(rg.in.fs.list); i++ { // what another reading wrote may not be there
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
	r.How, r.Commands, r.Partial, r.Opaque, r.Unlisted = counted.How, counted.Commands, counted.Partial, counted.Opaque,
		counted.Unlisted
	r.Odd, r.OddName, r.Layers = counted.Odd, counted.OddName, counted.Layers
	// What the tail has already is not added again, so that it is looked at too.
	markRooted(r.Effects[max(0, from-sameTail):before], r.Effects[before:], rg.below[below:], seen&chosen != 0)
	r.Effects = r.Effects[:before+keepFresh(r.Effects[from:before], r.Effects[before:])]
	if len(r.Effects) == before {
		r.Steps = r.Steps[:steps]
	}
}

// look notes which words of a command may be other words.
func (rg *readings) look(mark int) {
	for i := range rg.in.exp.fields[mark:] {
		f := &rg.in.exp.fields[mark+i]
		if f.known() { // most
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

// isPage reports whether a text is a URL of which only what stands behind its host
// is not known: it stays one whatever that is.
func isPage(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return false
	}
	end := strings.IndexAny(rest, "/?#")
	return end > 0 && effect.IsKnown(rest[:end])
}

// sayers only say their words where they are no part of a pipe, or do nothing at all: what becomes
// of what they say is looked at where that is used.
var sayers = wordset.Of("echo printf : true false test [")

// combinations does something for each combination of what the variables in it may
// be. What the later ones assign is one more possibility.
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
			if !rg.lean { // the first ones are those that it is for
				rg.in.rep.over(overAlternatives)
			}
			break
		}
		rg.in.alt.choose, rg.in.alt.began = true, rg.in.fs.written
		if rg.in.io.stdin != nil { // each reads the same
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

// beginsAt goes back to what a command began with.
func (rg *readings) beginsAt(s *start) {
	rg.in.cwd, rg.in.par.positionals = s.workdir, s.positionals
}

// values are all that an expansion may give.
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

// flat reports whether a statement is simple commands in a pipe: what they choose
// is chosen for all of them.
func flat(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && flat(c.X) && flat(c.Y)
	}
	return false
}
