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

// An omission says which unknown parts of words are taken for nothing.
type omission uint8

const (
	omitsNothing omission = iota
	omitsAll              // every one; a word that is nothing else is no word
	omitsFor              // none: a word of which nothing is known is one that the call holds, see [interp.standing]
	omitsSpread           // none: arrays are all of their elements
	omitsParts            // those in words of which something is known; a whole word stays what it is
)

// unsure says which words a command has of which not all is known.
type unsure uint8

const (
	partly unsure = 1 << iota // a word has a known part and an unknown one
	wholly                    // a word that may be no word
	whole                     // a word of which nothing is known, or a pattern of names
	spread                    // an array without an index
	named                     // one of these is the command's name
)

// every does something for each combination of what the variables in it may be, and
// once more for what is not known of its words being nothing.
func (in *interp) every(do func()) {
	if in.choose {
		do()
		return
	}
	saw, from := in.saw, len(in.res.Effects)
	in.saw = 0
	in.combinations(do)
	all := in.saw
	if all&spread != 0 && in.omits == omitsNothing {
		via := in.via
		in.via = "zsh array"
		in.omitting(omitsSpread, all&^named, from, do)
		in.via = via
	}
	if seen := all &^ (whole | spread); seen != 0 && in.omits == omitsNothing {
		in.omitting(omitsAll, seen, from, do)
		if seen&partly != 0 && seen&wholly != 0 {
			in.omitting(omitsParts, seen, from, do)
		}
	}
	if all&whole != 0 && in.omits == omitsNothing {
		in.standing(all, from, do)
	}
	in.saw = saw
}

// omitting walks something again without what is not known. It keeps what is new
// among the effects since from: an effect counts once. What it assigns is forgotten,
// because the value with an unknown part stands for that too; only what a command
// does to the shell of which not even the name was known is one more possibility.
func (in *interp) omitting(how omission, seen unsure, from int, walk func()) {
	if in.stopped() {
		return
	}
	r := in.res
	before, steps, counted := len(r.Effects), len(r.Steps), *r
	in.omits = how
	if seen&named != 0 {
		scope := in.branch()
		in.combinations(walk)
		in.join(scope)
	} else {
		scope := in.enter()
		in.combinations(walk)
		in.leave(scope)
	}
	in.omits = omitsNothing
	r.How, r.Commands, r.Partial, r.Opaque, r.Unlisted = counted.How, counted.Commands, counted.Partial, counted.Opaque, counted.Unlisted
	r.Odd, r.OddName, r.Layers = counted.Odd, counted.OddName, counted.Layers
	r.Effects = r.Effects[:before+fresh(r.Effects[from:before], r.Effects[before:])]
	if len(r.Effects) == before {
		r.Steps = r.Steps[:steps]
	}
}

// fresh moves what is not in have to the beginning of a list, and returns how many
// that are.
func fresh(have, list []effect.Effect) (n int) {
	var set map[effect.Effect]bool
	if len(have) > 16 && len(list) > 16 {
		set = make(map[effect.Effect]bool, len(have))
		for _, e := range have {
			e.Step = 0
			set[e] = true
		}
	}
	for _, e := range list {
		if beside(e) {
			continue
		}
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

// beside reports whether single files are copied into the root folder, where what is
// not known of their destination is nothing: cp x "$DIR"/ then makes /x, which by
// itself is no question either.
func beside(e effect.Effect) bool {
	return e.Kind == effect.Write && e.Target == "/" && e.Bits&(effect.Recursive|effect.Glob) == 0 && (e.By == "cp" || e.By == "install")
}

// omitted is a value in a walk that takes what is not known for nothing.
func (in *interp) omitted(d data) data {
	if in.omits == omitsAll && !d.known() {
		d.text = strings.ReplaceAll(d.text, effect.Unknown, "")
	}
	return d
}

// fewer makes the parameters that set gets without what is not known of its words one
// more possibility.
func (in *interp) fewer(args []field) {
	if !slices.ContainsFunc(args, func(f field) bool { return f.hollow && !f.known() }) {
		return
	}
	var params []data
	ended := false
	for _, f := range args {
		text := strings.ReplaceAll(f.text, effect.Unknown, "")
		switch {
		case text == "" && !f.known() && f.splits, !ended && strings.HasPrefix(text, "-") && text != "--":
		case !ended && text == "--":
			ended = true
		default:
			ended = true
			params = append(params, data{text, f.taint})
		}
	}
	in.others = [][]data{in.params, params}
}

// look notes which words of a command may be other words.
func (in *interp) look(mark int) {
	for i := range in.fields[mark:] {
		f := &in.fields[mark+i]
		if i > 0 && (f.isWhole() || f.isPattern()) {
			in.saw |= whole
		}
		if !f.hollow || f.known() {
			continue
		}
		if i == 0 && (f.splits || strings.Trim(f.text, effect.Unknown) != "") {
			in.saw |= named
		}
		if i == 0 || !isPage(f.text) {
			in.lookAt(f.text, f.splits)
		}
	}
}

// lookAt notes it for one text. Bare says that it was not quoted.
func (in *interp) lookAt(text string, bare bool) {
	switch {
	case strings.Trim(text, effect.Unknown) != "":
		in.saw |= partly
	case bare && text != "":
		in.saw |= wholly
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
func (in *interp) atTop(p string) string {
	if effect.IsKnown(in.dir) || !strings.HasPrefix(p, in.dir) {
		return ""
	}
	top := path.Clean(strings.ReplaceAll(in.dir, effect.Unknown, ""))
	switch top {
	case "/", "/etc", "/usr", "/bin", "/sbin", "/lib", "/var", "/home", "/root", "/boot", "/dev", "/opt", "/srv", "/Users", "/System", "/Library", in.value("HOME").text:
	default:
		return ""
	}
	return path.Clean(in.concat(top, "/", p[len(in.dir):]))
}
