package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// fewer adds a possibility to the parameters that set assigns: those without the unknown parts of
// its words.
func (pm *parameters) fewer(args []field) {
	some := false
	for i := range args {
		some = some || args[i].hollow && !args[i].known()
	}
	if !some {
		return
	}
	params := make([]data, 0, len(args))
	ended := false
	for i := range args {
		f := &args[i]
		text := f.text
		if !f.known() {
			text = strings.ReplaceAll(text, effect.Unknown, "")
		}
		switch {
		case text == "" && !f.known() && f.splits, !ended && strings.HasPrefix(text, "-") && text != "--":
		case !ended && text == "--":
			ended = true
		default:
			ended = true
			params = append(params, data{text, f.taint})
		}
	}
	if len(params) == 0 {
		params = nil
	}
	pm.others = [][]data{pm.params, params}
	pm.in.readings.partings++
}

// openParams reports whether the positional parameters are unknown: they are those that the
// script itself was called with.
func (pm *parameters) openParams() bool {
	return pm.params == nil && pm.others == nil && len(pm.in.def.active) == 0
}

// allLists returns all lists that the positional parameters may be.
func (p positionals) allLists() [][]data {
	if p.others == nil {
		return [][]data{p.params}
	}
	return p.others
}

// joinParams adds the parameters that a branch set as further possibilities.
func (pm *parameters) joinParams(left positionals) {
	all := slices.Clip(pm.allLists())
	for _, list := range left.allLists() {
		if !slices.ContainsFunc(all, func(have []data) bool {
			return slices.Equal(have, list) && (have == nil) == (list == nil)
		}) {
			all = append(all, list)
		}
	}
	if len(all) > pm.in.rep.lim.Alternatives {
		if !pm.in.readings.lean {
			pm.in.rep.over(overAlternatives)
		}
		return
	}
	if len(all) > 1 {
		pm.others = all
		pm.in.readings.partings++
	}
}

// nextRound gives the parameters to the next round of a loop as this one left them, where it
// shifted them: set -- a b /; while [ $# -gt 0 ]; do rm -rf $1; shift; done. It returns false if they
// are no others than before. If a round may leave several lists, or the next one is the last that
// is walked, the parameters are not known in it.
func (pm *parameters) nextRound(l *loopLists, before, left positionals, last bool) bool {
	same := func(a, b []data) bool { return slices.Equal(a, b) && (a == nil) == (b == nil) }
	if l.wide || slices.EqualFunc(before.allLists(), left.allLists(), same) {
		return false
	}
	if last || left.others != nil {
		const named = 9 // $1 to $9
		d := anyOf(slices.Concat(left.allLists()...))
		left, l.wide = positionals{params: slices.Repeat([]data{d}, named)}, true
	}
	pm.positionals, l.left = left, append(l.left, left)
	return true
}

// afterLoop gives the parameters one of the lists of a loop.
func (pm *parameters) afterLoop(l *loopLists) {
	if len(l.left) == 0 {
		return
	}
	pm.positionals = l.first
	for i, left := range l.left {
		if i < pm.in.rep.lim.Alternatives/4 || i == len(l.left)-1 {
			pm.joinParams(left)
		}
	}
}

// setPositional sets the positional parameters.
func (pm *parameters) setPositional(list []data) {
	pm.in.rep.steps += len(list) / 8 // for the copies
	pm.positionals = positionals{params: list}
}

// listOf returns the values of words as a list. A list that only extends an earlier one shares
// its memory, as in set -- "$@" more; otherwise a loop of these would take quadratic time. The
// shared part never changes: only listOf appends to a kept list.
func (pm *parameters) listOf(words []field) []data {
	for i := range pm.grown {
		g := &pm.grown[i]
		if n := len(*g); n > 0 && n < len(words) && begins(words, *g) {
			for j := n; j < len(words); j++ {
				*g = append(*g, words[j].data)
			}
			return slices.Clip(*g)
		}
	}
	list := dataOf(words)
	if len(list) >= longList {
		pm.grown[pm.oldest] = list
		pm.oldest = (pm.oldest + 1) % len(pm.grown)
	}
	return slices.Clip(list)
}

// positional returns the positional parameters.
func (pm *parameters) positional() []data {
	if pm.others != nil {
		n := pm.in.alt.pick("@", len(pm.others))
		if pm.in.readings.first { // the first list that is known swaps places with the first one
			known := slices.IndexFunc(pm.others, func(list []data) bool {
				return !slices.ContainsFunc(list, func(d data) bool { return !d.known() })
			})
			switch {
			case known < 1:
			case n == 0:
				n = known
			case n == known:
				n = 0
			}
		}
		return pm.others[n]
	}
	return pm.params
}

// optionValues returns the possible values of OPTARG after getopts: the word after each flag, and
// the rest of a word that begins with a flag.
func (pm *parameters) optionValues(args []field) []data {
	if len(args) < 3 && pm.openParams() {
		return []data{unknown}
	}
	words, out := dataOf(args[2:]), []data{}
	if len(args) < 3 {
		words = pm.positional()
	}
	for i, w := range words {
		if len(out) >= pm.in.rep.lim.Alternatives-1 || !w.known() {
			return []data{unknown}
		}
		if len(w.text) < 2 || w.text[0] != '-' {
			continue
		}
		if len(w.text) > 2 {
			out = append(out, data{w.text[2:], w.taint})
		} else if i+1 < len(words) {
			out = append(out, words[i+1])
		}
	}
	if len(out) == 0 {
		return []data{{}}
	}
	return out
}
