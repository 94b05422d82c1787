package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// What is not known may be nothing: "$@git push" pushes, and so does "git push
// --for${X}ce". A command with such words is walked once more as it would be then,
// so that a variable in the right place hides neither a program nor a flag. All
// that is not known is left out at once, and below the command too: a walk for
// each variable would cost 2^n of them.

const (
	omitsNothing omission = iota
	omitsAll              // every one; a word that is nothing else is no word
	omitsFor              // none: a word of which nothing is known is one that the call holds, see [readings.standing]
	omitsSpread           // none: arrays are all of their elements
	omitsParts            // those in words of which something is known; a whole word stays what it is
)

const (
	partly       unsure = 1 << iota // a word has a known part and an unknown one
	wholly                          // a word that may be no word
	wholeUnknown                    // a word of which nothing is known, or a pattern of names
	spread                          // an array without an index
	named                           // one of these is the command's name
	chosen                          // the call chose the unknown folder that a folder of the system stands below
)

// every does something for each combination of what the variables in it may be, and
// once more for what is not known of its words being nothing.
func (rg *readings) every(do func()) {
	if rg.in.alt.choose {
		do()
		return
	}
	saw, from, below, forks := rg.saw, len(rg.in.rep.res.Effects), len(rg.below), rg.forks
	rg.saw = 0
	outer := rg.beginCommand()
	rg.combinations(do)
	all := rg.saw
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
	rg.saw, rg.below, rg.start = saw, rg.below[:min(below, len(rg.below))], outer
}

// beginCommand notes it, and returns that of the command around.
func (rg *readings) beginCommand() (outer start) {
	outer = rg.start
	rg.start = start{rg.in.cwd, len(rg.in.fs.list), rg.in.par.params, rg.in.par.others}
	return outer
}

// restart goes back to it.
func (rg *readings) restart() {
	rg.beginsAt(&rg.start)
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

// either is every for what is no command but expands words: once for each combination, and
// once with the first value of what forks.
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
	if rg.leaner = true; rg.in.rep.stopped() {
		return
	}
	for i := rg.start.files; i < len(rg.in.fs.list); i++ { // what another reading wrote may not be there
		if t := rg.in.fs.secret(rg.in.fs.list[i].path); t&effect.Secret != 0 {
			rg.in.fs.list[i].taint |= t
		}
	}
	r := rg.in.rep.res
	before, steps, counted := len(r.Effects), len(r.Steps), *r
	rg.omits = how
	if seen&named != 0 {
		rg.partings++
		scope := rg.in.branch()
		rg.restart()
		rg.combinations(walk)
		rg.in.join(scope)
	} else {
		scope := rg.in.enter()
		rg.restart()
		rg.combinations(walk)
		rg.in.leave(scope)
	}
	rg.omits = omitsNothing
	r.How, r.Commands, r.Partial, r.Opaque, r.Unlisted = counted.How, counted.Commands, counted.Partial, counted.Opaque, counted.Unlisted
	r.Odd, r.OddName, r.Layers = counted.Odd, counted.OddName, counted.Layers
	// What the tail has already is not added again, so that it is looked at too.
	markRooted(r.Effects[max(0, from-sameTail):before], r.Effects[before:], rg.below[below:], seen&chosen != 0)
	r.Effects = r.Effects[:before+keepFresh(r.Effects[from:before], r.Effects[before:])]
	if len(r.Effects) == before {
		r.Steps = r.Steps[:steps]
	}
}

// markRooted marks those of new whose target is one of old below the root: what begins with an
// unknown folder is no folder of the system by itself, since that is how packages are put
// together ("$DESTDIR/usr/bin/x"). Rules say for which that makes a difference. Of folders
// that the call may have chosen itself only the root is marked: X=$(cat f) is nothing at
// the agent's will.
func markRooted(old, new []effect.Effect, below []string, chosen bool) {
	for i := range new {
		e := &new[i]
		if e.Target == "" || e.Target[0] != '/' || e.Bits&effect.Remote != 0 {
			continue
		}
		target := path.Clean(e.Target)
		if bare := strings.Trim(target, "/*."); bare != "" && (chosen || !slices.Contains(below, target) && !slices.Contains(below, path.Dir(target))) {
			continue
		}
		if slices.ContainsFunc(old, func(h effect.Effect) bool {
			return h.Kind == e.Kind && h.By == e.By && strings.HasPrefix(h.Target, effect.Unknown+"/") && !strings.Contains(h.Target, "/..") &&
				path.Clean(strings.ReplaceAll(h.Target, effect.Unknown, "")) == target
		}) {
			e.Bits |= effect.Rooted
		}
	}
}

// keepFresh moves what is not in have to the beginning of a list, and returns how many
// that are.
func keepFresh(have, list []effect.Effect) (n int) {
	var set map[effect.Effect]bool
	if len(have) > 16 && len(list) > 16 {
		set = make(map[effect.Effect]bool, len(have))
		for _, e := range have {
			e.Step = 0
			set[e] = true
		}
	}
	for _, e := range list {
		bare := e
		bare.Step = 0
		is := set[bare]
		if set == nil {
			is = slices.ContainsFunc(have, func(h effect.Effect) bool {
				h.Step = 0
				return h == bare
			})
		}
		if !is {
			list[n] = e
			n++
		}
	}
	return n
}

// omitted is a value in a walk that takes what is not known for nothing.
func (rg *readings) omitted(d data) data {
	if !d.known() {
		rg.leaner = rg.leaner || !rg.in.rep.stopped() // what the limit left unknown, a lean walk does not reach
		if rg.omits == omitsAll {
			d.text = strings.ReplaceAll(d.text, effect.Unknown, "")
		}
	}
	return d
}

// look notes which words of a command may be other words.
func (rg *readings) look(mark int) {
	for i := range rg.in.exp.fields[mark:] {
		f := &rg.in.exp.fields[mark+i]
		if f.known() { // most
			if i > 0 && f.isPattern() {
				rg.saw |= wholeUnknown
			}
			continue
		}
		if i > 0 && f.isWhole() {
			rg.saw |= wholeUnknown
		}
		switch rest, ok := f.below(); {
		case ok && f.based && len(rg.below) < 64:
			rg.below = append(rg.below, rest)
			if len(rg.founded) < 64 && !slices.Contains(rg.founded, rest) {
				rg.founded = append(rg.founded, rest)
			}
		case ok && isTopFolder(firstOf(rest)), !ok && f.hollow && f.text != effect.Unknown && (i == 0 || !f.inPath()):
			rg.saw |= chosen
			rg.chose = true
		}
		if !f.hollow {
			continue
		}
		if i == 0 && (f.splits || strings.Trim(f.text, effect.Unknown) != "") {
			rg.saw |= named
		}
		if i == 0 || !isPage(f.text) {
			rg.lookAt(f.text, f.splits)
		}
	}
}

// firstOf is the first folder of a path from the root.
func firstOf(p string) string {
	if end := strings.IndexByte(p[1:], '/'); end >= 0 {
		return p[:end+1]
	}
	return p
}

// lookAt notes it for one text. Bare says that it was not quoted.
func (rg *readings) lookAt(text string, bare bool) {
	switch {
	case strings.Trim(text, effect.Unknown) != "":
		rg.saw |= partly
	case bare && text != "":
		rg.saw |= wholly
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

// says reports whether a command that is no part of a pipe only says its words, or does
// nothing at all: what becomes of what it says is looked at where that is used.
func says(name string) bool {
	switch name {
	case "echo", "printf", ":", "true", "false", "test", "[":
		return true
	}
	return false
}

// atTop is a path below the working directory where that may be the root, a folder of
// the system or a home, since what is not known of it may be nothing: cd "/$X" && rm *.
// It is empty for any other, which scripts enter every day.
func (ds *directories) atTop(p string) string {
	if effect.IsKnown(ds.in.cwd.dir) || !strings.HasPrefix(p, ds.in.cwd.dir) {
		return ""
	}
	top := path.Clean(strings.ReplaceAll(ds.in.cwd.dir, effect.Unknown, ""))
	if !isTopFolder(top) && top != ds.in.par.valueOf("HOME").text {
		return ""
	}
	return path.Clean(ds.in.arena.concat(top, "/", p[len(ds.in.cwd.dir):]))
}

// isTopFolder reports whether a path is the root, or one of the folders of a system and
// of its people that lie in it.
func isTopFolder(p string) bool {
	switch p {
	case "/", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/var", "/home", "/root", "/boot", "/dev", "/opt", "/srv", "/proc", "/sys", "/run", "/nix", "/Users", "/System", "/Library", "/Applications", "/private":
		return true
	}
	return false
}
